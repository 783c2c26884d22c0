import io
import zipfile

import pytest

from kebab.core.media import MEDIA_TYPES
from kebab.source.content import (
    describe_unsupported,
    detect_content,
    find_mismatch,
)

EXTRACT = "extract it; zip archives are read with `ingest.archives`"
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)


def build_zip(*names, first=b""):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        if first:
            archive.writestr("mimetype", first)
        for name in names:
            archive.writestr(name, "x")
    return packed.getvalue()


@pytest.mark.parametrize(
    ("head", "suffix"),
    [
        (b"%PDF-1.7\n", ".pdf"),
        (b"\x89PNG\r\n\x1a\n\0\0", ".png"),
        (b"{\\rtf1\\ansi Words}", ".rtf"),
        (b"\x1f\x8b\x08\0", ".gz"),
        (build_zip("[Content_Types].xml", "word/document.xml"), ".docx"),
        (build_zip("[Content_Types].xml", "xl/workbook.xml"), ".xlsx"),
        (build_zip("[Content_Types].xml", "ppt/presentation.xml"), ".pptx"),
        (build_zip(first=b"application/epub+zip"), ".epub"),
        (build_zip(first=b"application/vnd.oasis.opendocument.text"), ".odt"),
        (build_zip(first=b"application/hwp+zip"), ".hwpx"),
        (build_zip("a.txt"), ".zip"),
        (OLE, ".doc"),
        (OLE + "HwpSummaryInformation".encode("utf-16-le"), ".hwp"),
        (OLE + "Workbook".encode("utf-16-le"), ".xls"),
        (b"#!/usr/bin/env python3\nprint(1)\n", ".py"),
        (b"#!/bin/bash -e\nls\n", ".sh"),
        (b"#! /usr/bin/env -S node --x\n", ".js"),
        (b"#!/usr/bin/unknown\n", ".txt"),
        (b"\xef\xbb\xbf<!DOCTYPE html>\n<p>x", ".html"),
        (b"<?xml version='1.0'?>\n<html xmlns='x'>", ".html"),
        (b"<?xml version='1.0'?>\n<feed/>", ".xml"),
        (b'{"a": 1}', ".json"),
        (b'[\n  {"a": 1}]', ".json"),
        (b"From a@b.org Sat Jan  1 10:00:00 2022\nFrom: a@b.org\n", ".mbox"),
        (b"Received: by x\nFrom: a@b.org\nTo: c@d.org\nSubject: Hi\n\nWords\n", ".eml"),
        (b".SH is a macro\nTH is none\n", ".txt"),
        (b"From the start: this is text\n", ".txt"),
        (b"GIF89a is the name of a format\n", ".txt"),
        (b"[draft] A note\n", ".txt"),
        ("한국어 글입니다.\n".encode("cp949"), ".txt"),
        ("한국어\n".encode("utf-16"), ".txt"),
        (b"\0\1\2\3", None),
        (b"MZ\x90\0\3\0", ".exe"),
        (OLE + "WordDocument".encode("utf-16-le") + "Workbook".encode("utf-16-le"), ".doc"),
    ],
)
def test_the_first_bytes_say_the_format(head, suffix):
    assert detect_content(head) == suffix


@pytest.mark.parametrize(
    ("media", "head", "found", "cause"),
    [
        (
            "text/markdown",
            b"%PDF-1.4",
            "application/pdf",
            "the file is PDF, not Markdown: rename it to .pdf",
        ),
        ("text/plain", b"\x1f\x8b\x08\0", None, f"the file is no text: archive, {EXTRACT}"),
        (
            "text/markdown",
            OLE + "HwpSummaryInformation".encode("utf-16-le"),
            "application/x-hwp",
            "the file is Hangul, not Markdown: rename it to .hwp",
        ),
        (
            "application/pdf",
            b"<!doctype html><p>Sign in",
            "text/html",
            "the file is HTML, not PDF: rename it to .html",
        ),
    ],
)
def test_a_wrong_suffix_is_noticed(media, head, found, cause):
    assert find_mismatch(media, head) == (found, cause)


@pytest.mark.parametrize(
    ("media", "head"),
    [
        ("text/markdown", b"<html>\n<p>Markdown may be HTML"),
        ("text/plain", b'{"a": 1}'),
        ("text/x-c", b"#!/usr/bin/env python\n"),
        ("application/pdf", b"%PDF-1.4"),
        ("application/vnd.ms-excel.sheet.binary.macroenabled.12", build_zip("xl/workbook.bin")),
        ("application/pdf", b"junk before %PDF-1.4"),
        ("text/markdown", b"\0\1\2"),
        ("text/markdown", b""),
    ],
)
def test_a_file_that_can_be_what_its_name_says_is_left_alone(media, head):
    assert find_mismatch(media, head) is None


@pytest.mark.processor_s(5)
def test_many_comments_above_a_text_take_linear_time():
    assert detect_content(b"<!-- a -->" * 400 + b"x") == ".txt"
    assert detect_content(b"<!-- a -->" * 400 + b"<!doctype html>") == ".html"


def test_formats_that_are_read_without_an_option_are_not_listed():
    optional = {".zip", ".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".webp"}
    read = {suffix for media in MEDIA_TYPES for suffix in media.suffixes} - optional

    assert not [suffix for suffix in read if describe_unsupported(suffix)]

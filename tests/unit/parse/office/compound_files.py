"""Builds compound files: documents of Hangul 5 and messages of Outlook."""

import struct

from doc2docx.cfb.directory import DirectoryEntry, ObjectType
from doc2docx.cfb.writer import write_compound_storage


def build_compound(streams):
    """Return a compound file with streams by path; their folders are made."""
    folders = {path.rpartition("/")[0] for path in streams}
    folders |= {folder.rpartition("/")[0] for folder in folders}
    entries = {folder: None for folder in folders if folder} | streams
    return write_compound_storage(
        _build_entry("Root Entry", ObjectType.ROOT_STORAGE),
        tuple(
            (
                path,
                _build_entry(path, ObjectType.STORAGE if data is None else ObjectType.STREAM),
                data,
            )
            for path, data in entries.items()
        ),
    )


def _build_entry(name, kind):
    return DirectoryEntry(0, name, kind, 1, 0, 0, 0, bytes(16), 0, 0, 0, 0, 0)


def build_hwp(paragraphs, styles=("바탕글", "개요 4"), *, flags=0, **streams):
    """Return a document of Hangul 5 whose paragraphs are the number of a style and a text."""
    names = b"".join(_build_record(26, _count(name) + _count("") + bytes(12)) for name in styles)
    section = b"".join(_build_paragraph(*paragraph) for paragraph in paragraphs)
    header = b"HWP Document File".ljust(32, b"\0") + bytes([0, 3, 0, 5]) + struct.pack("<I", flags)
    return build_compound(
        {
            "FileHeader": header.ljust(256, b"\0"),
            "DocInfo": names,
            "BodyText/Section0": section,
            **streams,
        }
    )


def _count(text):
    return struct.pack("<H", len(text)) + text.encode("utf-16-le")


def _build_record(tag, data, level=0):
    return struct.pack("<I", tag | level << 10 | len(data) << 20) + data


def _build_paragraph(style, text):
    line = text.encode("utf-16-le") + b"\r\0"
    head = struct.pack("<IIHBB", len(line) // 2, 0, 0, style, 0) + struct.pack("<HHHI", 1, 0, 1, 0)
    return _build_record(66, head) + _build_record(67, line, 1) + _build_record(68, bytes(8), 1)


def build_msg(texts, numbers=(), inner="", files=None):
    """Return the streams of a message of Outlook with properties by name.

    `texts` are bytes by the name and type of a property, and `numbers` the pairs of those without a
    stream. `inner` is the folder of an attached message.
    """
    header = bytes(24 if inner else 32)
    fixed = (struct.pack("<HHIQ", 3, name, 0, value) for name, value in numbers)
    return {
        f"{inner}__properties_version1.0": header + b"".join(fixed),
        **{f"{inner}__substg1.0_{name}": data for name, data in texts.items()},
        **(files or {}),
    }

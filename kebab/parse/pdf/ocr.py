"""Reads pictures and scanned pages with tesseract, asked through pipes, or through a model."""

import ctypes
import os
import re
import shutil
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import reduce
from typing import Any

from kebab import platform
from kebab.core.chunks import Place
from kebab.core.documents import ParsedDocument
from kebab.core.files import OcrSettings
from kebab.core.ports import (
    PictureAnswer,
    PictureReader,
    describe_answers,
    format_origin,
    list_failures,
)
from kebab.errors.catalog import DependencyMissing, ParseFailed, TimedOut
from kebab.errors.system import build_missing_program
from kebab.limits.deadline import WALL_FACTOR, Elapsed, build_refusal
from kebab.parse.blocks import TextBuilder
from kebab.parse.pdf.pages import PageText
from kebab.parse.pdf.paragraphs import LineJoiner
from kebab.platform import read_processor_time

PROGRAM = "tesseract"
FEATURE = "recognising the text of pictures"

_POLL_S = 0.2
_PAGE_END = "\f"
_PARAGRAPH_END = re.compile(r"\n\s*\n")
_HAS_WORD = re.compile(r"[^\W_]{2}")
_MISSING_LANGUAGE = re.compile(r"Failed loading language '(?!osd')([\w/-]+)'")
_OPTIONS = ("--psm", "1", "-c", "preserve_interword_spaces=1")
"""Find the direction of a page, if `osd` is installed, and keep the spaces of the picture.

Without the second, `eng+kor` puts a space behind each syllable of many words.
"""


def recognize_text(image: bytes, settings: OcrSettings, path: str, *, dpi: int = 0) -> list[str]:
    """Return the text of each page of a picture; `path` is for errors.

    `dpi` is the resolution of a picture that does not say it.

    Raises:
        DependencyMissing: There is no program, or it does not have a language.
        ParseFailed: The bytes are not a picture that the program reads.
        TimedOut: It takes too long.
    """
    program = shutil.which(PROGRAM)
    if program is None:
        raise build_missing_program(PROGRAM, FEATURE, _build_install_command())
    arguments = [program, "stdin", "stdout", "-l", settings.languages, *_OPTIONS]
    arguments += ["--dpi", str(dpi)] if dpi else []
    done = _run_program(arguments, image, settings.page_deadline_s, path)
    message = done.stderr.decode("utf-8", "replace")
    missing = _MISSING_LANGUAGE.search(message)
    if missing:
        language = missing[1]
        raise build_missing_program(
            PROGRAM, f"{FEATURE} in the language `{language}`", _build_install_command(language)
        )
    if done.returncode:
        raise build_refusal("damaged: the picture cannot be read")
    text = done.stdout.decode("utf-8", "replace")
    return text.removesuffix(_PAGE_END).split(_PAGE_END)


def _run_program(
    arguments: list[str], image: bytes, deadline_s: float, path: str
) -> subprocess.CompletedProcess[bytes]:
    """Run the program on a picture, within its processor time."""
    started = time.monotonic()
    with subprocess.Popen(  # noqa: S603 - our own arguments
        arguments,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # Its threads slow each other down, and ingest uses all cores already.
        env={**os.environ, "OMP_THREAD_LIMIT": "1"},
    ) as process:
        try:
            while True:
                with suppress(subprocess.TimeoutExpired):
                    output, errors = process.communicate(image, _POLL_S if deadline_s else None)
                    return subprocess.CompletedProcess(
                        arguments, process.returncode, output, errors
                    )
                image = b""  # the program gets it once
                # It has not been waited for, so its number and its clock are still its own.
                elapsed = Elapsed(read_processor_time(process.pid), time.monotonic() - started)
                if elapsed.exceeds(deadline_s):
                    raise elapsed.build_timeout(
                        deadline_s, path, "ocr", setting="ingest.ocr_page_deadline_s"
                    )
        finally:
            process.kill()


def _build_install_command(language: str = "") -> str:
    """Return the command that installs the program, or a language of it."""
    if platform.SYSTEM == "darwin":
        return "brew install tesseract-lang" if language else "brew install tesseract"
    suffix = f"-{language.replace('_', '-')}" if language else ""
    return f"sudo apt install tesseract-ocr{suffix}"


def write_recognized_text(builder: TextBuilder, text: str, joiner: LineJoiner) -> None:
    """Add the paragraphs of a recognised page; specks that were read as signs are left out."""
    for part in _PARAGRAPH_END.split(text):
        lines = [" ".join(line.split()) for line in part.split("\n") if _HAS_WORD.search(line)]
        if lines:
            builder.add_paragraph(reduce(joiner.join, lines))


def write_model_text(builder: TextBuilder, text: str) -> None:
    """Add the paragraphs that a model wrote, with their lines."""
    for part in _PARAGRAPH_END.split(text):
        builder.add_paragraph(part)


_DPI = 250
_POINTS_PER_INCH = 72
MAX_PIXELS = 25_000_000
"""The pixels of the largest picture; a larger page is drawn with a lower resolution."""
_TIME_SHARE = 0.8
"""The share of the deadline of a file after which no further page is begun."""


def recognize_pages(
    document: Any,
    pages: Sequence[PageText],
    reader: OcrSettings | PictureReader,
    path: str,
) -> list[PageText]:
    """Return the pages, with the text of those that have none but a picture.

    Raises:
        DependencyMissing: The program or a language is not installed, and no page has text.
    """
    has_text = any(page.segments for page in pages)
    limit_s = _TIME_SHARE * reader.deadline_s
    if not isinstance(reader, OcrSettings):
        limit_s *= WALL_FACTOR  # waiting for a server takes no processor time
    until = time.monotonic() + limit_s
    done: list[PageText] = []
    for page in pages:
        is_late = bool(reader.deadline_s) and time.monotonic() > until
        if page.segments or (page.legible and not page.has_image):
            done.append(page)
            continue
        if is_late:
            late = Elapsed(0.0, limit_s).build_timeout(
                limit_s, path, "ocr", setting="models.llm.total_s"
            )
            answer = None if isinstance(reader, OcrSettings) else PictureAnswer(failure=late)
            done.append(page._replace(answer=answer))
            continue
        try:
            picture, dpi = draw_page(document, page.number - 1)
            if not isinstance(reader, OcrSettings):
                answer = reader.read("ocr", picture, path)[0]
                done.append(page._replace(recognized=answer.text, answer=answer))
                continue
            texts = recognize_text(picture, reader, path, dpi=dpi)
        except DependencyMissing:
            if not has_text:
                raise
            return list(pages)
        except (ParseFailed, TimedOut):
            done.append(page)
        else:
            done.append(page._replace(recognized="\n\n".join(texts).strip()))
    return done


def draw_page(document: Any, index: int) -> tuple[bytes, int]:
    """Return a page as a picture in the format PGM, and its resolution in dots per inch."""
    page = document[index]
    try:
        width, height = (max(size, 1.0) for size in page.get_size())
        scale = min(_DPI / _POINTS_PER_INCH, (MAX_PIXELS / (width * height)) ** 0.5)
        bitmap = page.render(scale=scale, grayscale=True)
        try:
            # The rows of a bitmap may be padded.
            data = bytes(ctypes.string_at(bitmap.buffer, bitmap.stride * bitmap.height))
            lines = (
                data[start : start + bitmap.width]
                for start in range(0, bitmap.stride * bitmap.height, bitmap.stride)
            )
            picture = b"P5\n%d %d\n255\n" % (bitmap.width, bitmap.height) + b"".join(lines)
            return picture, max(round(scale * _POINTS_PER_INCH), 1)
        finally:
            bitmap.close()
    finally:
        page.close()


_SIGNATURES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"II*\0", b"MM\0*")
_MIN_BYTES = 64
_BMP_HEADERS = {12, 40, 52, 56, 108, 124}


class ImageParser:
    """Reads the text of a picture, or its caption; the pages of a TIFF file are numbered."""

    def __init__(
        self,
        settings: OcrSettings | None = OcrSettings(),  # noqa: B008 - immutable
        model: PictureReader | None = None,
    ) -> None:
        """Store the settings of tesseract, None to leave it out, and the model if there is one."""
        self._settings = settings
        self._model = model

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document; its title is the name of the file."""
        if not _is_picture(data):
            raise build_refusal("not a picture")
        pages = recognize_text(data, self._settings, path) if self._settings else []
        builder, answers = TextBuilder(), list[PictureAnswer]()
        joiner = LineJoiner(line for text in pages for line in text.splitlines())
        for number, text in enumerate(pages, 1):
            builder.begin_place(Place(0, number, of=len(pages)))
            write_recognized_text(builder, text, joiner)
        if (model := self._model) is not None:
            for task in model.tasks:
                found = model.read(task, data, path)
                for number, answer in enumerate(found, 1):
                    origin = format_origin(task, model.name)
                    builder.begin_place(Place(0, number, of=len(found), origin=origin))
                    write_model_text(builder, answer.text)
                answers += found
        failures = list_failures(answers)
        if not builder.length and not failures:
            raise build_refusal("no text in the picture")
        document = builder.build(path, warnings=describe_answers(answers))
        return document._replace(failures=failures)


def _is_picture(data: bytes) -> bool:
    """Return whether a file begins as PNG, JPEG, TIFF, WebP or BMP files do."""
    if len(data) < _MIN_BYTES:
        return False
    is_webp = (data[:4], data[8:12]) == (b"RIFF", b"WEBP")
    is_bitmap = data[:2] == b"BM" and int.from_bytes(data[14:18], "little") in _BMP_HEADERS
    return data.startswith(_SIGNATURES) or is_webp or is_bitmap

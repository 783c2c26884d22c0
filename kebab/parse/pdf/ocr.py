"""Recognises the text of pictures with the program tesseract, which is asked through pipes."""

import os
import re
import shutil
import subprocess
import sys
import time
from contextlib import suppress

from kebab.core.ocr import OcrSettings
from kebab.errors.catalog import ParseFailed
from kebab.errors.system import build_missing_program
from kebab.limits.deadline import Elapsed, read_processor_time
from kebab.parse.pdf.paragraphs import join_lines
from kebab.parse.text_builder import TextBuilder

PROGRAM = "tesseract"
FEATURE = "recognising the text of pictures"

_POLL_S = 0.2
_PAGE_END = "\f"
_PARAGRAPH_END = re.compile(r"\n\s*\n")
_HAS_WORD = re.compile(r"[^\W_]{2}")
_MISSING_LANGUAGE = re.compile(r"Failed loading language '([\w/-]+)'")


def recognize_text(
    image: bytes, settings: OcrSettings, path: str, parser: str, *, dpi: int = 0
) -> list[str]:
    """Return the text of each page of a picture; `path` and `parser` are for errors.

    `dpi` is the resolution of a picture that does not say it.

    Raises:
        DependencyMissing: There is no program, or it does not have a language.
        ParseFailed: The bytes are not a picture that the program reads.
        TimedOut: It takes too long.
    """
    program = shutil.which(PROGRAM)
    if program is None:
        raise build_missing_program(PROGRAM, FEATURE, _build_install_command())
    arguments = [program, "stdin", "stdout", "-l", settings.languages, *_name_resolution(dpi)]
    done = _run_program(arguments, image, settings.page_deadline_s, path)
    _check_outcome(done, path, parser)
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


def _name_resolution(dpi: int) -> list[str]:
    return ["--dpi", str(dpi)] if dpi else []


def _check_outcome(done: subprocess.CompletedProcess[bytes], path: str, parser: str) -> None:
    """Raise the error that the program reports.

    Raises:
        DependencyMissing: A language is not installed.
        ParseFailed: The picture cannot be read.
    """
    message = done.stderr.decode("utf-8", "replace")
    missing = _MISSING_LANGUAGE.search(message)
    if missing:
        language = missing[1]
        raise build_missing_program(
            PROGRAM, f"{FEATURE} in the language `{language}`", _build_install_command(language)
        )
    if done.returncode:
        raise ParseFailed(path=path, parser=parser, cause="damaged: the picture cannot be read")


def _build_install_command(language: str = "") -> str:
    """Return the command that installs the program, or a language of it."""
    if sys.platform == "darwin":
        return "brew install tesseract-lang" if language else "brew install tesseract"
    if sys.platform == "win32":
        return "winget install UB-Mannheim.TesseractOCR"
    suffix = f"-{language.replace('_', '-')}" if language else ""
    return f"sudo apt install tesseract-ocr{suffix}"


def write_recognized_text(builder: TextBuilder, text: str) -> None:
    """Add the paragraphs of a recognised page; specks that were read as signs are left out."""
    for part in _PARAGRAPH_END.split(text):
        lines = [" ".join(line.split()) for line in part.split("\n") if _HAS_WORD.search(line)]
        if lines:
            paragraph = lines[0]
            for line in lines[1:]:
                paragraph = join_lines(paragraph, line)
            builder.add_paragraph(paragraph)

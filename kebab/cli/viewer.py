"""Builds the command that opens a document at a citation: in an editor, a viewer or the system.

Files with lines of their own go to the editor. Any other file is no text, so it goes to the viewer
of `PDFVIEWER` if it is a PDF, else to the program that the system has for it.
"""

from collections.abc import Callable, Mapping
from pathlib import Path, PurePath

from kebab.cli.editor import build_command, build_opener_command, split_words
from kebab.wire.citation import Citation, CodeCitation, LineCitation, PageCitation

_Arguments = Callable[[str, int], list[str]]


def _letter(letter: str) -> _Arguments:
    return lambda file, page: [letter, str(page), file]


def _behind(file: str, page: int) -> list[str]:
    return [file, str(page)]


def _address(file: str, page: int) -> list[str]:
    return [f"{Path(file).as_uri()}#page={page}"]


_SYNTAX: Mapping[str, _Arguments] = {
    "zathura": _letter("-P"),
    "okular": _letter("-p"),
    "sioyek": _letter("--page"),
    "sumatrapdf": _letter("-page"),
    "qpdfview": lambda file, page: [f"{file}#{page}"],
    "skim": lambda file, page: ["open", f"skim://{Path(file).as_uri()[7:]}#page={page}"],
    **dict.fromkeys(("evince", "xreader", "papers"), lambda file, page: ["-i", str(page), file]),
    **dict.fromkeys(("atril", "foxitreader"), lambda file, page: ["-p", str(page), file]),
    **dict.fromkeys(("mupdf", "mupdf-gl", "mupdf-x11", "xpdf", "tdf"), _behind),
    **dict.fromkeys(
        ("firefox", "chromium", "chromium-browser", "google-chrome", "brave", "brave-browser"),
        _address,
    ),
}
"""How each viewer takes a page, counted from 1."""


def build_open_command(
    file: str, citation: Citation, line: int, environ: Mapping[str, str]
) -> list[str]:
    """Return the command that opens a file at a citation; `line` is used for lines only.

    Raises:
        DependencyMissing: There is no program for the file.
    """
    if isinstance(citation, LineCitation | CodeCitation):
        return build_command(file, line, environ)
    viewer = environ.get("PDFVIEWER", "").strip()
    if viewer and isinstance(citation, PageCitation):
        return _build_viewer_command(split_words(viewer), file, citation.page.number)
    return build_opener_command(file, environ, "export PDFVIEWER=zathura")


def _build_viewer_command(words: list[str], file: str, page: int) -> list[str]:
    """Return the command of a viewer; one that is not known gets the file without the page."""
    name = PurePath(words[0]).name.lower().removesuffix(".exe")
    known = _SYNTAX.get(name)
    arguments = known(file, page) if known else [file]
    return arguments if name == "skim" else [*words, *arguments]

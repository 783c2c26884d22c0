"""Tells what links mean: files that may be missing, or nothing that is known here.

Many documents are sources of a site, where the address of a page differs from the path of its file,
and pages exist that no file has. Addresses of pages, which have no suffix or that of HTML, are
therefore not judged.
"""

import os.path
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, unquote

from kebab.core.files import get_suffix
from kebab.core.media import MARKDOWN, detect_media_type
from kebab.core.review import LinkUse, ReviewText, Surroundings

_SCHEME = re.compile(r"[A-Za-z]?[A-Za-z0-9+.-]*:|//|\\\\|www\.|@|~")
_TEMPLATE = re.compile(r"[{}<>$*|\"\n\\]|\.\.\.|%\(|\]\(|\A[\w.+-]+@[\w-]+\.[\w.]+\Z")
_PLACEHOLDER = re.compile(
    r"(?:url|uri|link|href|src|target|address|path|file|filename|image|img|page|here|todo|foo|bar|baz"
    r"|xxx?|example|destination|some[-_/].*|your[-_/].*|my[-_/].*|/?path/(?:to|of)/.*)(?:\.\w+)?",
    re.IGNORECASE,
)
_PAGE_SUFFIXES = (".md", ".mdx", ".markdown", ".rst", ".txt", ".ipynb", ".org", ".adoc")
_GENERATED = frozenset({"", ".html", ".htm", ".php", ".aspx", ".jsp", ".xml", ".xhtml"})
"""The suffixes of addresses that sites generate; without one it is the address of a page."""

_COVERS = frozenset({"index", "_index", "readme"})


def split_target(target: str) -> tuple[str, str]:
    """Return the path and the fragment of a target, without its query."""
    path, _, fragment = target.partition("#")
    return path.partition("?")[0], fragment


def is_path(link: LinkUse) -> bool:
    """Return whether a link is meant to name a file, and is no address, template or placeholder."""
    path, _ = split_target(link.target)
    return not (
        link.kind == "auto"
        or _SCHEME.match(path)
        or _TEMPLATE.search(path)
        or _PLACEHOLDER.fullmatch(path)
        or path.startswith("`")  # the name of code
        or not any(map(str.isalnum, path))
    )


def find_file(document: ReviewText, surroundings: Surroundings, link: LinkUse) -> Path | None:
    """Return the file or folder that a link names; None when there is none."""
    return next(find_files(document, surroundings, link), None)


def find_files(document: ReviewText, surroundings: Surroundings, link: LinkUse) -> Iterator[Path]:
    """Yield the files and folders that a link may name, the most probable first.

    A wiki link may also name a note by its title or alias.
    """
    path, _ = split_target(link.target)
    forms = list(dict.fromkeys((unquote(path), path)))
    for form in forms:
        name = form.strip().lstrip("/")
        for base in _list_bases(document, form):
            for candidate in _list_candidates(os.path.normpath(f"{base}/{name}")):
                if surroundings.exists(candidate):
                    yield Path(candidate)
    if link.kind == "wiki" and (note := surroundings.find_note(document, forms[0])) is not None:
        yield note


def _list_bases(document: ReviewText, path: str) -> Iterator[str]:
    """Yield the folders from which a path may be meant."""
    root = str(document.root).rstrip("/")
    if not path.startswith("/"):
        folder = str(document.file.parent)
        yield folder
        yield f"{folder}/{document.file.stem}"  # the address of the page is a folder
        yield f"{folder}/.."
    yield root


def _list_candidates(path: str) -> Iterator[str]:
    """Yield the files that a path may name; the suffix of a page may be missing or another."""
    yield path
    suffix = get_suffix(path.rpartition(os.sep)[2])
    if suffix in _PAGE_SUFFIXES or suffix in _GENERATED or not detect_media_type(path):
        is_page = suffix in (".html", ".htm", ".md")
        stem = path[: -len(suffix)] if is_page else path
        yield from (stem + one for one in _PAGE_SUFFIXES)


def is_missing(document: ReviewText, surroundings: Surroundings, link: LinkUse) -> bool:
    """Return whether a link names a file that is certainly missing.

    A path outside the source is certain only when its folder exists, and an absolute path only when
    its first folder exists in the source.
    """
    path = unquote(split_target(link.target)[0]).strip()
    suffix = get_suffix(path.rpartition("/")[2])
    is_file = link.is_image or (suffix not in _GENERATED and detect_media_type(path) is not None)
    # What cannot be judged is not looked for, because that takes long.
    if not is_file or not is_path(link) or find_file(document, surroundings, link) is not None:
        return False
    if path.startswith("/"):
        first, _, rest = path.lstrip("/").partition("/")
        return bool(rest) and surroundings.exists(document.root / first)
    file = Path(os.path.normpath(document.file.parent / path))
    return file.is_relative_to(document.root) or surroundings.exists(file.parent)


def is_markdown(path: Path) -> bool:
    """Return whether a path is that of a Markdown file."""
    return detect_media_type(path.name) == MARKDOWN


def find_replacement(document: ReviewText, surroundings: Surroundings, target: str) -> str | None:
    """Return the target with the path of the only file of the same name; None without one.

    Names that many folders have, such as `README.md` and `LICENSE`, say too little.
    """
    path, _ = split_target(target)
    name = unquote(path).rpartition("/")[2]
    stem = Path(name).stem
    if not get_suffix(name) or stem.isupper() or stem.lower() in _COVERS or path.startswith("/"):
        return None
    namesakes = surroundings.list_namesakes(document, name)
    if len(namesakes) != 1:
        return None
    found = os.path.relpath(namesakes[0], document.file.parent).replace(os.sep, "/")
    if "%" in path or " " in found or "(" in found:
        found = quote(found)
    start = "./" if path.startswith("./") and not found.startswith(".") else ""
    return f"{start}{found}{target[len(path) :]}"

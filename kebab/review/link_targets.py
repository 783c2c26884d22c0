"""Finds the files that links name, and decides which missing ones are certain faults.

Many documents are sources of a site, where the address of a page differs from the path of its file,
and pages exist that no file has. What such a link means cannot be known here, so it is no fault.
"""

import os.path
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote

from kebab.core.files import get_suffix
from kebab.core.media import MARKDOWN, detect_media_type
from kebab.core.review import LinkUse, ReviewText, Surroundings

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//|\\\\|www\.|@|~")
_TEMPLATE = re.compile(r"[{}<>$*|\"\n]|\.\.\.|%\(")
_PLACEHOLDER = re.compile(
    r"(?:url|uri|link|href|src|target|address|path|file|filename|image|img|page|here|todo|foo|bar|baz"
    r"|xxx?|example|destination|dest|some[-_].*|your[-_].*|my[-_].*|path/to/.*|/?url)(?:\.\w+)?",
    re.IGNORECASE,
)
_PAGE_SUFFIXES = (".md", ".mdx", ".markdown", ".rst", ".txt", ".ipynb", ".org", ".adoc")
_GENERATED = frozenset({"", ".html", ".htm", ".php", ".aspx", ".jsp", ".xml", ".pdf", ".xhtml"})
"""The suffixes of addresses that sites generate; without one it is the address of a page."""

_SITE_FILES = (
    *("mkdocs.yml", "mkdocs.yaml", "docusaurus.config.js", "docusaurus.config.ts", "_config.yml"),
    *("hugo.toml", "hugo.yaml", "config.toml", "conf.py", "book.toml", "antora.yml", ".vitepress"),
    *("astro.config.mjs", "mint.json", "docs.json", "_quarto.yml", "_toc.yml", "sidebars.js"),
)
_SITE_FIELDS = frozenset(
    {
        *("slug", "permalink", "url", "layout", "weight", "sidebar_position", "sidebar_label"),
        *("nav_order", "menu", "content_type", "linktitle", "redirect_from", "parent", "toc"),
    }
)
_STATIC_FOLDERS = ("static", "public", "assets", "content", "docs", "src", "source")
_COVERS = ("index", "_index", "readme")
_MAX_PARENTS = 24
_MAX_SUFFIX = len(".woff2")


def split_target(target: str) -> tuple[str, str]:
    """Return the path and the fragment of a target, without its query."""
    path, _, fragment = target.partition("#")
    return path.partition("?")[0], fragment


def is_path(link: LinkUse) -> bool:
    """Return whether a link is meant to name a file, and is no address, template or placeholder."""
    path, _ = split_target(link.target)
    return not (
        link.kind == "auto"
        or not path
        or _SCHEME.match(path)
        or _TEMPLATE.search(path)
        or _PLACEHOLDER.fullmatch(path)
        or "\\" in path
        or not any(map(str.isalnum, path))
    )


def find_file(document: ReviewText, surroundings: Surroundings, link: LinkUse) -> Path | None:
    """Return the file or folder that a link names; None when there is none.

    A wiki link may also name a note by its title or alias.
    """
    path, _ = split_target(link.target)
    forms = list(dict.fromkeys((unquote(path), path)))
    for form in forms:
        for base in _list_bases(document, form):
            plain = os.path.normpath(f"{base}/{form.strip().lstrip('/')}")
            if not surroundings.exists(os.path.dirname(plain)):  # noqa: PTH120 - far faster
                continue
            for candidate in _list_candidates(plain):
                if surroundings.exists(candidate):
                    return Path(candidate)
    return surroundings.find_note(document, forms[0]) if link.kind == "wiki" else None


def _list_bases(document: ReviewText, path: str) -> Iterator[str]:
    """Yield the folders from which a path may be meant."""
    root = str(document.root).rstrip("/")
    if path.startswith("/"):
        for top in (root, *(str(one).rstrip("/") for one in list(document.root.parents)[:2])):
            yield top
            yield from (f"{top}/{name}" for name in _STATIC_FOLDERS)
        return
    folder = str(document.file.parent)
    yield folder
    if document.file.stem.lower() not in _COVERS:
        yield f"{folder}/{document.file.stem}"  # the address of the page is a folder
    yield f"{folder}/.."
    yield root
    if folder != root:
        yield from (f"{root}/{name}" for name in ("static", "public"))


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
    its first folder exists in the source. Addresses of pages are not certain in a site.
    """
    path = unquote(split_target(link.target)[0]).strip()
    suffix = "" if path.endswith("/") else get_suffix(path)
    is_page = suffix in _GENERATED or (
        detect_media_type(path) is None and len(suffix) > _MAX_SUFFIX
    )
    if path.startswith("/"):
        is_judged = link.is_image or detect_media_type(path) == MARKDOWN
    else:
        is_judged = not is_page or (not suffix and "/" in path.strip("/"))
    if not is_path(link) or not is_judged or find_file(document, surroundings, link) is not None:
        return False
    if path.startswith("/"):
        first, _, rest = path.lstrip("/").partition("/")
        return bool(rest) and surroundings.exists(document.root / first)
    if is_page and (is_site(document, surroundings) or _is_note(document, surroundings, path)):
        return False
    file = Path(os.path.normpath(document.file.parent / path))
    return file.is_relative_to(document.root) or surroundings.exists(file.parent)


def _is_note(document: ReviewText, surroundings: Surroundings, path: str) -> bool:
    return surroundings.find_note(document, path.rstrip("/")) is not None


def is_site(document: ReviewText, surroundings: Surroundings) -> bool:
    """Return whether a document is a source of a site, as far as its surroundings tell."""
    front = document.markup.front_matter
    if front and any(name.lower() in _SITE_FIELDS for name, _ in front.fields):
        return True
    return _has_above(document, surroundings, _SITE_FILES)


def may_define_labels(document: ReviewText, surroundings: Surroundings) -> bool:
    """Return whether labels of references may be defined outside the document, as MkDocs can."""
    return _has_above(document, surroundings, ("mkdocs.yml", "mkdocs.yaml"))


def _has_above(document: ReviewText, surroundings: Surroundings, names: Sequence[str]) -> bool:
    """Return whether a folder of the repository, at or above the document, has one of the files."""
    for folder in map(str, list(document.file.parents)[:_MAX_PARENTS]):
        if any(surroundings.exists(f"{folder.rstrip('/')}/{name}") for name in names):
            return True
        if surroundings.exists(f"{folder.rstrip('/')}/.git"):
            break
    return False


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
        from urllib.parse import quote

        found = quote(found)
    start = "./" if path.startswith("./") and not found.startswith(".") else ""
    return f"{start}{found}{target[len(path) :]}"

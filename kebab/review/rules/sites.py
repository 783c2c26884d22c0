"""Detects the site that pages belong to, from the configuration file of its generator.

A site tells where its pages and static files are, and whether the addresses of pages follow the
paths of their files. Only the generators that are common for documentation are known.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from kebab.core.review import Site, SiteKind

ReadText = Callable[[str], str]
"""Returns the beginning of a text file; an empty text when there is none."""


class _Generator(NamedTuple):
    """How a generator is detected, and what its sites have by default.

    `settings` finds the folders of pages in the configuration, `routes` what tells that addresses
    do not follow the paths.
    """

    kind: SiteKind
    configs: tuple[str, ...]
    pages: tuple[str, ...]
    static: tuple[str, ...]
    settings: re.Pattern[str] | None = None
    unrouted: re.Pattern[str] | None = None
    is_routed: bool = True


_NEVER = re.compile(r"(?!)")
_GENERATORS = (
    _Generator(
        "hugo",
        (
            *(f"hugo.{suffix}" for suffix in ("toml", "yaml", "yml", "json")),
            *(f"config.{suffix}" for suffix in ("toml", "yaml", "yml", "json")),
            *(f"config/_default/{name}.toml" for name in ("hugo", "config", "languages")),
            *(f"config/_default/{name}.yaml" for name in ("hugo", "config", "languages")),
        ),
        ("content",),
        ("static", "assets"),
        re.compile(r"contentdir[\"']?\s*[:=]\s*[\"']?([\w./-]+)", re.IGNORECASE),
        re.compile(r"permalinks|uglyurls|mounts", re.IGNORECASE),
    ),
    _Generator(
        "docusaurus",
        tuple(f"docusaurus.config.{suffix}" for suffix in ("js", "ts", "mjs", "cjs")),
        ("docs", "blog", "src/pages"),
        ("static",),
        re.compile(r"\bpath\s*:\s*[\"']([\w./-]+)[\"']"),
    ),
    _Generator(
        "mkdocs",
        ("mkdocs.yml", "mkdocs.yaml", "zensical.toml", "zensical.yml"),
        ("docs",),
        (),
        re.compile(r"^[ \t]*docs_dir\s*[:=]\s*[\"']?([\w./-]+)", re.MULTILINE),
        is_routed=False,
    ),
    _Generator(
        "vitepress",
        tuple(f".vitepress/config.{suffix}" for suffix in ("js", "ts", "mjs", "mts")),
        (".",),
        ("public",),
        re.compile(r"\bsrcDir\s*:\s*[\"']([\w./-]+)[\"']"),
        re.compile(r"\brewrites\s*:"),
    ),
    _Generator(
        "astro",
        tuple(f"astro.config.{suffix}" for suffix in ("mjs", "js", "ts")),
        ("src/content/docs", "src/pages", "src/content"),
        ("public", "src/assets"),
    ),
    _Generator(
        "mdbook",
        ("book.toml",),
        ("src",),
        (),
        re.compile(r"^src\s*=\s*[\"']([\w./-]+)[\"']", re.MULTILINE),
        is_routed=False,
    ),
    _Generator("jekyll", ("_config.yml", "_config.yaml"), (".",), ("assets",), is_routed=False),
    _Generator(
        "other",
        (
            *("conf.py", "antora.yml", "mint.json", "docs.json", "_quarto.yml", "_toc.yml"),
            *("sidebars.js", ".eleventy.js", "eleventy.config.js", ".vitepress", "myst.yml"),
            *(
                "gatsby-config.js",
                "next.config.js",
                "next.config.mjs",
                "nuxt.config.ts",
                "mix.exs",
                "docs.exs",
            ),
            *(".vuepress/config.js", ".vuepress/config.ts"),
        ),
        (".", "docs", "content"),
        ("public", "static"),
        is_routed=False,
    ),
)
_HUGO_FOLDERS = ("layouts", "themes", "archetypes", "static", "go.mod")
"""What tells a site of Hugo from other programs with a `config` file."""

_REDIRECTS = (
    *("_redirects", "static/_redirects", "public/_redirects", "netlify.toml", "vercel.json"),
    *("redirects.json", "redirects.js", "sidebars.js", "sidebars.ts", ".vitepress/redirects.js"),
)


_VERSION_NAME = re.compile(r"\"([^\"]+)\"")
"""The first of the versions of Docusaurus, which is the present one."""


def detect_site(folder: str, exists: Callable[[str], bool], read: ReadText) -> Site | None:
    """Return the site whose configuration lies in a folder; None without one."""
    for generator in _GENERATORS:
        configs = [name for name in generator.configs if exists(f"{folder}/{name}")]
        if configs and _is_complete(generator.kind, folder, configs, exists):
            return _build_site(generator, folder, configs, exists, read)
    return None


def _is_complete(
    kind: SiteKind, folder: str, configs: Iterable[str], exists: Callable[[str], bool]
) -> bool:
    if kind != "hugo" or any(name.startswith("hugo.") for name in configs):
        return True
    return exists(f"{folder}/content") and any(exists(f"{folder}/{one}") for one in _HUGO_FOLDERS)


def _build_site(
    generator: _Generator,
    folder: str,
    configs: Iterable[str],
    exists: Callable[[str], bool],
    read: ReadText,
) -> Site:
    config = "\n".join(read(f"{folder}/{name}") for name in configs)
    named = [one.strip("./") for one in (generator.settings or _NEVER).findall(config)]
    pages = [one for one in (*named, *generator.pages) if exists(f"{folder}/{one}".rstrip("/."))]
    versions = _VERSION_NAME.search(read(f"{folder}/versions.json"))
    if versions and exists(f"{folder}/versioned_docs/version-{versions[1]}"):
        pages.append(f"versioned_docs/version-{versions[1]}")
    templates = (f"{one}/SUMMARY.md.in" for one in pages if generator.kind == "mdbook")
    redirects = (
        read(f"{folder}/{one}") for one in (*_REDIRECTS, *templates) if exists(f"{folder}/{one}")
    )
    return Site(
        kind=generator.kind,
        root=folder,
        pages=tuple(dict.fromkeys(_join(folder, one) for one in pages)),
        static=tuple(_join(folder, one) for one in generator.static),
        is_routed=generator.is_routed and not (generator.unrouted or _NEVER).search(config),
        mentions="\n".join((config, *redirects)),
    )


def _join(folder: str, name: str) -> str:
    return folder if name in ("", ".") else f"{folder}/{name}"


_LOCALE = re.compile(
    r"(?:ar|bg|bn|ca|cs|da|de|el|en|es|et|fa|fi|fr|gl|he|hi|hr|hu|id|it|ja|ka|ko|lt|lv|nb|nl|nn|pl"
    r"|pt|ro|ru|sk|sl|sr|sv|th|tr|uk|ur|vi|zh)(?:[-_][A-Za-z]{2,4})?"
)
_VERSION = re.compile(
    r"(?:version[-_]?)?v?\d+(?:[._](?:\d+|x))*(?:\.x)?|latest|stable|next|current|main|master|edge"
)
_COPIES = frozenset({"versioned_docs", "i18n", "docusaurus-plugin-content-docs", "docs", "content"})
"""Folders that hold the folders of versions and languages."""


def strip_copy(path: str) -> str:
    """Return a path without its folders of versions and languages; copies of a page share it."""
    *folders, name = path.split("/")
    kept = [
        one
        for one in folders
        if one not in _COPIES and not _LOCALE.fullmatch(one) and not _is_version(one)
    ]
    return "/".join([*kept, name])


def _is_version(folder: str) -> bool:
    return _VERSION.fullmatch(folder) is not None or folder.startswith("version-")


def list_originals(path: str) -> Iterator[str]:
    """Yield the paths that a path in the folder of a language falls back to.

    Generators show the page of the first language where there is no translation.
    """
    folders = path.split("/")
    for index, folder in enumerate(folders[:-1]):
        if not _LOCALE.fullmatch(folder):
            continue
        before, after = folders[:index], folders[index + 1 :]
        yield "/".join([*before, *after])
        if folder != "en":
            yield "/".join([*before, "en", *after])
        if before and before[-1] == "i18n" and len(after) > 1 and after[0].startswith("docusaurus"):
            version = after[1]
            docs = ["docs"] if version == "current" else ["versioned_docs", version]
            yield "/".join([*before[:-1], *docs, *after[2:]])

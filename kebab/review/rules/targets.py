"""Tells what links mean: files, pages of a site, or nothing that is known here.

Many documents are sources of a site, where the address of a page differs from the path of its file,
and pages exist that no file has. What such a link means cannot be known here unless the addresses
of the site follow the paths of its files.
"""

import os.path
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, unquote

from kebab.core.files import get_suffix
from kebab.core.media import MARKDOWN, detect_media_type
from kebab.core.review import LinkUse, ReviewText, Site, Surroundings
from kebab.review.rules.sites import list_originals

_SCHEME = re.compile(r"[A-Za-z]?[A-Za-z0-9+.-]*:|//|\\\\|www\.|@(?!site/)|~")
_TEMPLATE = re.compile(r"[{}<>$*|\"\n]|\.\.\.|%\(|\]\(|\A[\w.+-]+@[\w-]+\.[\w.]+\Z")
_PLACEHOLDER = re.compile(
    r"(?:url|uri|link|href|src|target|address|path|file|filename|image|img|page|here|todo|foo|bar|baz"
    r"|xxx?|example|destination|dest|some[-_/].*|your[-_/].*|my[-_/].*|/?path/(?:to|of)/.*|/?url|\d+"
    r"|(?:\./)?(?:another|other|relative)[-_/]?(?:file|page|path|link|url|doc|document|note)?)(?:\.\w+)?",
    re.IGNORECASE,
)
_FORGE = re.compile(
    r"(?:\.{0,2}/)*(?:(?:graphs/contributors|issues|pulls?|wiki|releases|discussions|projects"
    r"|network|stargazers|compare|commits?)(?:/[^\n.]*)?"
    r"|(?:actions/workflows|(?:blob|tree|raw)/(?:master|main|HEAD|v?\d[^/]*))/[^\n]*)"
)
"""Pages of a repository on GitHub and the like, which READMEs name relative to its first page."""

_PAGE_SUFFIXES = (".md", ".mdx", ".markdown", ".rst", ".txt", ".ipynb", ".org", ".adoc")
_GENERATED = frozenset({"", ".html", ".htm", ".php", ".aspx", ".jsp", ".xml", ".pdf", ".xhtml"})
"""The suffixes of addresses that sites generate; without one it is the address of a page."""

_SITE_FIELDS = frozenset(
    {
        *("slug", "permalink", "url", "layout", "weight", "sidebar_position", "sidebar_label"),
        *("nav_order", "menu", "content_type", "linktitle", "redirect_from", "parent", "toc"),
    }
)
_STATIC_FOLDERS = ("static", "public", "assets", "content", "docs", "src", "source")
_SERVED = ("static", "public", "assets", "docs", "src/assets", "docs/public", "docs/assets")
_INDEXES = ("index", "tags", "categories", "archive", "search", "sitemap", "rss", "feed")
_ORDERED = re.compile(r"(?:\A|/)\d+[-_][^/]+\.md\Z|(?:\A|/)\d+[-_][^/]+/")
"""Numbers before names, which generators use for the order of pages and leave out of addresses."""

_TEMPLATE_SUFFIXES = (".in", ".tmpl", ".j2", ".template", ".erb")
"""The suffixes of files from which a build writes the file that a link names."""

_BUILT_FOLDERS = frozenset(
    {"dist", "build", "out", "target", "coverage", "_build", "_site", "node_modules", "generated"}
    | {"gen", "apidoc", "apidocs", "javadoc", "autoapi", "typedoc", "htmlcov"}
)
"""Folders that programs write; a missing file in a missing one of them is probably not lost."""

_ODD_SUFFIX = re.compile(r"\.(?=.*[A-Z]).*[a-z].*|\.\W|\.\d+")
"""What follows the dot of a name of code, such as `Foo.Bar`, or of a number."""

_API_TOOLS = re.compile(r"typedoc|api-extractor|autoapi|apidoc|jsdoc|openapi|swagger|doxygen")
_API_FOLDERS = frozenset({"api", "reference", "apis"})
"""Folders that the tools for references of code write, when the configuration of a site names one.
"""

_BY_NAME = ("ex_doc", "ExDoc", "extras:")
_DOXYGEN = re.compile(
    r"^[ \t]*[@\\](?:subpage|tableofcontents|code|endcode|prev_tutorial)\b", re.MULTILINE
)
"""Commands of Doxygen, which finds files by their names."""

_MENUS = ("_sidebar.md", "_navbar.md")
"""Menus of docsify."""

_IMAGES = (".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp")
_COVERS = ("index", "_index", "readme")
_MAX_PARENTS = 24
_PAGE_END = re.compile(r"\.(?:md|html)\Z")
_HUGO_ENDS = (".md", "/_index.md", "/index.md", ".html", ".en.md", "")
_FRAGMENT_FOLDERS = frozenset(
    {"includes", "_includes", "partials", "_partials", "snippets", "shared", "_shared", "common"}
)
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
        or _FORGE.fullmatch(path)
        or "\\" in path
        or path.startswith("`")  # the name of code
        or not any(map(str.isalnum, path))
    )


def has_file_suffix(link: LinkUse) -> bool:
    """Return whether a link names a file, and no address that a site generates."""
    return get_suffix(split_target(link.target)[0].rpartition("/")[2]) not in _GENERATED


def find_file(document: ReviewText, surroundings: Surroundings, link: LinkUse) -> Path | None:
    """Return the file or folder that a link names; None when there is none."""
    return next(find_files(document, surroundings, link), None)


def find_files(document: ReviewText, surroundings: Surroundings, link: LinkUse) -> Iterator[Path]:
    """Yield the files and folders that a link may name, the most probable first.

    A wiki link may also name a note by its title or alias.
    """
    path, _ = split_target(link.target)
    forms = list(dict.fromkeys((unquote(path), path)))
    site = surroundings.find_site(document.file)
    for form in forms:
        name = form.removeprefix("@site/").strip().lstrip("/")
        for base in _list_bases(document, surroundings, form, site):
            plain = os.path.normpath(f"{base}/{name}")
            if not surroundings.exists(os.path.dirname(plain)):  # noqa: PTH120 - far faster
                continue
            for candidate in _list_candidates(plain):
                if surroundings.exists(candidate):
                    yield Path(candidate)
    if link.kind == "wiki" and (note := surroundings.find_note(document, forms[0])) is not None:
        yield note


def _list_bases(
    document: ReviewText, surroundings: Surroundings, path: str, site: Site | None
) -> Iterator[str]:
    """Yield the folders from which a path may be meant."""
    root = str(document.root).rstrip("/")
    if path.startswith("@site/"):
        yield from [site.root] if site is not None else []
        return
    if path.startswith("/"):
        for top in (root, *(str(one).rstrip("/") for one in list(document.root.parents)[:2])):
            yield top
            yield from (f"{top}/{name}" for name in _STATIC_FOLDERS)
        if site is not None:
            yield from (site.root, *site.pages, *site.static)
        return
    folder = str(document.file.parent)
    yield folder
    if document.file.stem.lower() not in _COVERS:
        yield f"{folder}/{document.file.stem}"  # the address of the page is a folder
    yield f"{folder}/.."
    yield root
    if folder != root:
        yield from (f"{root}/{name}" for name in ("static", "public"))
    if site is not None:
        yield from (site.root, *site.pages)
        yield from (
            os.path.dirname(f"{site.root}/{one}")  # noqa: PTH120 - far faster
            for one in list_originals(os.path.relpath(document.file, site.root))
        )
    original = surroundings.find_original(document.file)
    if original != document.file:
        yield str(original.parent)


def _list_candidates(path: str) -> Iterator[str]:
    """Yield the files that a path may name; the suffix of a page may be missing or another."""
    yield path
    yield from (path + one for one in _TEMPLATE_SUFFIXES)
    suffix = get_suffix(path.rpartition(os.sep)[2])
    if suffix in _PAGE_SUFFIXES or suffix in _GENERATED or not detect_media_type(path):
        is_page = suffix in (".html", ".htm", ".md")
        stem = path[: -len(suffix)] if is_page else path
        yield from (stem + one for one in _PAGE_SUFFIXES)


def is_missing(document: ReviewText, surroundings: Surroundings, link: LinkUse) -> bool:
    """Return whether a link names a file that is certainly missing.

    A path outside the source is certain only when its folder exists, and an absolute path only when
    its first folder exists in the source. Addresses of pages are certain only in a site where they
    follow the paths of files.
    """
    if link.kind == "shortcode":
        return is_path(link) and find_reference(document, surroundings, link) is None
    path = unquote(split_target(link.target)[0]).strip()
    suffix = get_suffix(path.rpartition("/")[2])
    is_page = suffix in _GENERATED or (
        detect_media_type(path) is None and len(suffix) > _MAX_SUFFIX
    )
    site = surroundings.find_site(document.file)
    is_file = link.is_image or detect_media_type(path) == MARKDOWN
    is_absolute = path.startswith(("/", "@"))
    is_route = is_absolute and is_page and not is_file and site is not None and site.is_routed
    # What cannot be judged is not looked for, because that takes long.
    is_judged = is_file or is_route if is_absolute else not is_page or not suffix
    is_path_of_file = is_judged and is_path(link) and not _is_code(path, suffix)
    if not is_path_of_file or find_file(document, surroundings, link) is not None:
        return False
    if is_absolute:
        if is_route and site is not None:
            return is_route_missing(document, surroundings, site, path)
        return _is_file_missing(document, surroundings, site, path, is_image=link.is_image)
    if is_page and (
        "/" not in path.strip("/")
        or document.markup.front_matter is not None  # the page of a site has an address
        or is_site(document, surroundings)
        or (surroundings.find_note(document, path.rstrip("/")) is not None)
    ):
        return False
    file = Path(os.path.normpath(document.file.parent / path))
    is_near = file.is_relative_to(document.root) and not _leaves_site(document, site, file)
    is_known = (is_near and not is_page) or surroundings.exists(file.parent)
    is_known &= not _is_generated(site, file)
    is_image = link.is_image or suffix in _IMAGES  # a picture may link to itself
    is_served = is_image and _is_served(document, surroundings, site, path)
    return is_known and not is_served and not _is_elsewhere(document, surroundings, site, file)


def _is_code(path: str, suffix: str) -> bool:
    """Return whether a path is a number or a name of code, such as `Foo.Bar`, and no file."""
    end = path[len(path) - len(suffix) :]
    return _ODD_SUFFIX.fullmatch(end) is not None and detect_media_type(path) is None


def _is_elsewhere(
    document: ReviewText, surroundings: Surroundings, site: Site | None, file: Path
) -> bool:
    """Return whether a missing file is written by a build, or found by its name alone."""
    folder = file.parent
    parts = Path(os.path.relpath(folder, document.root)).parts
    built = _BUILT_FOLDERS
    if site is not None and _API_TOOLS.search(site.mentions):
        built |= _API_FOLDERS
    if not built.isdisjoint(parts) and not surroundings.exists(folder):
        return True
    is_named = surroundings.exists(document.root / ".obsidian") or (
        site is not None
        and (
            any(one in site.mentions for one in _BY_NAME)
            or surroundings.exists(f"{site.root}/mix.exs")
        )
    )
    is_named |= document.file.name in _MENUS  # the build puts folders together
    is_named |= _DOXYGEN.search(document.text) is not None
    if is_named and surroundings.list_namesakes(document, file.name):
        return True
    return surroundings.is_built(str(file))


def _is_generated(site: Site | None, file: Path) -> bool:
    """Return whether the build of a site may write a page: any one, or one that is named there."""
    return site is not None and ("gen-files" in site.mentions or is_named(site, file))


def is_named(site: Site, file: Path) -> bool:
    """Return whether the configuration of a site names a page by its path below the pages."""
    pages = [file.relative_to(one) for one in site.pages if file.is_relative_to(one)]
    names = [one.as_posix() for one in pages]
    names += [(one.parent / "SUMMARY.md").as_posix() for one in pages if one.parent.name]
    return any(
        re.search(rf"(?<![\w./-])(?:\./)?{re.escape(name)}(?!\w)", site.mentions) for name in names
    )


def _leaves_site(document: ReviewText, site: Site | None, file: Path) -> bool:
    """Return whether a link of a site leads out of the pages, as where sites are joined.

    Files outside of the pages may be moved by the build.
    """
    return site is not None and not any(
        document.file.is_relative_to(one) and file.is_relative_to(one) for one in site.pages
    )


def _is_file_missing(
    document: ReviewText,
    surroundings: Surroundings,
    site: Site | None,
    path: str,
    *,
    is_image: bool,
) -> bool:
    """Return whether nothing has an absolute path that does not exist below a known folder."""
    first, _, rest = path.removeprefix("@site").lstrip("/").partition("/")
    if path.startswith("@"):
        return path.startswith("@site/") and site is not None
    tops = [str(document.root)]
    if site is not None:
        tops += [*site.static, *site.pages]
    is_known = bool(rest) and any(surroundings.exists(f"{top}/{first}") for top in tops)
    return is_known and not (is_image and _is_served(document, surroundings, site, path))


def _is_served(
    document: ReviewText, surroundings: Surroundings, site: Site | None, path: str
) -> bool:
    """Return whether a file exists below a folder that a site may serve, by the end of its path."""
    tail = re.sub(r"\A(?:\.{0,2}/)+", "", path)
    tails = [tail, tail.partition("/")[2] or tail]
    folders = {str(one).rstrip("/") for one in list(document.file.parents)[:_MAX_PARENTS]}
    top = site.root if site is not None else str(document.root)
    tops = [f"{one}/{name}" for one in folders if one.startswith(top) for name in _SERVED]
    tops += [*site.static, *site.pages, top] if site is not None else []
    if surroundings.exists(f"{top}/mix.exs") and surroundings.list_namesakes(
        document, tail.rpartition("/")[2]
    ):
        return True  # ExDoc copies it
    return any(surroundings.exists(f"{one}/{end}") for one in tops for end in tails)


def is_route_missing(
    document: ReviewText, surroundings: Surroundings, site: Site, path: str
) -> bool:
    """Return whether a site certainly generates no page with this address.

    The folder of the page must be known, no page may have its name, and nothing may declare the
    address: a field of a page, the configuration, or a file of redirects.
    """
    parts = [one for one in path.removesuffix(".html").split("/") if one]
    if not site.is_routed or not parts or parts[-1].lower() in surroundings.list_routes(site):
        return False
    plain = "/".join(parts)
    if plain in site.mentions or f"/{parts[-1]}" in site.mentions or parts[-1] in _INDEXES:
        return False
    routes = [plain, *list_originals(f"{plain}/x")]
    routes = [one.removesuffix("/x") for one in routes]
    routes += [one.partition("/")[2] for one in routes if "/" in one]  # the base address
    is_known = False
    for top in (*site.pages, *_list_language_folders(document, site)):
        for route in routes:
            if any(map(surroundings.exists, _list_page_files(f"{top}/{route}"))):
                return False
            folder = os.path.dirname(route)  # noqa: PTH120 - far faster
            is_known |= bool(folder) and surroundings.exists(f"{top}/{folder}")
    return is_known


def _list_language_folders(document: ReviewText, site: Site) -> Iterator[str]:
    """Yield the folders of pages in the language of a document."""
    file = str(document.file)
    for top in site.pages:
        if file.startswith(f"{top}/"):
            yield f"{top}/{file[len(top) + 1 :].partition('/')[0]}"


def _list_page_files(path: str) -> Iterator[str]:
    """Yield the files that may be the source of a page with an address."""
    yield path
    yield from (path + one for one in (*_PAGE_SUFFIXES, ".html", ".astro", ".tsx", ".jsx", ".js"))


def find_reference(document: ReviewText, surroundings: Surroundings, link: LinkUse) -> Path | None:
    """Return the page that `ref` or `relref` of Hugo names, or a folder; None without one.

    Hugo looks beside the page, below the folder of pages, and for a name alone everywhere. Outside
    of a known site it is the root, because nothing is certainly missing.
    """
    site = surroundings.find_site(document.file)
    path = split_target(link.target)[0].strip().strip("/")
    if site is None or site.kind != "hugo" or not site.pages or not path:
        return document.root
    stem = _PAGE_END.sub("", path)
    for top in (document.file.parent, *site.pages, *_list_language_folders(document, site)):
        plain = os.path.normpath(f"{top}/{stem}")
        for end in _HUGO_ENDS:
            if surroundings.exists(plain + end):
                return Path(plain + end)
    name = stem.rpartition("/")[2]
    found = [
        *surroundings.list_namesakes(document, f"{name}.md"),
        *surroundings.list_namesakes(document, f"{name}.html"),
        *surroundings.list_namesakes(document, f"{name}.en.md"),
        *(
            one.parent
            for cover in ("_index.md", "index.md")
            for one in surroundings.list_namesakes(document, cover)
            if one.parent.name.casefold() == name.casefold()
        ),
    ]
    if not any(Path(one).is_relative_to(document.root) for one in site.pages):
        return document.root  # files of other folders are not known
    end = f"/{stem}".casefold()
    return next((one for one in found if _get_stem(one).casefold().endswith(end)), None)


def _get_stem(path: Path) -> str:
    """Return a path without the suffixes of its name."""
    return f"{path.parent}/{path.name.partition('.')[0]}"


def is_site(document: ReviewText, surroundings: Surroundings) -> bool:
    """Return whether a document is a source of a site, as far as its surroundings tell."""
    front = document.markup.front_matter
    if front and any(name.lower() in _SITE_FIELDS for name, _ in front.fields):
        return True
    path = document.file.relative_to(document.root).as_posix()
    if document.file.suffix == ".mdx" or _ORDERED.search(path):
        return True
    return surroundings.find_site(document.file) is not None


_LABEL_CONFIGS = ("conf.py", "myst.yml", "_toc.yml")


def is_myst(text: str) -> bool:
    """Return whether a text is written for Sphinx, where labels hold for all documents."""
    return any(sign in text for sign in ("```{", ":::{", ")=\n"))


def shares_labels(document: ReviewText, surroundings: Surroundings) -> bool:
    """Return whether labels of other documents may be meant, as Sphinx and MyST have them."""
    site = surroundings.find_site(document.file)
    return is_myst(document.text) or (
        site is not None
        and site.kind == "other"
        and any(surroundings.exists(f"{site.root}/{name}") for name in _LABEL_CONFIGS)
    )


def may_define_labels(document: ReviewText, surroundings: Surroundings) -> bool:
    """Return whether labels of references may be defined outside the document, as MkDocs can."""
    site = surroundings.find_site(document.file)
    return site is not None and site.kind == "mkdocs"


def find_other_case(document: ReviewText, surroundings: Surroundings, link: LinkUse) -> str | None:
    """Return the path of a link in the letter case of the file that it means; None without one.

    Only the place that the link names is looked at.
    """
    target = split_target(link.target)[0]
    path = unquote(target).strip()
    top = str(document.root) if path.startswith("/") else str(document.file.parent)
    plain = os.path.normpath(f"{top}/{path.lstrip('/')}")
    for candidate in _list_candidates(plain):
        found = surroundings.find_any_case(candidate)
        if found is not None and found != candidate:
            found = found[: len(plain)]
            break
    else:
        return None
    parts, real = path.split("/"), found.split("/")
    kept = [one for one in parts if one not in ("", ".", "..")]
    names = iter(real[len(real) - len(kept) :])
    fixed = "/".join(one if one in ("", ".", "..") else next(names) for one in parts)
    if fixed.casefold() != path.casefold():
        return None
    return quote(fixed) if target != path else fixed


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


def is_fragment(source: ReviewText) -> bool:
    """Return whether the path of a document tells that other pages include its text."""
    path = source.file.relative_to(source.root)
    is_part = path.name.startswith("_") and path.stem != "_index"
    is_part |= path.stem.endswith(("-prefix", "-header", "-footer"))
    return is_part or not _FRAGMENT_FOLDERS.isdisjoint(path.parts[:-1])

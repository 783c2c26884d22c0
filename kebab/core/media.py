"""Declares the media types that kebab reads: their suffixes, names, and how they are cited.

One row is one file format. The parser of each row is declared in `kebab.parse.registry`.
"""

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from kebab.core.files import CONTAINERS, ENEX, IMAGE, MBOX, NAMED, ZIP, get_suffix


class CitationKind(StrEnum):
    """What a citation of a document names: the kinds of `citation.v1`."""

    LINE = "line"
    PAGE = "page"
    CELL = "cell"
    SLIDE = "slide"
    SECTION = "section"
    CODE = "code"


class MediaType(NamedTuple):
    """A file format.

    `label` is its name for a person, e.g. `PDF`. `suffixes` are in lower case with their dots, and
    `names` are whole file names in lower case, e.g. `makefile`. `language` is the name of a
    programming language in citations, else empty.
    """

    name: str
    label: str
    suffixes: tuple[str, ...]
    cites: CitationKind = CitationKind.LINE
    names: tuple[str, ...] = ()
    language: str = ""


MARKDOWN = "text/markdown"
PLAIN = "text/plain"
PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
DOC = "application/msword"
PPT = "application/vnd.ms-powerpoint"
MSG = "application/vnd.ms-outlook"
HWP = "application/x-hwp"
HWPX = "application/hwp+zip"
XLSB = "application/vnd.ms-excel.sheet.binary.macroenabled.12"
XLS = "application/vnd.ms-excel"
ODT = "application/vnd.oasis.opendocument.text"
ODP = "application/vnd.oasis.opendocument.presentation"
ODS = "application/vnd.oasis.opendocument.spreadsheet"
EMAIL = "message/rfc822"


def _declare(
    name: str,
    label: str,
    suffixes: str,
    cites: CitationKind = CitationKind.LINE,
    names: str = "",
    language: str = "",
) -> MediaType:
    """Return a row, whose suffixes and file names are written as words."""
    dotted = tuple(f".{one}" for one in suffixes.split())
    return MediaType(name, label, dotted, cites, tuple(names.split()), language)


def _declare_languages(*rows: tuple[str, str, str, str]) -> tuple[MediaType, ...]:
    """Return programming languages: the name of each in media types, its label, suffixes, name."""
    return tuple(
        _declare(
            f"text/x-{name}", label, suffixes, CitationKind.CODE, _CODE_NAMES.get(name, ""), own
        )
        for name, label, suffixes, own in rows
    )


_CODE_NAMES = {"ruby": "gemfile rakefile vagrantfile podfile brewfile"}
_LANGUAGES = _declare_languages(
    ("python", "Python", "py pyi pyw", "python"),
    ("javascript", "JavaScript", "js mjs cjs jsx", "javascript"),
    ("typescript", "TypeScript", "ts mts cts tsx", "typescript"),
    ("go", "Go", "go", "go"),
    ("rust", "Rust", "rs", "rust"),
    ("java", "Java", "java", "java"),
    ("c", "C", "c h", "c"),
    ("c++", "C++", "cc cpp cxx c++ hh hpp hxx h++ ino", "c++"),
    ("csharp", "C#", "cs csx", "c#"),
    ("kotlin", "Kotlin", "kt kts", "kotlin"),
    ("ruby", "Ruby", "rb rake gemspec", "ruby"),
    ("sh", "shell", "sh bash zsh ksh bats", "bash"),
    ("swift", "Swift", "swift", "swift"),
    ("scala", "Scala", "scala sc", "scala"),
    ("php", "PHP", "php", "php"),
)
"""The programming languages whose symbols are found by a grammar."""

_WITHOUT_GRAMMAR = _declare_languages(
    ("r", "R", "r", "r"),
    ("perl", "Perl", "pl pm", "perl"),
    ("clojure", "Clojure", "clj cljc cljs", "clojure"),
    ("erlang", "Erlang", "erl hrl", "erlang"),
    ("ocaml", "OCaml", "ml mli", "ocaml"),
    ("fsharp", "F#", "fs fsx", "f#"),
    ("groovy", "Groovy", "groovy gradle", "groovy"),
    ("powershell", "PowerShell", "ps1 psm1", "powershell"),
    ("nim", "Nim", "nim", "nim"),
    ("fortran", "Fortran", "f f90", "fortran"),
    ("solidity", "Solidity", "sol", "solidity"),
    ("protobuf", "Protocol Buffers", "proto", "protobuf"),
    ("graphql", "GraphQL", "graphql gql", "graphql"),
    ("elixir", "Elixir", "ex exs", "elixir"),
    ("lua", "Lua", "lua", "lua"),
    ("haskell", "Haskell", "hs", "haskell"),
    ("zig", "Zig", "zig", "zig"),
    ("dart", "Dart", "dart", "dart"),
    ("julia", "Julia", "jl", "julia"),
    ("sql", "SQL", "sql ddl", "sql"),
    ("terraform", "Terraform", "tf tfvars hcl", "terraform"),
)
"""Languages whose names are found by patterns; see `kebab.parse.code.source`."""

PATTERN_LANGUAGES = frozenset(media.language for media in _WITHOUT_GRAMMAR)

SOURCE = "text/x-source"
CHAT = "application/x-chat+json"
ENEX_NOTE = "application/enex-note+xml"
"""A note of an export of Evernote, which is a member of it."""
_SLACK_DAY = re.compile(r"\d{4}-\d\d-\d\d\.json", re.IGNORECASE)
"""The name of the file of a day in an export of Slack."""

_DATA = (
    _declare("application/json", "JSON", "json jsonc json5 jsonld geojson webmanifest avsc"),
    _declare("application/x-ndjson", "JSON lines", "jsonl ndjson jsonlines"),
    _declare("application/yaml", "YAML", "yaml yml"),
    _declare("application/toml", "TOML", "toml", names="pipfile"),
    _declare("text/x-ini", "INI", "ini cfg conf properties service desktop reg"),
    _declare("text/csv", "CSV", "csv psv"),
    _declare("text/tab-separated-values", "TSV", "tsv tab"),
    _declare(
        "application/xml",
        "XML",
        "xml xsd xsl xslt wsdl rss atom opml plist dtd nxml jats dbk docbook dita tei"
        " fb2 rdf kml gpx xlf xliff tmx ttml dfxp fodt fods csproj vbproj fsproj props targets resx"
        " xaml fxml",
    ),
)
"""Files of data. Settings with secrets (`.env`) are none of them."""

MEDIA_TYPES: tuple[MediaType, ...] = (
    _declare(MARKDOWN, "Markdown", "md markdown mdown mkdn mkd mdx qmd rmd"),
    _declare(PLAIN, "text", "txt text log textile"),
    _declare(DOCX, "Word", "docx docm dotx dotm", CitationKind.SECTION),
    _declare(DOC, "Word 97-2003", "doc dot", CitationKind.SECTION),
    _declare(HWP, "Hangul", "hwp hwt", CitationKind.SECTION),
    _declare(HWPX, "Hangul XML", "hwpx", CitationKind.SECTION),
    _declare("text/html", "HTML", "html htm xhtml shtml", CitationKind.SECTION),
    _declare("application/epub+zip", "EPUB", "epub", CitationKind.SECTION),
    _declare(ENEX, "Evernote export", "enex", CitationKind.SECTION),
    _declare(ENEX_NOTE, "Evernote note", "", CitationKind.SECTION),
    _declare("application/rtf", "RTF", "rtf", CitationKind.SECTION),
    _declare("multipart/related", "saved page", "mhtml mht", CitationKind.SECTION),
    _declare(EMAIL, "e-mail", "eml emlx", CitationKind.SECTION),
    _declare(MSG, "Outlook message", "msg oft", CitationKind.SECTION),
    _declare(MBOX, "mailbox", "mbox mbx", CitationKind.SECTION),
    _declare(ZIP, "zip archive", "zip textpack bear2bk bearbk", CitationKind.SECTION),
    _declare("text/calendar", "calendar", "ics ical", CitationKind.SECTION),
    _declare("text/vcard", "contacts", "vcf vcard", CitationKind.SECTION),
    _declare("text/x-bibtex", "bibliography", "bib"),
    _declare("text/x-rst", "reStructuredText", "rst rest"),
    *_LANGUAGES,
    *_WITHOUT_GRAMMAR,
    *_DATA,
    _declare(CHAT, "chat export", "", CitationKind.SECTION, "conversations.json"),
    _declare("application/x-ipynb+json", "Jupyter notebook", "ipynb", CitationKind.CELL),
    _declare(
        SOURCE,
        "source code",
        "applescript asm awk bat bazel cmake cmd coffee cr css cu cuh el elm fish gd glsl hlsl less"
        " lisp m mk mm nix pas pony purs rego rkt sass scm scss st styl sv svelte tcl thrift v vala"
        " vb vbs vhdl vim vue wat wgsl",
        names="cmakelists.txt containerfile dockerfile earthfile gnumakefile jenkinsfile justfile"
        " makefile procfile tiltfile",
    ),
    _declare("text/asciidoc", "AsciiDoc", "adoc asciidoc asc"),
    _declare("text/org", "Org", "org"),
    _declare("text/x-tex", "LaTeX", "tex ltx latex"),
    _declare("text/vtt", "subtitles", "srt vtt sbv"),
    _declare(PPTX, "PowerPoint", "pptx pptm ppsx potx", CitationKind.SLIDE),
    _declare(PPT, "PowerPoint 97-2003", "ppt pps pot", CitationKind.SLIDE),
    _declare(XLSX, "Excel", "xlsx xlsm xltx xltm", CitationKind.CELL),
    _declare(XLSB, "Excel binary workbook", "xlsb", CitationKind.CELL),
    _declare(XLS, "Excel 97-2003", "xls xlt", CitationKind.CELL),
    _declare(ODT, "OpenDocument text", "odt ott", CitationKind.SECTION),
    _declare(ODP, "OpenDocument presentation", "odp otp", CitationKind.SLIDE),
    _declare(ODS, "OpenDocument spreadsheet", "ods ots", CitationKind.CELL),
    _declare(PDF, "PDF", "pdf", CitationKind.PAGE),
    _declare(IMAGE, "image", "png jpg jpeg tif tiff webp bmp", CitationKind.PAGE),
    *(
        MediaType(name, label or "unread document", (), CitationKind.SECTION)
        for name, label in {name: label for label, name in reversed(NAMED.items())}.items()
    ),
)
"""Every file format that kebab reads."""

_BY_NAME = {media.name: media for media in MEDIA_TYPES}
_PROSE = frozenset(
    {MARKDOWN, PLAIN, "text/x-rst", "text/asciidoc", "text/org", "text/x-tex", "text/vtt"}
)
_BY_SUFFIX = {suffix: media.name for media in MEDIA_TYPES for suffix in media.suffixes}
_BY_FILE_NAME = {name: media.name for media in MEDIA_TYPES for name in media.names}
READABLE_NAMES = frozenset({*_BY_SUFFIX, *_BY_FILE_NAME})
"""The suffixes and the whole file names of every file format that kebab reads."""


_CITES = "; cites="


def is_built_in(name: str) -> bool:
    """Return whether kebab itself reads a media type."""
    return name in _BY_NAME


def format_stored_media(media: MediaType) -> str:
    """Return the name of a media type of a plugin with the kind of its citations.

    So readers cite its documents without the plugin.
    """
    return media.name if media.cites is CitationKind.LINE else f"{media.name}{_CITES}{media.cites}"


def get_media_type(name: str) -> MediaType:
    """Return the row of a media type; an unknown one is cited by lines unless its name differs."""
    if row := _BY_NAME.get(name):
        return row
    label, _, kind = name.partition(_CITES)
    known = {one.value: one for one in CitationKind}
    return MediaType(name, label, (), known.get(kind, CitationKind.LINE))


_MOST_PARTS = 10
"""How many times as large as the limit a file may be that is read in part: `fetch` and `grep` read
the whole file."""


def choose_limit(name: str, size: int, most: int) -> int | None:
    """Return how many bytes of a file of a media type are read, 0 for all; None when none are.

    The first bytes of a file that is cited by lines are a file too. Of a container the limit holds
    for each member.
    """
    if not most or size <= most or name in CONTAINERS:
        return 0
    is_text = get_media_type(name).cites in {CitationKind.LINE, CitationKind.CODE}
    return most if is_text and size <= most * _MOST_PARTS else None


def is_prose(name: str | None) -> bool:
    """Return whether a format is text that people write, cited by lines: no code and no data."""
    return name in _PROSE


def is_code(name: str) -> bool:
    """Return whether a format is source code."""
    return name == SOURCE or get_media_type(name).cites is CitationKind.CODE


def is_reviewed(name: str | None) -> bool:
    """Return whether a file of a format is reviewed when it is named: prose, and source code."""
    return is_prose(name) or (name is not None and is_code(name))


def list_media_types(value: str) -> list[str]:
    """Return the media types that a person's word means.

    The word is a label (`PDF`), a suffix (`docx`), a language (`python`), a kind of citation
    (`code`), or part of a media type, which stays as it is.
    """
    word = value.casefold()
    found = [
        media.name
        for media in MEDIA_TYPES
        if word in {media.label.casefold(), media.language}
        or f".{word}" in media.suffixes
        or (word == media.cites.value and media.cites is not CitationKind.LINE)
        or (word == "code" and is_code(media.name))
    ]
    return list(dict.fromkeys((*found, value)))


def list_type_names(media: Iterable[str]) -> dict[str, str]:
    """Return the words that mean some media types, each with the shortest one of its type."""
    rows = [_BY_NAME[name] for name in media if name in _BY_NAME]
    words = [(row, [suffix[1:] for suffix in row.suffixes]) for row in rows]
    return {
        word: suffixes[0] if suffixes else row.name
        for row, suffixes in words
        for word in (*suffixes, row.label, row.name)
    }


def detect_media_type(name: str, added: Mapping[str, str] = MappingProxyType({})) -> str | None:
    """Return the media type of a file by its name, None when no parser reads it.

    `added` has the media types of plugins by suffix or file name.
    """
    file = name.rpartition("/")[2].lower()
    if found := added and (added.get(file) or added.get(get_suffix(name))):
        return found
    day = CHAT if _SLACK_DAY.fullmatch(file) else None
    return day or _BY_FILE_NAME.get(file) or _BY_SUFFIX.get(get_suffix(name))

"""Reads references, and finds the document, passage and lines that one names.

A reference is text that names a document, and perhaps lines of it, in every form that kebab or
another tool prints: `a.md#L5-L9`, `a.md:5-9`, `a.md:5:2`, `a.md:5:text`, a percent-encoded URI, the
URI of an MCP resource, an id, a path. It may have several readings, because `#` and `:` may be part
of a file's name; the document that exists decides.
"""

import os
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from kebab.core.chunks import ChunkId, DocId
from kebab.core.documents import AmbiguousName, DocumentDetail, DocumentName, StoredDocument
from kebab.core.files import (
    MEMBER_MARK,
    add_working_folder,
    decode_percent,
    is_below,
    join_root,
    quote_path,
    resolve_links,
)
from kebab.errors.system import build_read_error, escape_undecodable
from kebab.search.citations import format_reference
from kebab.wire.record import LookupFault, NotFound

if TYPE_CHECKING:
    from kebab.store.sqlite.catalogue import Catalogue


class Lines(NamedTuple):
    """The lines that a reference names, 1-based and inclusive."""

    first: int
    last: int


class Reading(NamedTuple):
    """One meaning of a reference: a name, and what follows the name.

    `place` is a fragment without line numbers, such as `page=3` or a heading; None without one.
    `bare` numbers stand behind a colon or alone, as in `:5` or `#2024`: in a document with pages
    they are pages, and a heading may consist of them.
    """

    name: str
    lines: Lines | None = None
    place: str | None = None
    bare: bool = False


_LINES = re.compile(r"L?(\d{1,9})(?:C\d+)?(?:-L?(\d{1,9})(?:C\d+)?)?", re.IGNORECASE)
"""A fragment such as `L5`, `5-9` or `L5C2-L9C4`; the columns behind `C` are ignored."""
_MEMBERS = frozenset({"message", "attachment"})
_PARTS = re.compile(r"(?:message=\d{1,9}|attachment=.)")
"""A fragment that names a message of a mailbox or an attachment, as some mail programs write it."""
_COLON = re.compile(r":(?=L?\d)")
_AFTER_COLON = re.compile(r"L?(\d{1,9})(?:-L?(\d{1,9}))?(?::.*)?", re.IGNORECASE | re.DOTALL)
_FILE = "file://"
_RESOURCE = "kebab://"
ID_AUTHORITY = "id"
"""The authority of the URI of a resource that is named by the id of its document."""
_MAX_COLONS = 8
_MARK = re.compile("#")
_MAX_MARKS = 8  # these limits keep the readings of a long text few


def read_reference(text: str) -> list[Reading]:
    """Return the readings of a reference, the one that wins first.

    The whole text as a name comes first. A fragment is read as part of a URI, whose escapes are
    decoded, before it is read behind a plain name.
    """
    plain = escape_undecodable(text)
    if plain.startswith(_FILE):
        _, _, path = plain.removeprefix(_FILE).partition("/")
        return _read_uri(f"/{path}")
    if plain.startswith(_RESOURCE):
        authority, _, path = plain.removeprefix(_RESOURCE).partition("/")
        return _read_uri(path if authority == ID_AUTHORITY else f"/{path}")
    readings = [Reading(plain), *_read_fragment(plain), *_read_line_numbers(plain)]
    decoded = decode_percent(plain)
    if decoded != plain:
        readings += [Reading(decoded), *_read_line_numbers(decoded)]
    return list(dict.fromkeys(readings))


def _read_uri(uri: str) -> list[Reading]:
    return [*_read_fragment(uri), Reading(decode_percent(uri))]


def _read_fragment(text: str) -> list[Reading]:
    """Return the readings of a text that ends in `#` and a fragment, longest name first.

    A heading may contain `#` too.
    """
    starts = [match.start() for match in _MARK.finditer(text)][:_MAX_MARKS]
    return [
        reading
        for start in reversed(starts)
        if start and text[start + 1 :]
        for reading in _build_readings(text[:start], text[start + 1 :])
    ]


def _build_readings(name: str, fragment: str) -> list[Reading]:
    decoded = decode_percent(name)
    if _PARTS.match(fragment):
        pairs = [part.partition("=") for part in fragment.split("&")]
        members = [pair for pair in pairs if pair[0] in _MEMBERS]
        for kind, _, value in members:
            decoded += MEMBER_MARK + decode_percent(value) + (".eml" if kind == "message" else "")
        rest = "&".join("".join(pair) for pair in pairs if pair not in members)
        return _build_readings(decoded, rest) if rest else [Reading(decoded)]
    if match := _LINES.fullmatch(fragment):
        lines, bare = _to_lines(match), fragment.isdecimal()
        return [Reading(decoded, lines, bare=bare), Reading(name, lines, bare=bare)]
    place = decode_percent(fragment)
    return [Reading(decoded, place=place), Reading(name, place=place)]


def _read_line_numbers(text: str) -> list[Reading]:
    """Return the readings of a text with `:55`, `:55-60`, `:55:7` or `:55:text`, longest first."""
    starts = [match.start() for match in _COLON.finditer(text)][:_MAX_COLONS]
    readings = []
    for start in reversed(starts):
        match = _AFTER_COLON.fullmatch(text, start + 1)
        if match and start:
            bare = text[start + 1].isdecimal()
            readings.append(Reading(text[:start], _to_lines(match), bare=bare))
    return readings


def _to_lines(match: re.Match[str]) -> Lines:
    first, last = int(match[1]), int(match[2] or match[1])
    return Lines(min(first, last), max(first, last))


_ELLIPSIS = "…"
_REPLACEMENT = "\ufffd"
_MAX_SUGGESTIONS = 5


def fold_name(name: str) -> str:
    """Return a name in NFC with a space for each blank or invisible character, as text shows it."""
    composed = unicodedata.normalize("NFC", name)
    if composed.isascii() and composed.isprintable():
        return composed
    return "".join(
        " "
        if character == _REPLACEMENT or unicodedata.category(character)[0] in "CZ"
        else character
        for character in composed
    )


class DocumentNames:
    """The names of all documents, in dictionaries that are built when they are first needed."""

    def __init__(self, names: Iterable[DocumentName]) -> None:
        self._names = list(names)

    def find_exact(self, name: str) -> list[DocumentName]:
        """Return the documents with this path, below their source or else on disk."""
        return next(filter(None, (self._by_path.get(form) for form in _list_forms(name))), [])

    def find_folded(self, name: str) -> list[DocumentName]:
        """Return the documents whose path differs in its Unicode form or in blanks only."""
        folded = map(fold_name, _list_forms(name))
        return next(filter(None, (self._by_folded_path.get(form) for form in folded)), [])

    def find_ending(self, name: str) -> list[DocumentName]:
        """Return the documents whose whole path ends with these parts; `…` stands for any text."""
        if _ELLIPSIS in name:
            # A terminal shortens a path to this text.
            start, _, tail = fold_name(name).partition(_ELLIPSIS)
            if not tail:
                return []
            return [
                one
                for one in self._names
                if (path := fold_name(one.path)).endswith(tail) and path.startswith(start)
            ]
        end = fold_name(os.path.normpath(name))
        return [
            found
            for found in self._by_file_name.get(end.rpartition("/")[2], [])
            if fold_name(join_path(found)).endswith(f"/{end}")
        ]

    def list_folder(self, name: str) -> list[DocumentName]:
        """Return the documents below a folder, which is a path below a source or on disk."""
        starts = tuple(f"{fold_name(form).rstrip('/')}/" for form in _list_forms(name))
        return [
            found
            for found in self._names
            if fold_name(found.path).startswith(starts)
            or fold_name(join_path(found)).startswith(starts)
        ]

    def suggest(self, name: str) -> list[DocumentName]:
        """Return the documents whose file names are most like this one."""
        from kebab.core.spelling import find_nearest

        wanted, named = _fold_case(name).rpartition("/")[2], self._by_folded_case
        near = find_nearest(wanted, named, _MAX_SUGGESTIONS) if wanted else []
        return [found for one in near for found in named[one]][:_MAX_SUGGESTIONS]

    def format(self, found: DocumentName) -> str:
        """Return the shortest path that names only this document."""
        return found.path if len(self._by_path[found.path]) == 1 else join_path(found)

    @cached_property
    def _by_path(self) -> dict[str, list[DocumentName]]:
        return _group((text, name) for name in self._names for text in (name.path, join_path(name)))

    @cached_property
    def _by_folded_path(self) -> dict[str, list[DocumentName]]:
        return _group(
            (fold_name(text), name) for name in self._names for text in (name.path, join_path(name))
        )

    @cached_property
    def _by_file_name(self) -> dict[str, list[DocumentName]]:
        return _group((fold_name(name.path).rpartition("/")[2], name) for name in self._names)

    @cached_property
    def _by_folded_case(self) -> dict[str, list[DocumentName]]:
        return _group((_fold_case(name.path).rpartition("/")[2], name) for name in self._names)


def join_path(name: DocumentName | StoredDocument) -> str:
    """Return the path of a document on disk."""
    return join_root(name.root, name.path)


_LONGEST_PATH = 4_096
_MOST_SHOWN = 255
"""How many characters of a refused path are repeated."""


def is_path(name: str) -> bool:
    """Return whether a system takes a name as a path; resolving a longer one would take minutes."""
    return "\0" not in name and len(name) <= _LONGEST_PATH


def require_path(name: str) -> None:
    """Refuse a name that no system takes as a path.

    Raises:
        IoError: It is not a path.
    """
    if not is_path(name):
        raise build_read_error(repr(name[:_MOST_SHOWN]), "not a path")


_list_folders: ContextVar[Callable[[], Collection[str]] | None] = ContextVar(
    "list_folders", default=None
)
"""Returns the indexed folders in a call whose names tell nothing about other places."""


@contextmanager
def hide_other_folders(list_folders: Callable[[], Collection[str]]) -> Iterator[None]:
    """Let names in the block follow links into the indexed folders only, and `~` of this user."""
    token = _list_folders.set(list_folders)
    try:
        yield
    finally:
        _list_folders.reset(token)


def make_absolute(name: str) -> str:
    """Return the real path of a name, relative to the working directory; `~` is the home.

    Where other folders are hidden, a path whose links lead elsewhere stays as it is.
    """
    if not name or not is_path(name):
        return name
    list_folders = _list_folders.get()
    hidden = list_folders is not None and name.startswith("~") and name.partition("/")[0] != "~"
    plain = name if hidden else os.path.expanduser(name)  # noqa: PTH111 - a name, perhaps no path
    try:
        real, given = resolve_links(plain), add_working_folder(plain)
    except OSError:  # the working directory was deleted
        return name
    if list_folders is None or real == given:
        return real
    inside = any(real == folder or is_below(real, folder) for folder in list_folders())
    return real if inside else given


def resolve_folder_of(name: str) -> str:
    """Return the absolute path of a name, its folder without links; the last part stays."""
    folder, last = os.path.split(name)
    if last in {"", ".", "..", "~"} or (not folder and last.startswith("~")):
        return make_absolute(name)
    return join_root(make_absolute(folder or "."), last)


def _list_forms(name: str) -> list[str]:
    """Return the spellings of a path: as given, on disk, and without `./`."""
    if not name:
        return []
    return list(dict.fromkeys((name, make_absolute(name), os.path.normpath(name))))


def _fold_case(name: str) -> str:
    return fold_name(name).casefold()


def _group(pairs: Iterable[tuple[str, DocumentName]]) -> dict[str, list[DocumentName]]:
    groups: defaultdict[str, list[DocumentName]] = defaultdict(list)
    for key, name in pairs:
        groups[key].append(name)
    return dict(groups)


_MAX_CANDIDATES = 20
_FOLDER_EXAMPLES = 5


class Target(NamedTuple):
    """What a reference names: a document, or a passage of one, with the place in it."""

    doc_id: DocId | None = None
    chunk_id: ChunkId | None = None
    lines: Lines | None = None
    place: str | None = None
    bare: bool = False


class _Match(NamedTuple):
    """An object that a name fits, and the shortest name of it."""

    target: Target
    label: str


class ReferenceFinder:
    """Finds the targets of references in one snapshot.

    Args:
        catalogue: The catalogue of the snapshot.
        chunks: Whether a reference may be the id of a passage.
    """

    def __init__(self, catalogue: "Catalogue", *, chunks: bool = True) -> None:
        self._catalogue = catalogue
        self._chunks = chunks

    def find(self, reference: str) -> Target | NotFound:
        """Return what a reference names.

        A path wins over the end of one, and that over a name in words; the whole text as a name
        wins over a part of it.
        """
        readings = read_reference(reference)
        stages: tuple[Callable[[str], list[_Match]], ...] = (
            lambda name: self._match_id(name, prefix=False),
            lambda name: self._label(self._names.find_exact(name)),
            lambda name: self._label(self._names.find_folded(name)),
            lambda name: self._label(self._names.find_ending(name)),
            lambda name: self._label(self._catalogue.find_named(name)),
            lambda name: self._match_id(name, prefix=True),
        )
        for stage in stages:
            for reading in readings:
                if matches := stage(reading.name):
                    return _choose(matches, reading, escape_undecodable(reference))
        return self.suggest(reference)

    def find_document(self, reference: str) -> DocumentDetail | NotFound:
        """Return the document that a reference names; lines in the reference are ignored."""
        target = self.find(reference)
        if isinstance(target, NotFound):
            return target
        found = self._catalogue.load_document(target.doc_id) if target.doc_id else None
        return found or self.suggest(reference)

    def suggest(self, reference: str) -> NotFound:
        """Return the reply that nothing has this name, with names that are nearly the same."""
        readings, name = read_reference(reference), escape_undecodable(reference)
        for reading in readings:
            if inside := self._names.list_folder(reading.name):
                count = f"{len(inside)} document" + ("s" if len(inside) > 1 else "")
                examples = [self._names.format(found) for found in inside[:_FOLDER_EXAMPLES]]
                return build_lookup_fault(
                    name, f"a folder with {count}, not a document: {name}", examples
                )
        what = "document or passage" if self._chunks else "document"
        message = f"no such {what}: {name}"
        # References to the same place of documents with nearly the same name.
        for reading in sorted(readings, key=lambda one: (one.lines is None, len(one.name))):
            if near := self._names.suggest(reading.name):
                candidates = [add_place(self._names.format(one), reading) for one in near]
                return build_lookup_fault(name, message, candidates)
        return build_lookup_fault(name, message)

    def format_name(self, document: StoredDocument) -> str:
        """Return the shortest path that names only this document."""
        fields = (document.doc_id, document.source, document.root, document.path)
        return self._names.format(DocumentName(*fields))

    @cached_property
    def _names(self) -> DocumentNames:
        return DocumentNames(self._catalogue.list_names())

    def _match_id(self, name: str, *, prefix: bool) -> list[_Match]:
        """Return the documents and passages whose id is, or begins with, a name."""
        found = self._catalogue.resolve_document(name, paths=False, prefix=prefix)
        matches = [_Match(Target(doc_id=DocId(one)), one) for one in _list_ids(found)]
        if self._chunks:
            passages = _list_ids(self._catalogue.resolve_chunk(name, prefix=prefix))
            matches += [_Match(Target(chunk_id=ChunkId(one)), one) for one in passages]
        return matches

    def _label(self, found: Iterable[DocumentName]) -> list[_Match]:
        return [_Match(Target(doc_id=name.doc_id), self._names.format(name)) for name in found]


def _list_ids(resolved: str | AmbiguousName | None) -> list[str]:
    if resolved is None:
        return []
    return [resolved] if isinstance(resolved, str) else list(resolved.candidates)


def _choose(matches: list[_Match], reading: Reading, reference: str) -> Target | NotFound:
    """Return the only match with the place of the reading, or a reply that lists them."""
    if len(matches) == 1:
        return matches[0].target._replace(
            lines=reading.lines, place=reading.place, bare=reading.bare
        )
    candidates = [add_place(match.label, reading) for match in matches[:_MAX_CANDIDATES]]
    message = f"several documents go by this name: {reference}"
    return build_lookup_fault(reference, message, candidates, ambiguous=True)


def add_place(name: str, reading: Reading) -> str:
    """Return a reference to the same place in another document."""
    if reading.lines is None:
        return name if reading.place is None else f"{quote_path(name)}#{reading.place}"
    return format_reference(name, *reading.lines)


def build_lookup_fault(
    name: str, message: str, candidates: Iterable[str] = (), *, ambiguous: bool = False
) -> NotFound:
    """Return the reply that a reference names nothing, or more than one thing."""
    fault = LookupFault(
        kind="ambiguous" if ambiguous else "not_found",
        message=message,
        retryable=False,
        candidates=list(dict.fromkeys(candidates)),
    )
    return NotFound(name=name, found=False, error=fault)


def build_not_found(name: str, what: str, ambiguous: AmbiguousName | None = None) -> NotFound:
    """Return the reply that no object, or more than one, has this name."""
    if ambiguous is None:
        return build_lookup_fault(name, f"no such {what}: {name}")
    message = f"several {what}s go by this name"
    return build_lookup_fault(name, message, ambiguous.candidates, ambiguous=True)

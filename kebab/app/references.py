"""Finds what a reference names: a document or a passage, and perhaps lines."""

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from kebab.app.document_names import DocumentNames
from kebab.app.reference_syntax import Lines, Reading, read_reference
from kebab.core.documents import AmbiguousName, DocumentName, StoredDocument
from kebab.core.ids import ChunkId, DocId
from kebab.search.citations import format_reference, quote_path
from kebab.text.normalize import escape_undecodable
from kebab.wire.library import LookupFault, NotFound

if TYPE_CHECKING:
    from kebab.store.sqlite.catalogue import Catalogue

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

        A whole name wins over the end of one, and the whole text as a name over a part of it.
        """
        readings = read_reference(reference)
        stages = (
            self._match_id,
            self._match_path,
            self._match_folded_path,
            self._match_ending,
            self._match_id_prefix,
        )
        for stage in stages:
            for reading in readings:
                if matches := stage(reading.name):
                    return _choose(matches, reading, escape_undecodable(reference))
        return self.suggest(reference)

    def suggest(self, reference: str) -> NotFound:
        """Return the reply that nothing has this name, with names that are nearly the same."""
        readings, name = read_reference(reference), escape_undecodable(reference)
        for reading in readings:
            if inside := self._names.list_folder(reading.name):
                return self._describe_folder(name, inside)
        what = "document or passage" if self._chunks else "document"
        candidates = self._list_similar(readings)
        return build_lookup_fault(name, f"no such {what}: {name}", candidates)

    def _list_similar(self, readings: list[Reading]) -> list[str]:
        """Return references to the same place of documents with nearly the same name."""
        for reading in sorted(readings, key=lambda one: (one.lines is None, len(one.name))):
            if near := self._names.suggest(reading.name):
                return [add_place(self._names.format(name), reading) for name in near]
        return []

    def _describe_folder(self, name: str, inside: list[DocumentName]) -> NotFound:
        count = f"{len(inside)} document" + ("s" if len(inside) > 1 else "")
        examples = [self._names.format(found) for found in inside[:_FOLDER_EXAMPLES]]
        return build_lookup_fault(name, f"a folder with {count}, not a document: {name}", examples)

    def format_name(self, document: StoredDocument) -> str:
        """Return the shortest path that names only this document."""
        fields = (document.doc_id, document.source, document.root, document.path)
        return self._names.format(DocumentName(*fields))

    @cached_property
    def _names(self) -> DocumentNames:
        return DocumentNames(self._catalogue.list_names())

    def _match_id(self, name: str) -> list[_Match]:
        return self._match_by_id(name, prefix=False)

    def _match_id_prefix(self, name: str) -> list[_Match]:
        return self._match_by_id(name, prefix=True)

    def _match_by_id(self, name: str, *, prefix: bool) -> list[_Match]:
        """Return the documents and passages whose id is, or begins with, a name."""
        found = self._catalogue.resolve_doc_id(name, prefix=prefix)
        matches = [_Match(Target(doc_id=DocId(one)), one) for one in _list_ids(found)]
        if self._chunks:
            passages = _list_ids(self._catalogue.resolve_chunk(name, prefix=prefix))
            matches += [_Match(Target(chunk_id=ChunkId(one)), one) for one in passages]
        return matches

    def _match_path(self, name: str) -> list[_Match]:
        return self._label(self._names.find_exact(name))

    def _match_folded_path(self, name: str) -> list[_Match]:
        return self._label(self._names.find_folded(name))

    def _match_ending(self, name: str) -> list[_Match]:
        return self._label(self._names.find_ending(name))

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

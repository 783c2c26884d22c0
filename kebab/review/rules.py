"""Declares what a rule is and what it may ask, and makes items of findings.

The world around a document is files, anchors, notes, and passages of other notes that are nearly
the same. Every answer is cached for one run, and every cache is bounded. Positions of items are
UTF-16 code units.
"""

import hashlib
import os
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import cached_property, lru_cache
from itertools import islice
from pathlib import Path
from typing import ClassVar, NamedTuple

from msgspec import UNSET, UnsetType

from kebab.core.chunks import DocId
from kebab.core.documents import Link, LinkTarget
from kebab.core.media import MARKDOWN, detect_media_type
from kebab.core.review import SimilarParagraph, Span
from kebab.review.document import (
    Finding,
    Fix,
    ReviewDocument,
    ReviewText,
    fold_anchor,
    unify_line_ends,
)
from kebab.text.language import shorten
from kebab.text.names import LinkResolver
from kebab.wire.review import (
    MAX_NOTE_CHARS,
    MAX_REASON_CHARS,
    AgentItem,
    EditName,
    ItemFix,
    SeverityName,
)

_MAX_FILES = 100_000
_MAX_BYTES = 4 * 1024 * 1024
_HEADING_CHARS = 64 * 1024 * 1024
_HEADING = re.compile(r"\n {0,3}#{1,6}[ \t]++([^\n]++)")
"""What looks like a heading behind the end of a line, which is found faster than a beginning."""
_IGNORED_FOLDERS = frozenset({"node_modules", "__pycache__", "site-packages"})


class FolderFiles(NamedTuple):
    """The files below a root, by path and by name in one case; `is_complete` when these are all."""

    paths: Sequence[str]
    by_name: Mapping[str, Sequence[str]]
    is_complete: bool


def fold_name(name: str) -> str:
    """Return a name in one letter case and one form of its characters."""
    return unicodedata.normalize("NFC", name).casefold()


def list_folder(folder: str) -> frozenset[str]:
    """Return the names in a folder, as they are and in NFC; none when it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries]
    except (OSError, ValueError):
        return frozenset()
    return frozenset([*names, *(unicodedata.normalize("NFC", name) for name in names)])


def load_files(root: Path) -> FolderFiles:
    """Return the first files below a root."""
    by_name: defaultdict[str, list[str]] = defaultdict(list)
    paths = list(islice(_list_files(root), _MAX_FILES))
    for path in paths:
        by_name[fold_name(path.rpartition("/")[2])].append(path)
    return FolderFiles(paths, by_name, len(paths) < _MAX_FILES)


def _list_files(root: Path) -> Iterator[str]:
    """Yield the paths of the files below a root, without hidden folders and links to folders."""
    for folder, folders, names in os.walk(root):
        seen = (one for one in folders if one[0] != "." and one not in _IGNORED_FOLDERS)
        folders[:] = sorted(seen, reverse=True)
        below = os.path.relpath(folder, root).replace(os.sep, "/")
        yield from (name if below == "." else f"{below}/{name}" for name in sorted(names))


def read_text(path: str | Path) -> str | None:
    """Return a file as text; None when it cannot be read or is too large."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - far faster
            data = file.read(_MAX_BYTES + 1)
    except (OSError, ValueError):
        return None
    text = data.decode(errors="replace").removeprefix("\ufeff")
    return None if len(data) > _MAX_BYTES else unify_line_ends(text)


def read_headings(root: Path, files: FolderFiles) -> Mapping[str, str]:
    """Return the file of each heading of a folder; an empty text when several have it.

    There is none in a folder with too much text, because no heading is certainly the only one.
    """
    found: dict[str, str] = {}
    size = 0
    for path in files.paths:
        if detect_media_type(path) != MARKDOWN:
            continue
        text = read_text(root / path) or ""
        size += len(text)
        if size > _HEADING_CHARS or not files.is_complete:
            return {}
        for key in {fold_anchor(one.partition("{#")[0]) for one in _HEADING.findall(f"\n{text}")}:
            found[key] = "" if key in found else path
    return found


FindSimilar = Callable[[ReviewText, str], SimilarParagraph | None]
"""Returns the most similar passage of another note for a paragraph of a document."""


class Surroundings:
    """What rules may ask about the file system, the date, and the index if there is one.

    With `stale_days` 0 no statement is stale. Without `find_similar` there are no passages of
    other notes.
    """

    def __init__(
        self,
        *,
        today: date,
        stale_days: int = 0,
        load_documents: Callable[[], Iterable[LinkTarget]] = tuple,
        read_anchors: Callable[[str], frozenset[str] | None] = lambda _: None,
        find_similar: FindSimilar | None = None,
    ) -> None:
        self.today = today
        self.stale_days = stale_days
        self._load_documents = load_documents
        self._find_similar = find_similar
        self.has_index = find_similar is not None
        self._list_folder = lru_cache(4096)(list_folder)
        self._list_anchors = lru_cache(2048)(read_anchors)
        self._load_files = lru_cache(4)(load_files)
        self._load_resolver = lru_cache(4)(self._build_resolver)
        self._load_headings = lru_cache(4)(lambda root: read_headings(root, self._load_files(root)))

    def exists(self, path: Path | str) -> bool:
        """Return whether a file or a folder exists; the case of its name must be right."""
        folder, name = os.path.split(path)
        if not name:
            return True
        names = self._list_folder(folder)
        return name in names or unicodedata.normalize("NFC", name) in names

    def list_anchors(self, path: Path) -> frozenset[str] | None:
        """Return the anchors of a Markdown file, folded; None when they are not known."""
        return self._list_anchors(str(path))

    def find_heading(self, document: ReviewText, key: str) -> Path | None:
        """Return the only Markdown file of the same source with this heading."""
        found = self._load_headings(document.root).get(key)
        return document.root / found if found else None

    def find_note(self, document: ReviewText, target: str) -> Path | None:
        """Return the file of the same source with this path, name, title or alias.

        In a source with very many files it is the root, because nothing is certainly missing.
        """
        path = os.path.relpath(document.file, document.root).replace(os.sep, "/")
        found = self._load_resolver(document.root).resolve(Link(DocId(""), "", path, target))
        if found is None:
            return None if self._load_files(document.root).is_complete else document.root
        return document.root / str(found)

    def list_namesakes(self, document: ReviewText, name: str) -> list[Path]:
        """Return the files of the same source whose name is this one; their case may differ."""
        found = self._load_files(document.root).by_name.get(fold_name(name), ())
        return [document.root / path for path in found]

    def find_similar(self, document: ReviewText, paragraph: str) -> SimilarParagraph | None:
        """Return the most similar passage of another note when it is nearly the same."""
        return self._find_similar(document, paragraph) if self._find_similar else None

    @cached_property
    def _documents(self) -> Mapping[str, LinkTarget]:
        return {one.path: one for one in self._load_documents()}

    def _build_resolver(self, root: Path) -> LinkResolver:
        """Return the resolver of links to the files below a root, by path, title and alias."""
        targets = []
        for path in self._load_files(root).paths:
            known = self._documents.get(path)
            title, aliases = (known.title, known.aliases) if known else (path, ())
            targets.append(LinkTarget(DocId(path), "", path, title, aliases))
        return LinkResolver(targets)


_LONGEST = 1_000
"""How much of a reason is looked at; normalisation takes quadratic time in combining marks."""
_CONTROLS = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Control characters that separate no words, changes of direction, and surrogates."""


class Rule:
    """A check of one document without a language model.

    The docstring of a rule is its explanation: the first paragraph says in one sentence what it
    finds, the others say why that is a fault, what is not, and what to do. `example` is Markdown
    with exactly one finding of the rule.
    """

    id: ClassVar[str]
    kind: ClassVar[str]
    severity: ClassVar[SeverityName]
    example: ClassVar[str]

    def check(self, document: ReviewDocument, surroundings: "Surroundings") -> Iterable[Finding]:
        """Yield the findings in any order."""
        raise NotImplementedError

    def build(
        self, start: int, end: int, reason: str, *, edit: EditName = "note", fix: Fix | None = None
    ) -> Finding:
        """Return a finding at [start, end)."""
        return Finding(
            kind=self.kind,
            severity=self.severity,
            reason=reason,
            start=start,
            end=end,
            edit=edit,
            rule_id=self.id,
            fix=fix,
        )


def build_items(document: ReviewDocument, findings: Iterable[Finding]) -> list[AgentItem]:
    """Return the items of findings in order, without repeated ones."""
    items: dict[str, AgentItem] = {}
    for finding in findings:
        item = build_item(document, finding)
        items.setdefault(item.uid, item)
    return list(items.values())


def build_item(document: ReviewDocument, finding: Finding) -> AgentItem:
    """Return the item of a finding; without a text for it, an edit becomes a note."""
    span = document.to_utf16(finding.start, finding.end)
    sentences = document.find_sentence_range(finding.start, finding.end)
    edit, fix = _build_fix(document, finding)
    # The id is the same in every run over the same text.
    places = f"{sentences[0]},{sentences[1]}|{span[0]},{span[1]}"
    key = f"{finding.kind}|{places}|{finding.rule_id or ''}"
    return AgentItem(
        uid=hashlib.sha1(key.encode(), usedforsecurity=False).hexdigest(),
        k=finding.kind,
        s=finding.severity,
        r=_clean_line(finding.reason, MAX_REASON_CHARS) or finding.kind,
        t=edit,
        i=sentences,
        o=span,
        cid=finding.cid or UNSET,
        rule_id=finding.rule_id or UNSET,
        conf=UNSET if finding.conf is None else finding.conf,
        lang=finding.lang or UNSET,
        side=finding.side or UNSET,
        fix=fix,
    )


def locate_item(document: ReviewDocument, item: AgentItem) -> Span:
    """Return the place of an item as [start, end) code points of the text."""
    return document.from_utf16(*item.o)


def _build_fix(document: ReviewDocument, finding: Finding) -> tuple[EditName, ItemFix | UnsetType]:
    fix = finding.fix
    if fix is None and finding.edit == "delete":
        fix = Fix("")
    if fix is None or finding.edit == "note":
        return "note", UNSET
    text = unicodedata.normalize("NFC", _CONTROLS.sub("", fix.text))
    note = _clean_line(fix.note or "", MAX_NOTE_CHARS)
    # In other text nothing tells code from prose: a script without a suffix is text, too.
    is_safe = fix.safe and document.source.media == MARKDOWN
    return finding.edit, ItemFix(
        text=unify_line_ends(text).replace("\n", document.line_end),
        note=note or UNSET,
        safe=is_safe or UNSET,
    )


def _clean_line(text: str, limit: int) -> str:
    """Return the beginning of a text as one line of NFC without control characters."""
    line = " ".join(_CONTROLS.sub("", text[:_LONGEST]).split())
    return shorten(unicodedata.normalize("NFC", line), limit)

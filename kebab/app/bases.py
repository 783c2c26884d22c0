"""Chooses the bases that an operation reads, and merges what they say about what they cover."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from kebab.app.context import AppContext
from kebab.errors.catalog import InvalidInput, IoError, NotIndexed, StoreCorrupt
from kebab.wire.coverage import MOST_NAMED, Coverage
from kebab.wire.record import Reply
from kebab.wire.search import DegradedChannel, FilteredRequest, UnmatchedFilter

if TYPE_CHECKING:
    from kebab.errors.signal import Signal

LOCAL = "local"
"""The name of the knowledge base itself in `base`."""
MERGED = frozenset({"search", "ask"})
"""The operations that read several bases at once; any other reads one."""
FAULTS = (IoError, NotIndexed, StoreCorrupt)
"""Why one of several bases may be left out."""

_COUNTS = (
    *("files", "unread", "failed", "changed", "new", "gone", "checked"),
    *("unchecked_folders", "pending_vectors", "partial"),
)


class Base(NamedTuple):
    """A base that is read: its name, what its scores are multiplied by, and its context."""

    name: str
    weight: float
    context: AppContext


class Choice:
    """The bases that can be read, and why each other one cannot."""

    def __init__(self) -> None:
        self.bases: list[Base] = []
        self.faults: dict[str, Signal] = {}

    @property
    def is_local(self) -> bool:
        """Whether the knowledge base itself is all that was chosen."""
        return not self.faults and [one.name for one in self.bases] == [LOCAL]

    @contextmanager
    def leave_out(self, base: Base) -> Iterator[None]:
        """Leave a base out if the block fails because of it, unless no other base is left.

        Raises:
            Signal: No base can be read; it is the fault of the first.
        """
        try:
            yield
        except FAULTS as fault:
            self.faults[base.name] = fault
            self.bases = [one for one in self.bases if one != base]
            if not self.bases:
                raise next(iter(self.faults.values())) from fault

    def list_degraded(self) -> list[DegradedChannel]:
        """Return a note for each base that cannot be read."""
        return [
            DegradedChannel(
                channel="published", reason=f"{name}: {fault.format_message()}", hint=None
            )
            for name, fault in self.faults.items()
        ]

    def merge_coverage(self, found: Sequence[Coverage | None]) -> Coverage | None:
        """Return what the index covers of all bases; `found` is in the order of `bases`."""
        known = [one for one in found if one]
        if len(known) < len(found) or not known:
            return None
        names = [one.name for one in self.bases]
        examples = [
            (path if name == LOCAL else f"{name}:{path}", reason)
            for name, one in zip(names, known, strict=True)
            for path, reason in zip(one.partial_examples, one.partial_reasons, strict=True)
        ][:MOST_NAMED]
        return replace(
            known[0],
            complete=not self.faults and all(one.complete for one in known),
            unlisted=[folder for one in known for folder in one.unlisted],
            partial_examples=[path for path, _ in examples],
            partial_reasons=[reason for _, reason in examples],
            bases=[name for name in names if name != LOCAL] or UNSET,
            unread_bases=[*self.faults] or UNSET,
            **{count: sum(getattr(one, count) for one in known) for count in _COUNTS},
        )

    def merge_unmatched(self, found: Sequence[list[UnmatchedFilter]]) -> list[UnmatchedFilter]:
        """Return the filters that no document of any base passes, as far as that is known.

        `found` has those of each base without hits. Filters that only together exclude everything
        are listed where all bases agree on them.
        """
        if self.faults or not all(found):
            return []
        named = [{(one.filter, one.value): one for one in some} for some in found]
        merged = [
            replace(
                one,
                documents=sum(some[key].documents for some in named),
                nearest=list(dict.fromkeys(near for some in named for near in some[key].nearest)),
            )
            for key, one in named[0].items()
            if all(key in some for some in named)
        ]
        agree = all(some.keys() == named[0].keys() for some in named)
        return merged if agree else [one for one in merged if not one.documents]


def choose_bases(context: AppContext, request: FilteredRequest[Reply]) -> Choice:
    """Return the bases that a request names; without names all, or with a folder the own one.

    Raises:
        InvalidInput: A name is that of no base.
        Signal: None of the bases can be opened.
    """
    listed = context.bases.load().bases if context.has_bases else []
    known = {LOCAL, *(base.name for base in listed)}
    for name in request.base:
        _require_known(name, known)
    # A folder is one of this machine.
    chosen = {*request.base} or (known if request.folder is None else {LOCAL})
    choice = Choice()
    if LOCAL in chosen and (chosen == {LOCAL} or context.database.exists()):
        choice.bases.append(Base(LOCAL, 1.0, context))
    for base in listed:
        if base.name in chosen:
            try:
                choice.bases.append(Base(base.name, base.weight, context.bases.open(base)))
            except FAULTS as fault:
                choice.faults[base.name] = fault
    if not choice.bases:
        raise next(iter(choice.faults.values()))
    return choice


def choose_base(context: AppContext, names: Sequence[str]) -> AppContext:
    """Return the context of the only base that an operation reads.

    Raises:
        InvalidInput: No base has this name, or there are several.
    """
    if len({*names}) > 1:
        cause = f"only {' and '.join(sorted(MERGED))} read several bases at once"
        raise InvalidInput(field="$.base", cause=cause)
    base = context.bases.find(names[0])
    if base is None:
        _require_known(names[0], {LOCAL, *(base.name for base in context.bases.load().bases)})
    return context.bases.open(base) if base else context


def _require_known(name: str, known: set[str]) -> None:
    if name not in known:
        from kebab.search.nearest import find_nearest

        near = find_nearest(name, known - {LOCAL}, 1)
        suggestion = f", did you mean `{near[0]}`?" if near else ""
        cause = f"no published base has this name: {name}{suggestion}"
        raise InvalidInput(field="$.base", cause=cause)

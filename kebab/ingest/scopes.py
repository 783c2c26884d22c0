"""Which registered source a path belongs to, and which part of it a run looks at."""

import os
import stat as modes
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from kebab.core.documents import Known, Source
from kebab.errors.system import refusal, unfit
from kebab.ingest.ports import IngestRequest
from kebab.source.ignore import IgnoreRules, refusal_from_root
from kebab.text.normalize import escape_undecodable


class Knowledge(Protocol):
    """What planning asks of the library; a dry run without a database has an empty one."""

    def sources(self) -> list[Source]:
        """Return the registered roots."""

    def known(self, source: str) -> dict[str, Known]:
        """Return every document of a source by its path."""

    def get_value(self, name: str) -> str | None:
        """Return a stored value by name."""


class Nothing:
    """The knowledge of a library that does not exist yet."""

    def sources(self) -> list[Source]:
        """Return no roots."""
        return []

    def known(self, source: str) -> dict[str, Known]:
        """Return no documents."""
        del source
        return {}

    def get_value(self, name: str) -> str | None:
        """Return no value."""
        del name
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """A part of a source: the folder `below` its root, or only the files named.

    `named` says that the files were named by the caller, which overrules ignore rules.
    """

    source: Source
    below: str = ""
    files: tuple[str, ...] | None = None
    named: bool = False

    @property
    def place(self) -> str:
        """What the scope looks at, as an absolute path."""
        if self.files is not None and len(self.files) == 1:
            return os.path.join(self.source.root, self.files[0])  # noqa: PTH118 - a plain string
        return os.path.join(self.source.root, self.below) if self.below else self.source.root  # noqa: PTH118 - a plain string

    @property
    def whole(self) -> bool:
        """Whether all of the source is looked at."""
        return not self.below and not self.named

    def holds(self, path: str) -> bool:
        """Return whether a path of the source lies in the scope."""
        if self.files is not None:
            return path in self.files
        return not self.below or path.startswith(f"{self.below}/")


def choose(request: IngestRequest, knowledge: Knowledge) -> list[Scope]:
    """Return what a run looks at; nothing when no path was given and none is known.

    Raises:
        IoError: A path does not exist.
    """
    sources = knowledge.sources()
    if request.paths:
        return _merged(_named(path, sources, request, knowledge) for path in request.paths)
    scopes = [_all_of(source, knowledge) for source in sources]
    if request.workspace:
        scopes.append(_folder(_resolved(request.workspace), sources, request.rules.ignore))
    return _merged(scopes)


def _all_of(source: Source, knowledge: Knowledge) -> Scope:
    files = tuple(knowledge.known(source.name)) if source.kind == "files" else None
    return Scope(source=source, files=files)


def _named(
    path: str, sources: Sequence[Source], request: IngestRequest, knowledge: Knowledge
) -> Scope:
    place = Path(path)
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - a Path would take no name for this folder
    except OSError as failure:
        known = _resolved(path)
        if request.force and any(known == source.root for source in sources):
            return _folder(known, sources, request.rules.ignore)
        raise refusal(failure, "read", escape_undecodable(path)) from failure
    except ValueError as failure:
        raise unfit(repr(path), str(failure)) from failure
    if modes.S_ISDIR(mode):
        return _folder(_resolved(path), sources, request.rules.ignore)
    # The name stays what the caller wrote: a link is a document under its own name.
    return _file(_resolved(str(place.parent)), place.name, sources, knowledge)


def _folder(path: str, sources: Sequence[Source], rules: IgnoreRules) -> Scope:
    for source in sources:
        if source.root == path and source.kind == "folder":
            return Scope(source=source)
    owner = _folder_above(path, sources)
    if owner is not None:
        below = _below(path, owner.root)
        if refusal_from_root(owner.root, rules, below, folder=True) is None:
            return Scope(source=owner, below=below)
    return Scope(source=Source(name=path, root=path, kind="folder"))


def _file(folder: str, name: str, sources: Sequence[Source], knowledge: Knowledge) -> Scope:
    for source in sources:
        if source.root == folder and source.kind == "stdin":
            return Scope(source=source, files=(name,), named=True)
    exact = Source(name=folder, root=folder, kind="files")
    if exact in sources and name in knowledge.known(folder):
        return Scope(source=exact, files=(name,), named=True)
    path = os.path.join(folder, name)  # noqa: PTH118 - a plain string
    owner = _folder_above(path, sources)
    if owner is not None:
        return Scope(source=owner, files=(_below(path, owner.root),), named=True)
    return Scope(source=exact, files=(name,), named=True)


def _folder_above(path: str, sources: Sequence[Source]) -> Source | None:
    above = [one for one in sources if one.kind == "folder" and is_below(path, one.root)]
    return max(above, key=lambda one: len(one.root), default=None)


def _merged(scopes: Iterable[Scope]) -> list[Scope]:
    """Return the scopes with named files gathered, and without those that another covers."""
    gathered: dict[tuple[str, str, bool], Scope] = {}
    for scope in scopes:
        key = (scope.source.name, scope.below, scope.named)
        seen = gathered.get(key)
        if seen is not None and seen.files is not None and scope.files is not None:
            files = tuple(dict.fromkeys(seen.files + scope.files))
            scope = replace(seen, files=files)  # noqa: PLW2901 - the gathered form of the same scope
        gathered[key] = scope
    kept = list(gathered.values())
    return [scope for scope in kept if not any(_covers(other, scope) for other in kept)]


def _covers(wide: Scope, narrow: Scope) -> bool:
    if wide is narrow or wide.files is not None or wide.source.name != narrow.source.name:
        return False
    if narrow.files is not None:
        return not narrow.named
    return wide.holds(f"{narrow.below}/") and wide.below != narrow.below


def is_below(path: str, root: str) -> bool:
    """Return whether an absolute path lies strictly below a root."""
    return path != root and path.startswith(root if root.endswith("/") else f"{root}/")


def _below(path: str, root: str) -> str:
    return path[len(root) :].lstrip("/")


def _resolved(path: str) -> str:
    resolved = os.path.realpath(path)
    try:
        resolved.encode("utf-8")
    except UnicodeEncodeError as failure:
        raise unfit(escape_undecodable(resolved), "the name is not valid UTF-8") from failure
    return resolved

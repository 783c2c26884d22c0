"""Mirrors the objects below an address of a store into a folder, which is ingested like any other.

Beside the folder a file `.json` says when the store was last listed as a whole, and how many
objects of that listing are missing here. Equal sizes and times mean equal contents.
"""

import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple, TypeAlias

import msgspec
from msgspec import Struct

from kebab.config.settings import OBJECTS
from kebab.core.durable import create_folder, delete_path, replace_file
from kebab.core.files import SkipCounts
from kebab.errors.catalog import IoError
from kebab.errors.system import translate_os_errors
from kebab.platform import is_linux
from kebab.store.objects import ObjectStore, StoredObject

UNSAFE = "unsafe_name"
"""The skip reason of names that are no path below a folder, or that are those of another path."""

SkipReason: TypeAlias = Callable[[StoredObject], str | None]
"""Returns why an object is not read, None when it is."""


class MirrorState(Struct, frozen=True, kw_only=True):
    """What is known of a mirror: the time of the last whole listing, and what is missing here."""

    address: str
    synced_at: float
    missing: int = 0


class MirrorPlan(NamedTuple):
    """What differs between a whole listing of the store and the mirror; `gone` are deleted."""

    listed: int
    changed: list[StoredObject]
    gone: list[str]
    skips: SkipCounts


def name_mirror(address: str) -> str:
    """Return the path of the mirror of an address below the data directory."""
    scheme, _, rest = address.rstrip("/").partition("://")
    digest = sha256(f"{scheme.lower()}://{rest}".encode("utf-8", "surrogatepass")).hexdigest()
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", rest.rpartition("/")[2]).strip("-")[:40] or "objects"
    return f"{OBJECTS}/{name}-{digest[:12]}"


def list_addresses(folder: Path) -> list[str]:
    """Return the addresses of the mirrors in a folder."""
    roots = [path.with_suffix("") for path in sorted(folder.glob("*.json"))]
    states = [read_state(root) for root in roots if not root.suffix]
    return [state.address for state in states if state]


def read_state(root: Path) -> MirrorState | None:
    """Return what is known of the mirror in a folder; None when the folder is no mirror."""
    if root.parent.name != OBJECTS:
        return None
    try:
        return msgspec.json.decode(Path(f"{root}.json").read_bytes(), type=MirrorState)
    except (OSError, msgspec.MsgspecError):
        return None


def build_empty_error(address: str, known: int = 0) -> IoError:
    """Return the signal for a store without objects; those that were there stay in the index."""
    cause = "there are no objects below the address"
    if known:
        cause += f", but {known} were there; `kebab source rm {shlex.quote(address)}` removes them"
    return IoError(path=address, op="read", cause=cause)


class ObjectMirror:
    """The mirror of an address in a data directory; one process at a time changes it."""

    def __init__(self, data: Path, address: str) -> None:
        self.address = address.rstrip("/")
        self.root = data / name_mirror(address)
        self._state = Path(f"{self.root}.json")

    def check(self) -> None:
        """Refuse a store that cannot be listed, and one without objects.

        Raises:
            DependencyMissing: The extra is not installed.
            IoError: It is refused.
        """
        if next(self._open().list(""), None) is None:
            raise build_empty_error(self.address)

    def plan(self, find_reason: SkipReason) -> MirrorPlan:
        """Compare the mirror with a whole listing of the store.

        Raises:
            DependencyMissing: The extra is not installed.
            InvalidInput: The address cannot be read.
            IoError: The store cannot be listed as a whole.
        """
        listed = list(self._open().list(""))
        skips = SkipCounts()
        wanted = {one.name: one for one in _select(listed, find_reason, skips)}
        here = dict(self._list_files())
        changed = [
            one for name, one in wanted.items() if here.get(name) != (one.size, int(one.modified))
        ]
        gone = [name for name in here if name not in wanted]
        return MirrorPlan(len(listed), changed, gone, skips)

    def apply(
        self,
        plan: MirrorPlan,
        now: float,
        *,
        add: Callable[[int], None],
        is_stopped: Callable[[], bool],
    ) -> tuple[list[StoredObject], IoError | None]:
        """Delete what is gone, and download what is new or changed until `is_stopped`.

        Return what was downloaded, and the first reason why an object was not.

        Raises:
            IoError: The mirror cannot be written.
        """
        with translate_os_errors(self.root, "write"):
            create_folder(self.root.parent, 0o700)
            create_folder(self.root, 0o700)
            self._write_state(now, len(plan.changed))
            for name in plan.gone:
                delete_path(self.root / name)
            for folder, _, _ in os.walk(self.root, topdown=False):
                if folder != str(self.root):
                    with suppress(OSError):  # it has files
                        Path(folder).rmdir()
        done, first = list[StoredObject](), None
        try:
            for one, fault in self._open().download_all(plan.changed, self.root, is_stopped):
                first = first or fault
                if fault is None:
                    done.append(one)
                    add(one.size)
        finally:
            self._write_state(now, len(plan.changed) - len(done))
        return done, first

    def remove(self) -> None:
        """Delete the mirror; first what makes the folder one."""
        with translate_os_errors(self.root, "write"):
            for path in (self._state, self.root):
                if path.exists():
                    delete_path(path)

    def _open(self) -> ObjectStore:
        return ObjectStore(self.address)

    def _list_files(self) -> Iterator[tuple[str, tuple[int, int]]]:
        """Yield the files of the mirror with their sizes and times."""
        for folder, folders, files in os.walk(self.root):
            for name in (*files, *(one for one in folders if Path(folder, one).is_symlink())):
                path = Path(folder, name)
                status = path.lstat()
                sizes = status.st_size, int(status.st_mtime)
                yield path.relative_to(self.root).as_posix(), sizes

    def _write_state(self, now: float, missing: int) -> None:
        state = MirrorState(address=self.address, synced_at=now, missing=missing)
        with translate_os_errors(self._state, "write"), replace_file(self._state) as draft:
            draft.write(msgspec.json.encode(state))


def _select(
    objects: Iterable[StoredObject], find_reason: SkipReason, skips: SkipCounts
) -> Iterator[StoredObject]:
    """Yield the objects that can be files of one folder and that are read; count the others."""
    ordered = sorted(objects)
    folders = {one.name[:at] for one in ordered for at, sign in enumerate(one.name) if sign == "/"}
    seen = set[str]()
    for one in ordered:
        folded = one.name if is_linux() else one.name.casefold()
        if one.name in folders and not one.size:
            continue  # the mark that some programs make for a folder
        is_taken = one.name in folders or folded in seen
        reason = UNSAFE if is_taken or not _is_safe(one.name) else find_reason(one)
        if reason:
            skips.add(reason, one.name)
        else:
            seen.add(folded)
            yield one


def _is_safe(name: str) -> bool:
    """Return whether the name of an object is a path below a folder."""
    return "\0" not in name and not any(part in ("", ".", "..") for part in name.split("/"))

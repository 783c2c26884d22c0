"""Mirrors the objects below an address of a store into a folder, which is ingested like any other.

Beside the folder a file `.json` says when the store was last listed as a whole, and how many
objects of that listing are missing here. Equal sizes and times mean equal contents.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import msgspec
from msgspec import Struct

from kebab.app.classify import View, build_error_reply
from kebab.app.context import AppContext
from kebab.config.settings import OBJECTS, is_object_address
from kebab.core.documents import Source
from kebab.core.files import IGNORE_FILES, IMAGE, ScanRules, SkipCounts, get_suffix, resolve_links
from kebab.core.media import choose_limit, detect_media_type
from kebab.core.progress import Cancel, ProgressCallback
from kebab.errors.catalog import InvalidInput, IoError
from kebab.errors.signal import Signal
from kebab.errors.system import translate_os_errors
from kebab.ingest.job import IngestJob, ProgressReporter
from kebab.ingest.plan import list_ancestors
from kebab.platform import create_folder, delete_path, is_linux, replace_file
from kebab.source.content import MAX_UNKNOWN_BYTES, describe_unsupported
from kebab.source.ignore import Layer, build_base_layer, find_skip_reason
from kebab.store.objects import ObjectStore, StoredObject, build_empty_error
from kebab.wire.ingest import IngestRequest, ObjectSync

if TYPE_CHECKING:
    from kebab.store.sqlite.writer import SqliteWriter
    from kebab.wire.error import ErrorReply

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
    try:
        return msgspec.json.decode(Path(f"{root}.json").read_bytes(), type=MirrorState)
    except (OSError, msgspec.MsgspecError):
        return None


class ObjectMirror:
    """The mirror of an address in a data directory; one process at a time changes it."""

    def __init__(self, data: Path, address: str) -> None:
        self.address = address.rstrip("/")
        self.root = data / name_mirror(address)
        self._state = Path(f"{self.root}.json")

    def plan(self, find_reason: SkipReason) -> MirrorPlan:
        """Compare the mirror with a whole listing of the store.

        Raises:
            DependencyMissing: The extra is not installed.
            InvalidInput: The address cannot be read.
            IoError: The store cannot be listed as a whole.
        """
        listed = list(ObjectStore(self.address).list(""))
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
        beat: Callable[[], None],
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
            for one, fault in ObjectStore(self.address).download_all(
                plan.changed, self.root, is_stopped
            ):
                first = first or fault
                if fault is None:
                    done.append(one)
                    beat()
        finally:
            self._write_state(now, len(plan.changed) - len(done))
        return done, first

    def remove(self) -> None:
        """Delete the mirror; first what makes the folder one."""
        with translate_os_errors(self.root, "write"):
            for path in (self._state, self.root):
                if path.exists():
                    delete_path(path)

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
        is_no_path = "\0" in one.name or not {"", ".", ".."}.isdisjoint(one.name.split("/"))
        reason = UNSAFE if is_taken or is_no_path else find_reason(one)
        if reason:
            skips.add(reason, one.name)
        else:
            seen.add(folded)
            yield one


_MOST_BYTES = 10
"""How many times `max_file_bytes` a mailbox or an archive may have to be downloaded."""


class MirrorSync:
    """Brings the mirrors of one run up to date; a dry run only lists their stores.

    They are those of the named addresses, or all when no path is named.
    """

    def __init__(
        self,
        context: AppContext,
        request: IngestRequest,
        rules: ScanRules,
        report: ProgressCallback,
        cancel: Cancel,
    ) -> None:
        """Compare the mirrors with their stores; a store that fails is an error if it was named.

        Raises:
            DependencyMissing: The extra is not installed.
            InvalidInput: An address cannot be read, or a client that is not the user of the files
                names one that is not known.
            IoError: A store cannot be listed, or has no objects below the address.
        """
        self._context, self._request = context, request
        self._report, self._cancel = report, cancel
        self.done: list[ObjectSync] = []
        known = list_addresses(context.paths.objects_dir)
        named = [] if request.changed else request.paths or known
        addresses = [one for one in named if is_object_address(one)]
        # A request to a store of somebody else can carry what a client has read here.
        if not context.is_owner and {one.rstrip("/") for one in addresses} - {*known}:
            raise InvalidInput(field="$.paths", cause="only `kebab ingest ADDRESS` adds an address")
        data, layer = Path(resolve_links(str(context.paths.data))), build_base_layer(rules)
        self._plans: dict[Path, tuple[ObjectMirror, MirrorPlan | None]] = {}
        for mirror in [ObjectMirror(data, address) for address in addresses]:
            plan = None
            try:
                plan = mirror.plan(partial(find_reason, rules, layer, mirror.root.as_posix()))
                if not plan.listed and not (request.force and plan.gone):
                    raise build_empty_error(mirror.address, len(plan.gone))
            except Signal as fault:
                if request.paths:
                    raise
                plan, error = None, self._build_error(fault)
                self.done.append(ObjectSync(address=mirror.address, error=error))
            self._plans[mirror.root] = (mirror, plan)

    def run(self, job: IngestJob, library: "SqliteWriter | None") -> IngestJob:
        """Bring the mirrors up to date, and return the job that reads their folders.

        Raises:
            IoError: A mirror cannot be written.
        """
        for root, (mirror, plan) in self._plans.items():
            if plan is not None:
                self.done.append(self._sync(mirror, plan))
            if library is not None and not job.dry_run and root.is_dir():
                name = root.as_posix()
                # A source above the data directory does not take it for a part of itself.
                library.add_source(Source(name=name, root=name, kind="folder"))
        if not (job.paths and self._plans):
            return job
        others = [path for path in self._request.paths if not is_object_address(path)]
        paths = (*others, *(root.as_posix() for root in self._plans if root.is_dir()))
        # Without a path a job would read all sources, and one of changes reads none.
        return replace(job, paths=paths, changed=not paths)

    def _sync(self, mirror: ObjectMirror, plan: MirrorPlan) -> ObjectSync:
        done, fault = plan.changed, None
        if not self._request.dry_run:
            progress = ProgressReporter(self._report, self._context.clock)
            done, fault = mirror.apply(
                plan,
                self._context.clock.now(),
                beat=lambda: progress.send_heartbeat("download"),
                is_stopped=lambda: self._cancel.requested,
            )
        return ObjectSync(
            address=mirror.address,
            listed=plan.listed,
            downloaded=len(done),
            bytes=sum(one.size for one in done),
            removed=len(plan.gone),
            missing=len(plan.changed) - len(done),
            skipped_by_reason=dict(sorted(plan.skips.by_reason.items())),
            skip_examples=plan.skips.examples,
            error=self._build_error(fault) if fault else None,
        )

    def _build_error(self, fault: Signal) -> "ErrorReply":
        view = View(self._context.settings.lang)
        return build_error_reply(fault, operation="ingest", view=view)


def find_reason(rules: ScanRules, layer: Layer | None, root: str, one: StoredObject) -> str | None:
    """Return why an object is not downloaded, by its name and size; the scan decides the rest."""
    name = one.name.rpartition("/")[2]
    if name in IGNORE_FILES and one.size <= MAX_UNKNOWN_BYTES:
        return None
    for path in reversed(list_ancestors(one.name)):
        is_folder = path != one.name
        if reason := find_skip_reason(layer, rules, root, path, folder=is_folder):
            return reason
    media, suffix = detect_media_type(name, rules.added), get_suffix(name)
    most = rules.max_file_bytes
    if media is None:
        is_large = suffix and one.size > MAX_UNKNOWN_BYTES
        if is_large or describe_unsupported(suffix):
            return "unsupported"
        return "over_limit" if 0 < most < one.size else None
    if media in rules.left_out:
        return "ocr_off" if media == IMAGE else "unsupported"
    is_read = choose_limit(media, one.size, most) is not None
    return None if is_read and (not most or one.size <= most * _MOST_BYTES) else "over_limit"

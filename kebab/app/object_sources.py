"""Brings the mirrors of object storage up to date, before an ingest reads them as folders."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from kebab.app.archive import ByteProgress
from kebab.app.classify import build_error_reply, build_view
from kebab.app.context import AppContext
from kebab.config.settings import is_object_address
from kebab.core.content import MAX_UNKNOWN_BYTES, describe_unsupported
from kebab.core.documents import Source
from kebab.core.files import IGNORE_FILES, IMAGE, ScanRules, get_suffix, resolve_links
from kebab.core.media import choose_limit, detect_media_type
from kebab.core.progress import Cancel, ProgressCallback
from kebab.errors.catalog import InvalidInput
from kebab.errors.signal import Signal
from kebab.ingest.job import IngestJob
from kebab.ingest.plan import list_ancestors
from kebab.source.ignore import Layer, build_base_layer, find_skip_reason
from kebab.store.object_mirror import ObjectMirror, build_empty_error, list_addresses
from kebab.store.objects import StoredObject
from kebab.wire.ingest import IngestRequest, ObjectSync

if TYPE_CHECKING:
    from kebab.core.ports import LibraryWriter
    from kebab.wire.error import ErrorReply

_MOST_BYTES = 10
"""How many times `max_file_bytes` a mailbox or an archive may have to be downloaded."""


class MirrorSync:
    """Brings the mirrors of one run up to date; a dry run only lists their stores.

    They are those of the named addresses, or all when no path is named. A client that is not the
    user of the files names only addresses that are known; others are `InvalidInput`.
    """

    def __init__(
        self,
        context: AppContext,
        request: IngestRequest,
        rules: ScanRules,
        report: ProgressCallback,
        cancel: Cancel,
    ) -> None:
        self._context, self._request, self._rules = context, request, rules
        self._report, self._cancel = report, cancel
        self._data = Path(resolve_links(str(context.paths.data)))
        known = list_addresses(context.paths.objects_dir)
        named = [] if request.changed else request.paths or known
        mirrors = [ObjectMirror(self._data, one) for one in named if is_object_address(one)]
        self._mirrors = {mirror.root: mirror for mirror in mirrors}
        # A request to a store of somebody else can carry what a client has read here.
        if not context.is_owner and {one.address for one in mirrors} - {*known}:
            raise InvalidInput(field="$.paths", cause="only `kebab ingest ADDRESS` adds an address")
        self.done: list[ObjectSync] = []

    def list_paths(self) -> list[str]:
        """Return the named paths that are no addresses."""
        return [path for path in self._request.paths if not is_object_address(path)]

    def check(self) -> None:
        """Refuse stores for which only an empty knowledge base would be created.

        Raises:
            DependencyMissing: The extra is not installed.
            IoError: A store cannot be listed, or has no objects below the address.
        """
        for mirror in self._mirrors.values():
            mirror.check()

    def run(self, job: IngestJob, library: "LibraryWriter | None") -> IngestJob:
        """Bring the mirrors up to date, and return the job that reads their folders.

        A store that fails is an error only when it was named.

        Raises:
            DependencyMissing: The extra is not installed.
            InvalidInput: An address cannot be read.
            IoError: A store cannot be listed, or has no objects, or a mirror cannot be written.
        """
        for mirror in self._mirrors.values():
            try:
                self.done.append(self._sync(mirror))
            except Signal as fault:
                if self._request.paths:
                    raise
                sync = ObjectSync(address=mirror.address, error=self._build_error(fault))
                self.done.append(sync)
            if library is not None and not job.dry_run and mirror.root.is_dir():
                root = mirror.root.as_posix()
                # A source above the data directory does not take it for a part of itself.
                library.add_source(Source(name=root, root=root, kind="folder"))
        if not (job.paths and self._mirrors):
            return job
        roots = [root.as_posix() for root in self._mirrors if root.is_dir()]
        paths = (*self.list_paths(), *roots)
        # Without a path a job would read all sources, and one of changes reads none.
        return replace(job, paths=paths, changed=not paths)

    def _sync(self, mirror: ObjectMirror) -> ObjectSync:
        context = self._context
        layer = build_base_layer(self._rules)
        plan = mirror.plan(partial(find_reason, self._rules, layer, mirror.root.as_posix()))
        if not plan.listed and not (self._request.force and plan.gone):
            raise build_empty_error(mirror.address, len(plan.gone))
        done, fault = plan.changed, None
        if not self._request.dry_run:
            progress = ByteProgress(self._report, context, "download")
            progress.total = sum(one.size for one in plan.changed)
            done, fault = mirror.apply(
                plan,
                context.clock.now(),
                add=progress.add,
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
        view = build_view(self._context.settings)
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

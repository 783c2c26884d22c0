"""The published bases of a knowledge base: adds them to the list, describes and removes them."""

import os
from contextlib import suppress

from msgspec.structs import asdict, replace

from kebab.app.context import AppContext
from kebab.config.load import replace_setting
from kebab.config.settings import AUTO, FILE_ADDRESS, find_copy_folder, is_address
from kebab.core.progress import Cancel, ProgressCallback, ProgressKind
from kebab.durable import delete_path
from kebab.errors.catalog import EmbeddingMismatch, EmbeddingUnavailable, InvalidInput
from kebab.errors.system import translate_os_errors
from kebab.ingest.job import ProgressReporter
from kebab.store.published_copy import PublishedCopy, choose_settings
from kebab.wire.library import SourceRemoved, SourceSummary
from kebab.wire.published import (
    PublishedBase,
    Registration,
    Registry,
    SourceAdded,
    SourceAddRequest,
)
from kebab.wire.record import format_timestamp


def describe_base(context: AppContext, base: Registration) -> PublishedBase:
    """Return what is known of a base, without a look at its store."""
    state = PublishedCopy(choose_settings(context.settings, base)).read_state()
    found = state and state.manifest
    return PublishedBase(
        **asdict(base),
        documents=found.documents if found else 0,
        chunks=found.chunks if found else 0,
        created_at=found.created_at if found else None,
        checked_at=format_timestamp(state.checked_at) if state else None,
        problem=state.problem if state else "there is no copy yet",
        coverage=found.coverage if found else None,
    )


def add_source(
    context: AppContext, request: SourceAddRequest, report: ProgressCallback
) -> SourceAdded:
    """List a published base, and pull its first copy.

    Raises:
        InvalidInput: The address cannot be used, or the name is taken.
        IoError: The store cannot be read, or nothing is published there.
        StoreCorrupt: What is published is damaged.
        NotIndexed: A newer kebab published it.
        ReadOnly: Writing is switched off.
    """
    context.refuse_when_read_only("source add")
    started = context.clock.monotonic()
    url = request.url.rstrip("/")
    if not is_address(request.url):  # a folder becomes an address too
        if not request.url or "\0" in request.url or "://" in request.url:
            raise InvalidInput(field="$.url", cause="neither an address nor a folder")
        url = f"{FILE_ADDRESS}{os.path.abspath(os.path.expanduser(request.url))}"  # noqa: PTH100, PTH111 - keeps links
    registry, name = context.bases.load(), request.name
    if not name:
        last = url.rpartition("/")[2]
        name = "".join(sign if sign.isalnum() or sign in "._-" else "-" for sign in last)
        if not name.isascii() or not name[:1].isalnum():
            cause = f"the address gives no name; choose one: {url}"
            raise InvalidInput(field="$.name", cause=cause)
    _refuse_taken_name(registry, name, url)
    progress = ProgressReporter(report, context.clock)
    settings = replace_setting(context.settings, "data_dir", url)
    if request.mode != AUTO:
        settings = replace_setting(settings, "published.mode", request.mode)
    copy = PublishedCopy(settings)
    base = Registration(name=name, url=url, mode=copy.mode)
    progress.send(ProgressKind.HEARTBEAT, phase="pull", message="reading files")
    copy.refresh(context.clock.now(), at_once=True)

    def add(now: Registry) -> Registry:
        _refuse_taken_name(now, name, url)
        others = [one for one in now.bases if one.url != url]
        return replace(now, bases=[*others, base])

    context.bases.change(add)
    opened = context.bases.open(base)
    if version := opened.get_stored_version():
        # Words are searched, and every reply says so.
        with suppress(EmbeddingMismatch, EmbeddingUnavailable):
            opened.embedders.obtain(version, report, Cancel())
    return SourceAdded(
        base=describe_base(context, base),
        pulled_bytes=copy.pulled_bytes,
        duration_ms=(context.clock.monotonic() - started) * 1000,
    )


def _refuse_taken_name(registry: Registry, name: str, url: str) -> None:
    if any(one.name == name and one.url != url for one in registry.bases):
        raise InvalidInput(field="$.name", cause=f"another base has this name: {name}")


def remove_base(context: AppContext, base: Registration, *, dry_run: bool) -> SourceRemoved:
    """Remove a published base and its copy; a dry run only says what would be removed."""
    found = describe_base(context, base)
    summary = SourceSummary(
        name=found.name,
        folder=found.url,
        kind="published",
        state="present",
        documents=found.documents,
        chunks=found.chunks,
        last_ingest_at=found.created_at,
    )
    if not dry_run:
        context.bases.change(
            lambda now: replace(now, bases=[one for one in now.bases if one.url != base.url])
        )
        folder = find_copy_folder(base.url)
        if folder.exists():
            with translate_os_errors(folder, "write"):
                delete_path(folder)
    return SourceRemoved(source=summary, dry_run=dry_run, returns=False)

"""Reads and writes the objects of a store: a folder, S3, Google Cloud, Azure, or a web server.

Only `obstore` is used, with the credentials that it finds in the environment. Its exceptions say
what happened in their own words, but for those that refuse access.
"""

import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

from kebab.config.settings import FILE_ADDRESS, is_address
from kebab.errors.catalog import InvalidInput, IoError, Locked, Op
from kebab.errors.redaction import redact_start
from kebab.errors.system import build_io_error, translate_import_errors, translate_os_errors
from kebab.platform import hold_lock, replace_file

FEATURE, EXTRA = "published knowledge bases", "published"
_CONNECT_S, _REQUEST_S, _RETRIES, _RETRY_S = 5, 120, 3, 30
_THREADS, _MOST_FAILURES = 8, 5
"""How many objects are read at once, and after how many failures the others are left."""
_ATTEMPTS = re.compile(r"Error performing [A-Z]+ \S+ in \S+?(, after [^-]*)? - ")
_LONGEST_CAUSE = 300
_REFUSALS = ("PermissionDeniedError", "UnauthenticatedError")
_DENIED = "access denied; the credentials of the environment do not allow it, or have expired"
_CODE = re.compile(r"<Code>(\w+)</Code>")  # of a reply of S3, such as ExpiredToken


class StoredObject(NamedTuple):
    """An object of a listing; `modified` is in seconds since the epoch."""

    name: str
    size: int
    modified: float


class Versioned(NamedTuple):
    """The content of an object, and what names this version of it."""

    data: bytes
    tag: Mapping[str, str]


def resolve_address(text: str, field: str) -> str:
    """Return the address that a user gave, without a slash at its end; that of a folder too.

    Raises:
        InvalidInput: The text in this field of the request is neither an address nor a folder.
    """
    folder = text.removeprefix(FILE_ADDRESS)
    if is_address(text) and folder == text:
        return text.rstrip("/")
    if not folder or "\0" in folder or "://" in folder:
        raise InvalidInput(field=field, cause="neither a folder nor an address of a store")
    return f"{FILE_ADDRESS}{os.path.abspath(os.path.expanduser(folder))}"  # noqa: PTH100, PTH111 - keeps links


class ObjectStore:
    """The objects below an address. Every method raises `IoError` when the store refuses."""

    def __init__(self, address: str) -> None:
        """Send nothing yet.

        Raises:
            InvalidInput: The address cannot be read.
            DependencyMissing: The extra is not installed.
        """
        self.is_local = address.startswith(FILE_ADDRESS) or not is_address(address)
        folder = Path(os.path.abspath(address.removeprefix(FILE_ADDRESS)))  # noqa: PTH100 - links stay
        self.address = str(folder) if self.is_local else address
        with translate_import_errors(FEATURE, "obstore", EXTRA):
            import obstore
            from obstore import exceptions

        self._library, self._faults = obstore, exceptions

    @cached_property
    def _store(self) -> Any:
        if self.is_local:
            return self._library.store.LocalStore(self.address)
        client: Any = {"allow_http": True}
        client.update(connect_timeout=f"{_CONNECT_S}s", timeout=f"{_REQUEST_S}s")
        retry: Any = {"max_retries": _RETRIES, "retry_timeout": timedelta(seconds=_RETRY_S)}
        build: Any = self._library.store.from_url
        return build(self.address, client_options=client, retry_config=retry)

    @property
    def _exists(self) -> bool:
        """Whether there may be objects; a folder is made when the first is written."""
        return not self.is_local or Path(self.address).is_dir()

    def describe(self, name: str) -> str:
        """Return the address of an object, for errors."""
        return f"{self.address.rstrip('/')}/{name}"

    @contextmanager
    def _translate(self, name: str, op: Op) -> Iterator[None]:
        try:
            yield
        except self._faults.BaseError as fault:
            cause = _DENIED if type(fault).__name__ in _REFUSALS else _shorten(fault)
            if code := _CODE.search(str(fault)):
                cause += f" ({code[1]})"
            raise IoError(path=self.describe(name), op=op, cause=cause) from fault
        except OSError as fault:
            raise build_io_error(fault, op, self.describe(name)) from fault
        except ValueError as fault:
            raise InvalidInput(field="$.address", cause=_shorten(fault)) from fault

    def read_version(self, name: str) -> Versioned | None:
        """Return the content of an object with its version; None when there is none."""
        if not self._exists:
            return None
        with self._translate(name, "read"):
            try:
                found = self._store.get(name)
                data = bytes(found.bytes())
            except FileNotFoundError:
                return None
            tag = {part: one for part in ("e_tag", "version") if (one := found.meta.get(part))}
        return Versioned(data, tag)

    def replace(self, name: str, data: bytes, before: Versioned | None) -> None:
        """Write an object if it still has a version, or is still missing.

        Raises:
            Locked: Somebody else has written it.
        """
        refusal = Locked(path=self.describe(name), holder_pid=None)
        if self.is_local:
            path = Path(self.address, name)
            with translate_os_errors(path, "write"):
                path.parent.mkdir(parents=True, exist_ok=True)
                with hold_lock(path.with_name(f".{name}.lock")):
                    if (path.read_bytes() if path.exists() else None) != (before and before.data):
                        raise refusal
                    with replace_file(path, 0o644) as draft:
                        draft.write(data)
            return
        mode: Any = "create" if before is None else {**before.tag}
        with self._translate(name, "write"):
            try:
                self._store.put(name, data, mode=mode, use_multipart=False)
            except (self._faults.AlreadyExistsError, self._faults.PreconditionError):
                # A request that was repeated after a lost reply meets what it wrote itself.
                found = self.read_version(name)
                if found is None or found.data != data:
                    raise refusal from None

    def list(self, folder: str) -> Iterator[StoredObject]:
        """Yield the objects below a folder."""
        if not self._exists:
            return
        with self._translate(folder, "read"):
            for batch in self._store.list(folder):
                for one in batch:
                    modified = one["last_modified"].timestamp()
                    yield StoredObject(one["path"], one["size"], modified)

    def download_all(
        self,
        objects: Iterable[StoredObject],
        folder: Path,
        is_stopped: Callable[[], bool] = lambda: False,
    ) -> Iterator[tuple[StoredObject, IoError | None]]:
        """Write objects into a folder, until `is_stopped`; yield each with its fault.

        When the folder cannot be written, or several objects cannot be read, the others are left.
        """
        ends, failures = Event(), 0

        def fetch(one: StoredObject) -> tuple[StoredObject, IoError | None] | None:
            if ends.is_set() or is_stopped():
                return None
            try:
                self._download(one, folder / one.name)
            except IoError as fault:
                return one, fault
            return one, None

        with ThreadPoolExecutor(_THREADS) as pool:
            try:
                for one, fault in filter(None, pool.map(fetch, objects)):
                    failures += fault is not None
                    if failures == _MOST_FAILURES or (fault and fault.op != "read"):
                        ends.set()
                    yield one, fault
            finally:
                ends.set()

    def _read_parts(self, name: str) -> Iterator[bytes]:
        with self._translate(name, "read"):
            yield from map(bytes, self._store.get(name).stream())

    def _download(self, one: StoredObject, target: Path) -> None:
        """Write an object to a file, as a whole or not at all.

        One that was replaced after it was listed is refused for its size, or is read again by the
        next run for its time.
        """
        with translate_os_errors(target, "write"):
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with replace_file(target) as draft:
                size = sum(draft.write(part) for part in self._read_parts(one.name))
                if size != one.size:
                    cause = f"{size} bytes came instead of {one.size}"
                    raise IoError(path=self.describe(one.name), op="read", cause=cause)
            os.utime(target, (one.modified, one.modified))


def build_empty_error(address: str, known: int) -> IoError:
    """Return the signal for a store without objects; those that were there stay in the index."""
    cause = "there are no objects below the address"
    if known:
        cause += f", but {known} were there; `kebab source rm {shlex.quote(address)}` removes them"
    return IoError(path=address, op="read", cause=cause)


def _shorten(fault: BaseException) -> str:
    """Return the first line of a message, without secrets."""
    text = _ATTEMPTS.sub("", str(fault).split("\n", 1)[0].split(": <", 1)[0])
    return redact_start(text, _LONGEST_CAUSE)

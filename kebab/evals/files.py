"""Files that an evaluation leaves behind, each written wholly or not at all."""

import errno
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from kebab.errors.catalog import InvalidInput
from kebab.errors.refusal import refused, unfit
from kebab.wire.evals import EvalReport
from kebab.wire.golden import GoldenQuery
from kebab.wire.record import decode_request, encode


def require_place(path: Path) -> None:
    """Refuse a place before long work, rather than after it.

    Raises:
        IoError: There is no such folder, or a folder is there.
    """
    with refused(path, "create"):
        if not path.parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, "no such folder")
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, "it is a folder")


def lines_of(queries: Iterable[GoldenQuery]) -> bytes:
    """Return golden questions as JSONL."""
    return b"".join(encode(one) + b"\n" for one in queries)


def write_whole(path: Path, data: bytes) -> None:
    """Write a file; until all of it is written, what was there stays.

    Raises:
        IoError: The file system refused.
    """
    place = Path(os.path.realpath(path))
    draft = place.with_name(f".{place.name}.{os.getpid()}")
    try:
        with refused(path, "write"):
            draft.write_bytes(data)
            draft.replace(place)
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def read_report(path: Path) -> EvalReport:
    """Return a report that was kept.

    Raises:
        InvalidInput: The file is no report.
        IoError: It cannot be read.
    """
    if path.is_dir():
        raise unfit(path, "it is a folder")
    with refused(path, "read"):
        raw = path.read_bytes()
    try:
        report: EvalReport = decode_request(raw, EvalReport)
    except InvalidInput as fault:
        cause = f"not an `eval_report.v1`: {fault.cause}"
        raise InvalidInput(field=str(path), cause=cause) from fault
    return report

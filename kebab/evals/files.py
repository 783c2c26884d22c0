"""Files that an evaluation leaves behind, each written wholly or not at all."""

import os
from contextlib import suppress
from pathlib import Path

from kebab.errors.catalog import InvalidInput, IoError
from kebab.errors.refusal import refused, unfit
from kebab.wire.evals import EvalReport
from kebab.wire.record import decode_request


def require_place(path: Path, *, force: bool = True) -> None:
    """Refuse a place before long work, rather than after it.

    Raises:
        IoError: There is no such folder, or something that is not to be replaced is there.
    """
    if not path.parent.is_dir():
        raise IoError(path=str(path), op="create", cause="no such folder")
    if path.is_dir():
        raise IoError(path=str(path), op="create", cause="it is a folder")
    if path.exists() and not force:
        cause = "it is there already; `--force` replaces it"
        raise IoError(path=str(path), op="create", cause=cause)


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

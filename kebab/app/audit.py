"""The log of faults: what the public view leaves out, one JSON object a line."""

import json
import os
import time
import traceback
from pathlib import Path

from kebab import __version__
from kebab.app.classify import Fault, chain
from kebab.app.moment import stamp

_MAX_BYTES = 2_000_000


def record(fault: BaseException, known: Fault, log: Path) -> None:
    """Append a fault to the log, which only its owner may read; a full disk is no second fault."""
    line = json.dumps(
        {
            "schema_version": "error_audit.v1",
            "timestamp": stamp(time.time()),
            "correlation_id": known.reply.correlation_id,
            "code": known.reply.code,
            "operation": known.reply.operation,
            "kebab_version": __version__,
            "chain": chain(fault),
            "traceback": traceback.format_exception(fault),
        }
    )
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        _rotate(log)
        flags = os.O_APPEND | os.O_CREAT | os.O_WRONLY
        with os.fdopen(os.open(log, flags, 0o600), "a", encoding="utf-8") as file:
            file.write(line + "\n")
    except OSError:
        return


def _rotate(log: Path) -> None:
    if log.exists() and log.stat().st_size > _MAX_BYTES:
        log.replace(log.with_suffix(".log.1"))

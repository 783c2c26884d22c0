"""The audit view of a fault: what the public view leaves out, for the log of this machine."""

import os
import platform
import time
import traceback
from dataclasses import dataclass
from pathlib import Path

from kebab import __version__
from kebab.app.classify import Fault, chain
from kebab.app.log import append
from kebab.app.moment import stamp
from kebab.app.redaction import redacted, redacted_arguments, redacted_start
from kebab.wire.audit import AuditMeta, ErrorAudit
from kebab.wire.record import encode, envelop

_LONGEST_TEXT = 4_000
_LONGEST_LINE = 300
_MOST_ARGUMENTS = 100
_HEAD, _TAIL = 40, 120
"""How many lines of a traceback are kept from its beginning and from its end."""


@dataclass(frozen=True, slots=True)
class Call:
    """The call that failed: its command line after `kebab`, and its knowledge base if known."""

    arguments: tuple[str, ...] = ()
    data_dir: str | None = None


def record(fault: BaseException, known: Fault, call: Call, log: Path) -> bool:
    """Append a fault to the log, which only its owner may read; return whether it was kept."""
    line = audit(fault, known, call)
    command, when, status = line.operation, line.occurred_at, line.status
    return append(log, encode(envelop(line, command=command, timestamp=when, exit_code=status)))


def audit(fault: BaseException, known: Fault, call: Call) -> ErrorAudit:
    """Return all that is known of a fault, without secrets."""
    reply = known.reply
    return ErrorAudit(
        correlation_id=reply.correlation_id,
        occurred_at=stamp(time.time()),
        operation=reply.operation,
        status=int(known.exit),
        code=reply.code,
        kind=reply.kind,
        retry=reply.retry,
        severity=reply.severity,
        message=redacted_start(str(fault), _LONGEST_TEXT) or type(fault).__name__,
        chain=[_cut(one, _LONGEST_TEXT) for one in chain(fault)],
        traceback=_traceback(fault),
        meta=_meta(call),
    )


def _traceback(fault: BaseException) -> list[str]:
    """Return where a fault was raised; of a very long way its beginning and its end."""
    text = redacted("".join(traceback.format_exception(fault)))
    lines = [_cut(line, _LONGEST_LINE) for line in text.splitlines()]
    dropped = len(lines) - _HEAD - _TAIL
    if dropped <= 0:
        return lines
    return [*lines[:_HEAD], f"… {dropped} lines", *lines[-_TAIL:]]


def _meta(call: Call) -> AuditMeta:
    argv = redacted_arguments(call.arguments[:_MOST_ARGUMENTS], _LONGEST_LINE)
    return AuditMeta(
        kebab_version=__version__,
        python=platform.python_version(),
        platform=f"{platform.system()} {platform.release()} {platform.machine()}",
        argv=argv,
        data_dir=redacted(call.data_dir),
        pid=os.getpid(),
    )


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"

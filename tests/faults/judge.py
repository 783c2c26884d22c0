"""What must hold after every fault, whatever it was."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from kebab.errors.catalog import Generic, build_catalog
from kebab.errors.signal import Exit
from tests.contract.conftest import check_channel, load_validators
from tests.fakes.console import CommandResult
from tests.faults.session import Command
from tests.faults.world import Injection

_ERRORS = frozenset({Exit.ERROR, Exit.UNUSABLE, Exit.INTERRUPTED})
_TRACES = ("Traceback (most recent", 'File "/', "Exception ignored")
_PASSING = frozenset(
    {
        *("timestamp", "correlation_id", "trace_id", "created_at", "updated_at", "indexed_at"),
        *("timing_ms", "duration_ms", "elapsed_ms", "latency_ms", "first_token_ms", "ms"),
        *("last_ingest_at", "checked_at", "issued_at", "took_ms", "index_bytes", "modified_at"),
    }
)
"""Fields that differ from run to run."""
_FLAGS = (
    *("degraded", "warnings", "unreadable", "errors", "stale_doc_count", "skipped"),
    *("unread", "failed", "changed", "new", "gone", "unchecked_folders", "unlisted"),
)
_BY_WORDS = {("extractive ask", family) for family in ("onnx", "tokens", "memory")}
_MODELS = ("extractive ask", "model list")
_MODEL_FILES = ("model.onnx", "tokenizer.json", "tokenizer_config.json", "manifest.json")
_ABSENT = frozenset({"ENOENT", "ELOOP"})


@dataclass(slots=True)
class Verdict:
    """What came of one fault: the code that was reported, and everything that must not be."""

    name: str
    status: int
    code: str | None = None
    flagged: bool = False
    broken: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Case:
    """A command, what befell it, and what it says when nothing does."""

    command: Command
    injection: Injection
    clean: CommandResult

    def __str__(self) -> str:
        return f"{self.command.name} / {self.injection}"

    @property
    def channel(self) -> bool:
        """Whether something may have been said before, which cannot be taken back."""
        return self.injection.family in ("channel", "interrupt")

    @property
    def mute(self) -> bool:
        """Whether an error could not be said, or its saying was interrupted."""
        failing = self.clean.status in _ERRORS
        told = self.injection.point == "channel.err" and (self.injection.lasting or failing)
        return told or (self.injection.family == "interrupt" and failing)

    @property
    def truth(self) -> bool:
        """Whether another result is right, because the files are other ones for this moment."""
        point, fault = self.injection.point, self.injection.fault.name
        return (
            fault in _ABSENT
            or self.injection.family in ("server", "clock")
            or self.command.name == "dry run"
            or (point, fault) == ("fs.read:notes", "short")
            or (self.command.name, self.injection.family) in _BY_WORDS
            or (self.command.name in _MODELS and point.endswith(("models", *_MODEL_FILES)))
            or (self.command.name == "model list" and point.endswith("kebab.sqlite"))
            or (fault == "missing" and "_versions" in point)
        )


def judge_run(case: Case, ran: CommandResult) -> Verdict:
    """Return what a run did wrong, by its channels and its status alone."""
    command = case.command
    verdict = Verdict(str(case), ran.status)
    if any(mark in text for mark in _TRACES for text in (ran.out, ran.err)):
        verdict.broken.append(f"traceback: {(ran.err or ran.out).strip().splitlines()[-1][:200]}")
    try:
        out, err = (_read_channel(text, case, ran.status) for text in (ran.out, ran.err))
    except (AssertionError, ValueError, KeyError) as fault:
        verdict.broken.append(f"schema: {type(fault).__name__}: {str(fault)[:300]}")
        return verdict
    except Exception as fault:  # noqa: BLE001 - the validator's own class, whatever it is called
        verdict.broken.append(f"schema: {str(fault)[:300]}")
        return verdict
    errors = [one for one in err if one["schema_version"] == "error.v1"]
    verdict.code = errors[0]["code"] if errors else None
    if not case.mute:
        verdict.broken += _check_status(case, ran.status, errors, out)
    if not errors:
        verdict.flagged = _is_flagged(out)
        if not command.writes and ran.status in (Exit.DONE, Exit.NO):
            verdict.broken += _is_silently_different(case, verdict, ran)
    return verdict


def _read_channel(text: str, case: Case, status: int) -> list[dict[str, Any]]:
    """Return the objects of a channel, held to their schemas and to the envelope."""
    if not case.channel:
        return check_channel(text, status=status, command=case.command.label)
    whole, _, cut = text.rpartition("\n")
    assert case.injection.fault.name == "torn" or not cut
    found = [json.loads(line) for line in whole.splitlines()]
    for one in found:
        load_validators()[one["schema_version"]].validate(one)
    return found


def _check_status(
    case: Case, status: int, errors: list[dict[str, Any]], out: list[dict[str, Any]]
) -> list[str]:
    found = []
    if len(errors) > 1:
        found.append(f"status: {len(errors)} errors")
    if errors and out and not case.command.lines and not case.channel:
        found.append("stdout: not empty beside an error")
    if errors and status != _exits()[errors[0]["code"]]:
        found.append(f"status: {status} for {errors[0]['code']}")
    if not errors and status in _ERRORS and not out:
        found.append(f"status: {status} and no word")
    # A bulk search exits 2 when every line failed; each line has its own error.
    failed = case.command.lines and out and all(one.get("error") for one in out)
    if not errors and status == Exit.ERROR and not failed:
        found.append("status: an error without `error.v1`")
    if not out and not errors and status != Exit.READER_GONE:
        found.append("status: nothing was said")
    if errors and errors[0]["code"] == Generic.code:
        found.append("generic")
    return found


def _is_silently_different(case: Case, verdict: Verdict, ran: CommandResult) -> list[str]:
    """Return whether a result differs from the right one without saying so."""
    if case.truth or case.clean.status not in (Exit.DONE, Exit.NO):
        return []
    wrong = _told(ran.out) != _told(case.clean.out)
    return ["silent: another result, and no word of it"] if wrong and not verdict.flagged else []


def _is_flagged(out: list[dict[str, Any]]) -> bool:
    """Return whether a result says itself that it is not what it could be."""
    return any(_says(one) for one in out)


def _says(value: Any) -> bool:
    if isinstance(value, Mapping):
        if any(value.get(name) for name in _FLAGS) or value.get("error"):
            return True
        if value.get("status") in ("warn", "fail", "skip") or value.get("freshness") in (
            "changed",
            "gone",
        ):
            return True
        if value.get("coverage", value) is None:
            return True
        if "checked_at" in value and value["checked"] != value["files"]:
            return True
        return any(_says(one) for one in value.values())
    return isinstance(value, list) and any(_says(one) for one in value)


def _told(text: str) -> Any:
    return [_lasting(json.loads(line)) for line in text.splitlines()]


def _lasting(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _lasting(one) for name, one in value.items() if name not in _PASSING}
    return [_lasting(one) for one in value] if isinstance(value, list) else value


@cache
def _exits() -> dict[str, int]:
    return {code: int(row.exit) for code, row in build_catalog().items()}

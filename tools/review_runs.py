"""Reviews documents through `kebab review --stream` with a real model, and checks every line.

    python -m tools.review_runs --endpoint http://127.0.0.1:8080/v1 --model NAME FILE…

Each document is reviewed in each tier by a process of its own, with a deadline. Ctrl-C ends the
program with what it has. Every line must
match its published schema, arrive within the longest silence, and belong to a stream that ends as
the contract says; every item must lie in its file. The program prints the counts of each tier and
what broke the contract.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import jsonschema

from kebab.wire.json_schema import build_schemas

TIERS = ("quick", "deep")
_SILENCE_S = 8.0
"""The longest time without a line; heartbeats come every 3 s, and a busy machine is slower."""
_END_KINDS = {"complete", "error", "end"}
_USAGE = ("requests", "downshift_count", "forced_pagination_count", "json_repair_count")


@dataclass(slots=True)
class Recording:
    """A recorded stream: its lines with the seconds of their arrival, and how the process ended.

    `status` is None when the process did not end before its deadline.
    """

    lines: list[tuple[float, bytes]]
    status: int | None
    seconds: float


@dataclass(slots=True)
class TierReport:
    """What the reviews of one tier showed."""

    documents: int = 0
    seconds: float = 0.0
    slowest_s: float = 0.0
    longest_silence_s: float = 0.0
    counts: Counter[str] = field(default_factory=Counter)
    warnings: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def add(self, name: str, recording: Recording, raw: str) -> None:
        """Count a stream, and check it against the text of its file."""
        self.documents += 1
        self.seconds += recording.seconds
        self.slowest_s = max(self.slowest_s, recording.seconds)
        times = [0.0, *(when for when, _ in recording.lines), recording.seconds]
        silence = max(after - before for before, after in pairwise(times))
        self.longest_silence_s = max(self.longest_silence_s, silence)
        if silence > _SILENCE_S:
            self.faults.append(f"{name}: no line for {silence:.1f} s")
        self.faults += [f"{name}: {fault}" for fault in find_faults(recording, raw)]
        for page in _list_pages(_decode_lines(recording)):
            self._count_page(page)

    def _count_page(self, page: dict[str, Any]) -> None:
        self.counts["pages"] += 1
        for item in page["items"]:
            self.counts["items of rules" if "rule_id" in item else "items of the model"] += 1
            self.counts["items with a fix"] += "fix" in item
        for name in (*_USAGE, "items_dropped"):
            self.counts[name] += page["usage"][name]
        for name in ("prompt_tokens", "completion_tokens"):
            self.counts[name] += page[name]
        self.counts["degraded"] += bool(page["degraded"])
        self.warnings.update(page["warnings"])


def main() -> int:
    """Review the documents; return 1 when anything broke the contract."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--endpoint", required=True, help="the base of an OpenAI-compatible API")
    parser.add_argument("--model", required=True)
    parser.add_argument("--window", type=int, default=2048, help="the tokens of its window")
    parser.add_argument("--tier", choices=TIERS, action="append")
    parser.add_argument("--deadline", type=float, default=300.0, help="seconds for a document")
    options = parser.parse_args()
    reports = {tier: TierReport() for tier in options.tier or TIERS}
    with tempfile.TemporaryDirectory(prefix="kebab-review-") as home, suppress(KeyboardInterrupt):
        environ = build_environment(Path(home), options.endpoint, options.model, options.window)
        for file in options.files:
            for tier, report in reports.items():
                words = ["review", str(file), "--tier", tier, "--stream"]
                recording = record(words, environ, options.deadline)
                report.add(f"{tier} {file.name}", recording, _read_raw(file))
                counted = f"{recording.seconds:6.1f} s  {len(recording.lines):4} lines"
                print(f"{tier:5}  {counted}  {file.name}", file=sys.stderr, flush=True)  # noqa: T201 - progress
    print(json.dumps({tier: _describe(one) for tier, one in reports.items()}, indent=1))  # noqa: T201 - the report
    return any(one.faults for one in reports.values())


def build_environment(home: Path, endpoint: str, model: str, window: int) -> dict[str, str]:
    """Return the environment of a knowledge base of its own that asks this model."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("KEBAB_")}
    places = {f"XDG_{one}_HOME": str(home / one.lower()) for one in ("CONFIG", "DATA", "STATE")}
    return {
        **kept,
        **places,
        "HOME": str(home),
        "KEBAB_OFFLINE": "true",
        "KEBAB_MODELS_LLM_PROVIDER": "openai",
        "KEBAB_MODELS_LLM_ENDPOINT": endpoint,
        "KEBAB_MODELS_LLM_MODEL": model,
        "KEBAB_MODELS_LLM_CONTEXT_TOKENS": str(window),
    }


def record(words: Sequence[str], environ: Mapping[str, str], deadline_s: float) -> Recording:
    """Run a command line, and record the lines of its stdout."""
    began = time.monotonic()
    lines: list[tuple[float, bytes]] = []
    with subprocess.Popen(  # noqa: S603 - kebab itself
        [sys.executable, "-m", "kebab", *words],
        env=dict(environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        timer = threading.Timer(deadline_s, process.kill)
        timer.start()
        try:
            assert process.stdout is not None
            lines.extend((time.monotonic() - began, line) for line in process.stdout)
            status = process.wait()
        finally:
            late = not timer.is_alive()
            timer.cancel()
            process.kill()
    return Recording(lines, None if late else status, time.monotonic() - began)


def find_faults(recording: Recording, raw: str) -> Iterator[str]:
    """Yield how a stream breaks the contract; `raw` is the text of the file as it is."""
    if recording.status is None:
        yield "it did not end before its deadline"
    events = _decode_lines(recording)
    if len(events) != len(recording.lines):
        yield "a line is no JSON"
    for number, event in enumerate(events, 1):
        if error := next(_load_validator().iter_errors(event), None):
            yield f"line {number}: {error.json_path}: {error.message[:200]}"
    yield from _find_order_faults(events, recording.status)
    yield from _find_item_faults(events, raw)


def _find_item_faults(events: Sequence[dict[str, Any]], raw: str) -> Iterator[str]:
    uids: Counter[str] = Counter()
    size = len(raw.encode("utf-16-le", "surrogatepass")) // 2
    for page in _list_pages(events):
        uids.update(item["uid"] for item in page["items"])
        for item in page["items"]:
            start, end = item["o"]
            if not 0 <= start <= end <= size:
                yield f"item {item['uid']} lies at {start}-{end} of {size}"
    if repeated := [uid for uid, count in uids.items() if count > 1]:
        yield f"items occur twice: {', '.join(repeated)}"


def _find_order_faults(events: Sequence[dict[str, Any]], status: int | None) -> Iterator[str]:
    kinds = [str(event.get("type")) for event in events]
    if kinds[-1:] != ["end"] or kinds.count("end") != 1:
        yield f"it does not end with one `end`: {kinds[-3:]}"
    if kinds.count("complete") + kinds.count("error") != 1:
        yield "it has not one of `complete` and `error`"
    if "items" not in kinds and "error" not in kinds:
        yield "it has no page"
    for event in events:
        wanted = status if event.get("type") in _END_KINDS else None
        if event.get("exit_code") != wanted:
            yield f"`{event.get('type')}` has exit_code {event.get('exit_code')}, not {wanted}"


@cache
def _load_validator() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(build_schemas()["review_event.v1"])


def _decode_lines(recording: Recording) -> list[dict[str, Any]]:
    """Return the lines that are JSON objects."""
    events = []
    for _, line in recording.lines:
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict):
            events.append(event)
    return events


def _list_pages(events: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [event["data"]["page"] for event in events if event.get("type") == "items"]


def _read_raw(file: Path) -> str:
    return file.read_bytes().decode("utf-8-sig", "replace")


def _describe(report: TierReport) -> dict[str, Any]:
    return {
        "documents": report.documents,
        "seconds": round(report.seconds, 1),
        "slowest_s": round(report.slowest_s, 1),
        "longest_silence_s": round(report.longest_silence_s, 1),
        **dict(sorted(report.counts.items())),
        "warnings": dict(report.warnings),
        "faults": report.faults,
    }


if __name__ == "__main__":
    sys.exit(main())

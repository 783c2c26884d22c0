import time

import pytest

from kebab.embed.sources import ChildProcess, build_module_arguments


def run(tmp_path, program, life="^alive"):
    return ChildProcess(("-c", program), tmp_path / "work", {"EXTRA": "yes"}, life)


def finished(child):
    while child.poll_status() is None:
        time.sleep(0.01)
    child.stop()
    return child


def test_a_finished_child_has_its_status(tmp_path):
    assert finished(run(tmp_path, "raise SystemExit(3)")).poll_status() == 3


def test_a_sign_of_life_is_a_line_that_matches(tmp_path):
    assert not finished(run(tmp_path, "print('not alive')")).answered
    assert finished(run(tmp_path, "print('alive')")).answered


def test_the_sign_of_life_may_tell_the_size(tmp_path):
    child = finished(run(tmp_path, "print('answered 42')", r"^answered (?P<size>\d+)"))

    assert child.total == 42


def test_the_first_line_is_timed(tmp_path):
    assert finished(run(tmp_path, "pass")).first_line is None
    child = finished(run(tmp_path, "print('x')"))
    assert child.first_line is not None
    assert child.first_line > child.started


def test_files_grow_in_the_folder_temporary_ones_too(tmp_path):
    program = (
        "import tempfile, pathlib\n"
        "pathlib.Path('a').write_bytes(b'x' * 10)\n"
        "pathlib.Path(tempfile.mkdtemp(), 'b').write_bytes(b'x' * 5)"
    )

    assert finished(run(tmp_path, program)).count_written_bytes() == 15


def test_the_environment_is_ours_and_more(tmp_path):
    program = "import os, kebab.embed.registry; print(os.environ['EXTRA'])"
    child = finished(run(tmp_path, program))

    assert child.find_failure_reason() == "yes"


def test_the_last_words_are_the_end_of_the_traceback(tmp_path):
    child = finished(run(tmp_path, "print('before'); raise ValueError('the reason')"))

    assert child.find_failure_reason() == "ValueError: the reason"


def test_a_telling_line_is_better_than_the_last(tmp_path):
    child = finished(run(tmp_path, "print('ERROR: why'); print('bye')"))

    assert child.find_failure_reason(("no such pattern", "^ERROR")) == "ERROR: why"


def test_the_reason_of_the_system_is_taken_out_of_a_long_line(tmp_path):
    line = "Pool(host='x'): Caused by Error('<0x>: failed: [Errno -3] No such name'))"
    child = finished(run(tmp_path, f"print({line!r})"))

    assert child.find_failure_reason() == "No such name"


def test_a_silent_child_ends_with_its_status(tmp_path):
    assert (
        finished(run(tmp_path, "raise SystemExit(4)")).find_failure_reason()
        == "ended with status 4"
    )


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


def test_output_that_is_no_utf8_does_no_harm(tmp_path):
    child = finished(run(tmp_path, r"import os; os.write(1, b'\xff\xfe\n')"))

    assert child.find_failure_reason() == "\ufffd\ufffd"


@pytest.mark.parametrize("lines", [0, 5000])
def test_much_output_does_not_block(tmp_path, lines):
    assert finished(run(tmp_path, f"[print('x' * 200) for _ in range({lines})]")).poll_status() == 0

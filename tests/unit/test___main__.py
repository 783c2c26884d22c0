"""The entry point ends with an exit status of its own from its first statement on."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from tests.contract.conftest import load_validators
from tests.fakes.waiting import PATIENCE_S
from tests.shape.tree import ROOT


def start(code, *arguments):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    line = [sys.executable, "-c", code, *arguments]
    return subprocess.Popen(
        line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, text=True
    )


def test_an_interruption_before_the_imports_of_kebab_is_quiet():
    code = "import kebab.__main__ as m; print('ready', flush=True); import time; time.sleep(60)"
    process = start(code, "--help")
    assert process.stdout.readline() == "ready\n"

    process.send_signal(signal.SIGINT)

    assert process.communicate(timeout=PATIENCE_S) == ("", "")
    assert process.returncode == 130


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_failed_import_at_the_start_is_an_error(form):
    code = (
        "import sys; import kebab.__main__ as m; sys.modules['kebab.cli.channels'] = None\n"
        f"sys.argv = ['kebab', 'list', *{['--json'] if form == 'json' else []}]; m.run()"
    )
    process = start(code)
    out, err = process.communicate(timeout=PATIENCE_S)

    assert (process.returncode, out) == (2, "")
    assert "Traceback" not in err
    if form == "json":
        load_validators()["error.v1"].validate(json.loads(err))
    else:
        assert [line.partition(":")[0] for line in err.splitlines()] == ["error", "hint", "code"]


@pytest.mark.parametrize("module", ["kebab.cli.errors", "kebab.cli.context", "click"])
def test_a_lack_of_memory_behind_the_channels_is_reported(module, tmp_path):
    code = (
        "import sys; import kebab.__main__ as m\n"
        "class Finder:\n"
        "    def find_spec(name, *_):\n"
        f"        if name == {module!r}: raise MemoryError\n"
        "sys.meta_path.insert(0, Finder)\n"
        f"sys.argv = ['kebab', 'list', '--json', '--data-dir', {str(tmp_path)!r}]; m.run()"
    )
    process = start(code)
    out, err = process.communicate(timeout=PATIENCE_S)

    assert (process.returncode, out) == (2, "")
    assert json.loads(err)["code"] == "out_of_memory"


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of the address space is Linux's")
@pytest.mark.parametrize("kilobytes", [40_000, 100_000, 200_000])
def test_too_little_memory_is_never_an_empty_no(kilobytes, tmp_path):
    line = f"ulimit -v {kilobytes}; exec {sys.executable} -m kebab search bread --json"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)}
    ran = subprocess.run(
        ["sh", "-c", line], capture_output=True, env=environment, check=False, timeout=PATIENCE_S
    )

    assert ran.returncode in (2, 3)
    assert json.loads(ran.stderr.splitlines()[-1])["schema_version"] == "error.v1"


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["--version"], ["schema"], ["completion", "bash"], ["list"], ["mcp"]],
    ids=lambda words: words[0].strip("-"),
)
def test_a_closed_stdout_is_an_error(arguments, tmp_path):
    words = " ".join(arguments)
    line = f"exec {sys.executable} -m kebab {words} </dev/null >&-"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)}
    ran = subprocess.run(
        ["sh", "-c", line], capture_output=True, env=environment, check=False, timeout=PATIENCE_S
    )

    assert ran.returncode == 2
    assert b"<stdout>: Bad file descriptor" in ran.stderr


def test_interruptions_at_many_moments_leave_no_trace(tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)}
    code = "import kebab.__main__ as m; print('ready', file=sys.stderr, flush=True); m.run()"
    for step in range(12):
        process = subprocess.Popen(
            [sys.executable, "-c", f"import sys; {code}", "search", "--bulk"],
            stdin=subprocess.PIPE,  # it waits for a line when the interruption comes late
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=environment,
        )
        assert process.stderr is not None
        assert process.stderr.readline() == b"ready\n"
        time.sleep(step * 0.005)
        process.send_signal(signal.SIGINT)
        err = process.communicate(timeout=PATIENCE_S)[1]
        assert process.returncode == 130
        assert b"Traceback" not in err

"""Broken settings stop nothing that does not need them, and doctor says what is wrong."""

import os
import shlex

import pytest

from tests.contract.conftest import check_channel

BROKEN = {
    "missing": None,
    "not TOML": "limit = = 3\n",
    "unknown key": "# mine\n[search]\nlimmit = 3\n",
    "bad value": "[ask]\n\nlimit = 0\n",
    "unknown model": '[models.embedding]\nmodel = "nope"\n',
}
CAUSES = {
    "missing": "no such file",
    "not TOML": "line 1",
    "unknown key": "line 3: unknown key `search.limmit`, did you mean `search.limit`?",
    "bad value": "line 3: `ask.limit`: Expected `int` >= 1",
    "unknown model": "models.embedding.model",
}


@pytest.fixture(params=BROKEN)
def broken(request, empty):
    """A settings file with one fault, and its cause."""
    file = empty / "my settings.toml"
    if BROKEN[request.param] is not None:
        file.write_text(BROKEN[request.param])
    return file, CAUSES[request.param]


def find_configuration(ran):
    (reply,) = check_channel(ran.out, status=ran.status, command="doctor")
    assert reply["checks"][0]["name"] == "configuration"
    return reply, reply["checks"][0]


def test_doctor_reports_broken_settings_first_and_goes_on(broken, kebab):
    file, cause = broken

    ran = kebab("doctor", "--config", str(file), "--json")

    reply, first = find_configuration(ran)
    assert (ran.status, reply["ok"], first["status"]) == (3, False, "fail")
    assert cause in first["summary"]
    assert len([one for one in reply["checks"] if one["status"] == "ok"]) > 3
    assert ran.err == ""


def test_the_fix_of_doctor_repairs_broken_settings_and_keeps_a_copy(broken, kebab):
    file, _ = broken
    before = file.read_bytes() if file.exists() else None
    _, first = find_configuration(kebab("doctor", "--config", str(file), "--json"))

    assert kebab(*shlex.split(first["fix"])[1:]).status == 0

    _, healed = find_configuration(kebab("doctor", "--config", str(file), "--json"))
    assert healed["status"] == "ok"
    copy = file.with_name(f"{file.name}.bak")
    assert (copy.read_bytes() if copy.exists() else None) == before


def test_what_needs_no_settings_works_with_broken_ones(broken, kebab):
    for line in (
        *("--help", "--version", "search --help", "explain locked", "errors"),
        *("schema --errors", "schema --commands", "completion bash"),
    ):
        assert kebab("--config", str(broken[0]), *line.split()).status == 0, line


@pytest.mark.timeout(100)  # an endless file would fill the memory
@pytest.mark.parametrize("kind", ["pipe", "folder", "endless"])
def test_a_settings_file_that_is_no_file_is_refused_and_never_waited_for(kind, empty, kebab):
    path = "/dev/zero" if kind == "endless" else str(empty / kind)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        (empty / kind).mkdir()

    ran = kebab("list", "--config", path, "--json")

    assert (ran.status, ran.fault["code"]) == (2, "config_invalid")
    assert (ran.fault["details"]["path"], ran.fault["hint"]) == (path, None)


def test_settings_can_come_from_a_pipe(empty, program):
    """A shell names the pipe of a process substitution as a file of this process."""
    reading, writing = os.pipe()
    os.write(writing, b"[search]\nlimit = 0\n")
    os.close(writing)

    ran = program("list", "--config", f"/dev/fd/{reading}", pass_fds=(reading,))
    os.close(reading)

    assert ran.status == 2
    assert "line 2: `search.limit`" in ran.err


def test_a_missing_settings_file_is_written_where_the_caller_named_it(empty, kebab, monkeypatch):
    monkeypatch.chdir(empty)
    own = empty / "config" / "kebab" / "config.toml"
    own.parent.mkdir(parents=True)
    own.write_text('workspace = "/mine"\n')

    hint = kebab("--config", "missing.toml", "search", "x", "--json").fault["hint"]

    assert hint == "kebab --config missing.toml init"
    assert kebab(*shlex.split(hint)[1:]).status == 0
    assert (empty / "missing.toml").exists()
    assert own.read_text() == 'workspace = "/mine"\n'
    assert kebab("--config", "missing.toml", "search", "x").status == 3

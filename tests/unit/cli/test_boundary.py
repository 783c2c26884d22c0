import json
from typing import Any

import click
import pytest

from kebab.cli.boundary import guarded, usage
from kebab.cli.channels import Channel, Channels
from kebab.cli.interrupt import Interrupts
from kebab.cli.session import Session
from kebab.errors.catalog import ConfigInvalid, IoError, Locked, NotIndexed, UsageInvalid
from tests.shape.libraries import own_exceptions

CASES = [
    (Locked(path="x", holder_pid=7), 2, "locked"),
    (NotIndexed(data_dir="x", expected=1, found=None), 3, "not_indexed"),
    (ConfigInvalid(path="x", cause="y"), 2, "config_invalid"),
    (KeyboardInterrupt(), 130, "cancelled"),
    (click.Abort(), 130, "cancelled"),
    (click.UsageError("No such thing."), 2, "usage_invalid"),
    (PermissionError(13, "Permission denied", "/secret"), 2, "io_error"),
    (RuntimeError("a bug"), 2, "generic"),
    (SystemExit(0), 2, "generic"),
    (RecursionError("too deep"), 2, "generic"),
]


@pytest.fixture
def err(tmp_path):
    with (tmp_path / "err").open("w+b") as file:
        yield file


@pytest.fixture
def session(err):
    out = Channel(-1, "<stdout>")
    return Session(Channels(out, Channel(err.fileno(), "<stderr>")), Interrupts(lambda: None))


def failing(fault):
    def work():
        raise fault

    return work


def written(err):
    err.seek(0)
    return err.read().decode()


@pytest.mark.parametrize(("fault", "status", "code"), CASES, ids=lambda one: type(one).__name__)
def test_under_json_every_fault_is_one_line(session, err, fault, status, code):
    session.arguments = ("--json",)
    session.flags.machine = True

    assert guarded(session, failing(fault)) == status
    (line,) = written(err).splitlines()
    assert (json.loads(line)["code"], json.loads(line)["exit_code"]) == (code, status)


@pytest.mark.parametrize(("fault", "status", "code"), CASES, ids=lambda one: type(one).__name__)
def test_for_a_person_every_fault_is_a_few_lines(session, err, fault, status, code):
    assert guarded(session, failing(fault)) == status
    text = written(err)
    assert text.startswith("error: ")
    assert f"code: {code}\n" in text
    assert "Traceback" not in text


def test_the_status_of_work_that_ends_well_is_its_own(session, err):
    assert guarded(session, lambda: 1) == 1
    assert written(err) == ""


def test_a_reader_that_went_away_hears_nothing(session, err):
    assert guarded(session, failing(BrokenPipeError())) == 141
    assert written(err) == ""


def test_a_closed_stderr_still_leaves_the_status(session):
    session.channels = Channels(session.channels.out, Channel(-1, "<stderr>"))

    assert guarded(session, failing(NotIndexed(data_dir="x", expected=1, found=None))) == 2


def test_there_is_one_report_only(session, err):
    guarded(session, failing(KeyboardInterrupt()))

    assert guarded(session, failing(KeyboardInterrupt())) == 130
    assert written(err).count("error:") == 1


def test_a_stream_that_cannot_be_ended_leaves_the_report(session, err):
    def refuse(_):
        raise IoError(path="<stdout>", op="write", cause="No space left on device")

    session.on_fault = refuse

    assert guarded(session, failing(Locked(path="x", holder_pid=7))) == 2
    assert "pid 7" in written(err)


def test_others_hear_of_a_fault_first(session):
    heard: list[Any] = []
    session.on_fault = heard.append

    guarded(session, failing(Locked(path="x", holder_pid=7)))

    assert [one.reply.code for one in heard] == ["locked"]


def test_a_fault_is_kept_in_the_log_under_its_correlation_id(session, err, home):
    session.flags.machine = True

    guarded(session, failing(RuntimeError("a bug")))

    (line,) = (home / "state" / "kebab" / "kebab.log").read_text().splitlines()
    assert json.loads(line)["correlation_id"] == json.loads(written(err))["correlation_id"]


@pytest.mark.parametrize("fault", [KeyboardInterrupt(), click.UsageError("x"), BrokenPipeError()])
def test_what_is_no_fault_of_kebab_is_not_in_the_log(session, home, fault):
    guarded(session, failing(fault))

    assert not (home / "state").exists()


def test_the_log_knows_the_call_also_without_usable_settings(session, home, monkeypatch):
    session.arguments = ("search", "x", "--password=hunter2")
    session.flags.config = str(home / "none.toml")
    session.flags.data_dir = "/elsewhere"
    guarded(session, failing(ConfigInvalid(path="x", cause="y")))

    meta = json.loads((home / "state" / "kebab" / "kebab.log").read_text())["meta"]

    assert meta["argv"] == ["search", "x", "--password=[redacted]"]
    assert meta["data_dir"] == "/elsewhere"


def test_a_log_that_cannot_be_written_changes_nothing(session, err, home):
    (home / "state").write_text("in the way")

    assert guarded(session, failing(RuntimeError("a bug"))) == 2
    assert "code: generic" in written(err)
    assert "log:" not in written(err)


def test_the_language_of_the_environment_holds_also_without_usable_settings(
    session, err, monkeypatch
):
    monkeypatch.setenv("KEBAB_LANG", "ko_KR.UTF-8")
    monkeypatch.setenv("KEBAB_SEARCH_LIMIT", "many")

    guarded(session, failing(ConfigInvalid(path="x", cause="y")))

    assert written(err).startswith("error: 설정을 사용할 수 없습니다: x: y\n")


def test_a_bug_names_the_log(session, err, home):
    guarded(session, failing(RuntimeError("a bug")))

    assert f"log: {home}/state/kebab/kebab.log: " in written(err)


def test_a_mistyped_line_names_the_help_of_its_command(kebab):
    for line in (["search", "x", "--nope"], ["search", "x", "-n", "many"]):
        assert kebab(*line, "--json").fault["hint"] == "kebab search --help"


def test_a_command_that_refuses_what_was_typed_names_its_own_help(session, err):
    session.command = "model use"

    guarded(session, failing(UsageInvalid(option="name", cause="the settings name another")))

    assert "hint: kebab model use --help" in written(err)


@pytest.mark.parametrize(
    ("fault", "option", "cause"),
    [
        (click.NoSuchOption("--colour"), "--colour", "no such option '--colour'"),
        (click.BadParameter("x", param=click.Option(["-n", "--limit"])), "--limit", None),
        (click.MissingParameter(param=click.Argument(["name"])), "NAME", None),
        (click.UsageError("Missing command."), "", "missing command"),
    ],
)
def test_a_usage_error_names_the_culprit(fault, option, cause):
    signal = usage(fault)

    assert signal.option == option
    assert cause in (None, signal.cause)
    assert not signal.cause.endswith(".")


def test_the_home_directory_is_written_short_when_the_settings_say_so(
    session, err, home, monkeypatch
):
    monkeypatch.setenv("KEBAB_ERRORS_REDACT_HOME", "true")

    guarded(session, failing(RuntimeError("a bug")))
    session.reported = False
    guarded(session, failing(PermissionError(13, "Permission denied", f"{home}/x")))

    assert "log: ~/state/kebab/kebab.log: " in written(err)
    assert "cannot read ~/x: " in written(err)


def test_every_exception_of_click_is_one_of_usage_or_an_ending():
    endings = {click.exceptions.Abort, click.exceptions.Exit}

    usages = {kind for kind in own_exceptions("click") if issubclass(kind, click.ClickException)}

    assert own_exceptions("click") == usages | endings

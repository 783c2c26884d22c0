import json
from typing import Any

import click
import pytest

from kebab.cli.channels import OutputChannel, OutputChannels
from kebab.cli.context import CommandContext, Interrupts
from kebab.cli.errors import (
    convert_click_error,
    describe_error,
    find_parameter_name,
    report_missing_library,
    run_reporting_errors,
)
from kebab.config.load import read_settings
from kebab.errors.catalog import (
    ConfigInvalid,
    InvalidInput,
    IoError,
    Locked,
    NotIndexed,
    UsageInvalid,
)
from tests.contract.conftest import load_validators
from tests.shape.libraries import list_own_exceptions

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
def context(err):
    out = OutputChannel(-1, "<stdout>")
    return CommandContext(
        OutputChannels(out, OutputChannel(err.fileno(), "<stderr>")), Interrupts(lambda: None)
    )


def failing(fault):
    def work():
        raise fault

    return work


def written(err):
    err.seek(0)
    return err.read().decode()


@pytest.mark.parametrize(("fault", "status", "code"), CASES, ids=lambda one: type(one).__name__)
def test_with_json_every_error_is_one_line(context, err, fault, status, code):
    context.arguments = ("--json",)
    context.flags.machine = True

    assert run_reporting_errors(context, failing(fault)) == status
    (line,) = written(err).splitlines()
    assert (json.loads(line)["code"], json.loads(line)["exit_code"]) == (code, status)


@pytest.mark.parametrize(("fault", "status", "code"), CASES, ids=lambda one: type(one).__name__)
def test_without_json_every_error_is_a_few_lines(context, err, fault, status, code):
    assert run_reporting_errors(context, failing(fault)) == status
    text = written(err)
    assert text.startswith("error: ")
    assert f"code: {code}\n" in text
    assert "Traceback" not in text


def test_the_status_of_work_that_ends_well_is_its_own(context, err):
    assert run_reporting_errors(context, lambda: 1) == 1
    assert written(err) == ""


def test_nothing_is_written_to_a_closed_pipe(context, err):
    assert run_reporting_errors(context, failing(BrokenPipeError())) == 141
    assert written(err) == ""


def test_a_closed_stderr_still_leaves_the_status(context):
    context.channels = OutputChannels(context.channels.out, OutputChannel(-1, "<stderr>"))

    assert (
        run_reporting_errors(context, failing(NotIndexed(data_dir="x", expected=1, found=None)))
        == 2
    )


def test_there_is_one_report_only(context, err):
    run_reporting_errors(context, failing(KeyboardInterrupt()))

    assert run_reporting_errors(context, failing(KeyboardInterrupt())) == 130
    assert written(err).count("error:") == 1


def test_a_stream_that_cannot_be_ended_leaves_the_report(context, err):
    def refuse(_):
        raise IoError(path="<stdout>", op="write", cause="No space left on device")

    context.on_error = refuse

    assert run_reporting_errors(context, failing(Locked(path="x", holder_pid=7))) == 2
    assert "pid 7" in written(err)


def test_on_error_is_called_before_the_report(context):
    heard: list[Any] = []
    context.on_error = heard.append

    run_reporting_errors(context, failing(Locked(path="x", holder_pid=7)))

    assert [one.reply.code for one in heard] == ["locked"]


def test_an_error_is_logged_with_its_correlation_id(context, err, home):
    context.flags.machine = True

    run_reporting_errors(context, failing(RuntimeError("a bug")))

    (line,) = (home / "state" / "kebab" / "kebab.log").read_text().splitlines()
    assert json.loads(line)["correlation_id"] == json.loads(written(err))["correlation_id"]


@pytest.mark.parametrize("fault", [KeyboardInterrupt(), click.UsageError("x"), BrokenPipeError()])
def test_interruptions_and_usage_errors_are_not_logged(context, home, fault):
    run_reporting_errors(context, failing(fault))

    assert not (home / "state").exists()


def test_the_log_has_the_call_without_usable_settings(context, home, monkeypatch):
    context.arguments = ("search", "x", "--password=hunter2")
    context.flags.config = str(home / "none.toml")
    context.flags.data_dir = "/elsewhere"
    run_reporting_errors(context, failing(ConfigInvalid(path="x", cause="y")))

    meta = json.loads((home / "state" / "kebab" / "kebab.log").read_text())["meta"]

    assert meta["argv"] == ["search", "x", "--password=[redacted]"]
    assert meta["data_dir"] == "/elsewhere"


def test_a_log_that_cannot_be_written_changes_nothing(context, err, home):
    (home / "state").write_text("in the way")

    assert run_reporting_errors(context, failing(RuntimeError("a bug"))) == 2
    assert "code: generic" in written(err)
    assert "log:" not in written(err)


def test_the_language_of_the_environment_holds_also_without_usable_settings(
    context, err, monkeypatch
):
    monkeypatch.setenv("KEBAB_LANG", "ko_KR.UTF-8")
    monkeypatch.setenv("KEBAB_SEARCH_LIMIT", "many")

    run_reporting_errors(context, failing(ConfigInvalid(path="x", cause="y")))

    assert written(err).startswith("error: 설정이 올바르지 않습니다: x: y\n")


@pytest.mark.parametrize(
    "fault",
    [
        InvalidInput(field="$.limit", cause="too large"),
        click.NoSuchOption("--colour", ctx=click.Context(click.Command("x"), info_name="other")),
        RuntimeError("a bug"),
    ],
)
def test_describing_an_error_changes_nothing(context, fault):
    context.arguments = ("search", "--lang", "ko", "--json")
    context.params = [click.Option(["-n", "--limit"])]
    flags = repr(context.flags.__reduce_ex__(2))
    before = (context.command, context.error_reported, dict(vars(fault)))

    report = describe_error(context, fault)

    assert report.machine
    assert before == (context.command, context.error_reported, dict(vars(fault)))
    assert repr(context.flags.__reduce_ex__(2)) == flags


def test_a_field_of_the_request_is_named_as_the_flag_and_keeps_its_cause(context):
    context.flags.verbose = True
    context.params = [click.Option(["-n", "--limit"])]
    fault = InvalidInput(field="$.limit", cause="too large")
    fault.__cause__ = ValueError("101")

    reply = describe_error(context, fault).classified.reply

    assert reply.details["field"] == "--limit"
    assert reply.details["chain"] == ["ValueError: 101"]
    assert fault.field == "$.limit"


def test_an_error_loads_the_settings_once(kebab, monkeypatch):
    loads = []

    def count(*arguments, **flags):
        loads.append(arguments)
        return read_settings(*arguments, **flags)

    monkeypatch.setattr("kebab.config.load.read_settings", count)
    ran = kebab("search", "broken", "--json")

    assert (ran.fault["code"], len(loads)) == ("store_corrupt", 1)


def test_a_bug_names_the_log(context, err, home):
    run_reporting_errors(context, failing(RuntimeError("a bug")))

    assert f"log: {home}/state/kebab/kebab.log: " in written(err)


def test_a_usage_error_raised_by_a_command_names_its_help(context, err):
    context.command = "model use"

    run_reporting_errors(
        context, failing(UsageInvalid(option="name", cause="the settings name another"))
    )

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
def test_a_usage_error_names_the_flag_or_argument(fault, option, cause):
    signal = convert_click_error(fault)

    assert signal.option == option
    assert cause in (None, signal.cause)
    assert not signal.cause.endswith(".")


def test_the_home_directory_is_shortened_by_the_setting(context, err, home, monkeypatch):
    monkeypatch.setenv("KEBAB_ERRORS_REDACT_HOME", "true")

    run_reporting_errors(context, failing(RuntimeError("a bug")))
    context.error_reported = False
    run_reporting_errors(context, failing(PermissionError(13, "Permission denied", f"{home}/x")))

    assert "log: ~/state/kebab/kebab.log: " in written(err)
    assert "cannot read ~/x: " in written(err)


def test_every_exception_of_click_is_one_of_usage_or_an_ending():
    endings = {click.exceptions.Abort, click.exceptions.Exit}

    usages = {
        kind for kind in list_own_exceptions("click") if issubclass(kind, click.ClickException)
    }

    assert list_own_exceptions("click") == usages | endings


MISSING = ModuleNotFoundError("No module named 'click'", name="click")


@pytest.mark.parametrize(
    "form", [["--json"], ["--stream"], ["--output-format=json"], ["--output-format", "json"]]
)
def test_json_output_gets_error_v1(form):
    said: list[str] = []

    assert report_missing_library(MISSING, said.append, ["list", *form]) == 2
    told = json.loads(said[0])
    load_validators()["error.v1"].validate(told)
    details = {"feature": "click", "install": "pip install click", "program": None, "cause": None}
    assert told["details"] == details


def test_text_output_gets_three_lines():
    said: list[str] = []

    assert report_missing_library(MISSING, said.append, ["list"]) == 2
    assert [line.partition(":")[0] for line in said[0].splitlines()] == ["error", "hint", "code"]


def test_a_missing_own_module_is_not_a_missing_library():
    said: list[str] = []
    fault = ImportError("no such name", name="kebab.cli")

    assert report_missing_library(fault, said.append, []) == 2
    assert "code: generic" in said[0]


def test_a_library_without_address_space_is_a_lack_of_memory():
    said: list[str] = []
    fault = ImportError("_core.so: failed to map segment from shared object", name="_core")

    assert report_missing_library(fault, said.append, ["--json"]) == 2
    assert json.loads(said[0])["code"] == "out_of_memory"


PARAMS = (
    click.Option(["-n", "--limit"]),
    click.Option(["--path", "path_glob"]),
    click.Option(["--tag"], multiple=True),
    click.Argument(["question"], nargs=-1, metavar="[QUESTION…]"),
    click.Argument(["start"]),
)


@pytest.mark.parametrize(
    ("field", "typed"),
    [
        ("$.limit", "--limit"),
        ("$.path_glob", "--path"),
        ("$.tag[0]", "--tag"),
        ("$.question", "QUESTION"),
        ("$.start", "START"),
        ("$.mode", "$.mode"),
        ("$", "$"),
        ("queries.jsonl:3", "queries.jsonl:3"),
    ],
)
def test_a_field_is_replaced_by_its_flag_if_there_is_one(field, typed):
    assert find_parameter_name(field, PARAMS) == typed

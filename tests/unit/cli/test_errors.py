import json

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
from kebab.cli.options import create_global_options
from kebab.errors.catalog import ConfigInvalid, IoError, Locked, ModelProtocol, NotIndexed
from tests.contract.conftest import load_validators
from tests.shape.libraries import list_own_exceptions

CASES = [
    (Locked(path="x", holder_pid=7), 2, "locked"),
    (NotIndexed(data_dir="x", expected="1", found=None), 3, "not_indexed"),
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
def test_without_json_every_error_is_a_few_lines(context, err, fault, status, code):
    assert run_reporting_errors(context, failing(fault)) == status
    text = written(err)
    assert text.startswith("error: ")
    assert f"code: {code}\n" in text
    assert "Traceback" not in text


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


def test_the_log_has_the_call_without_usable_settings(context, home, monkeypatch):
    context.arguments = ("search", "x", "--password=hunter2")
    context.flags.config = str(home / "none.toml")
    context.flags.data_dir = "/elsewhere"
    run_reporting_errors(context, failing(ConfigInvalid(path="x", cause="y")))

    meta = json.loads((home / "state" / "kebab" / "kebab.log").read_text())["meta"]

    assert meta["argv"] == ["search", "x", "--password=[redacted]"]
    assert meta["data_dir"] == "/elsewhere"


def test_the_language_of_the_environment_holds_also_without_usable_settings(
    context, err, monkeypatch
):
    monkeypatch.setenv("KEBAB_LANG", "ko_KR.UTF-8")
    monkeypatch.setenv("KEBAB_SEARCH_LIMIT", "many")

    run_reporting_errors(context, failing(ConfigInvalid(path="x", cause="y")))

    assert written(err).startswith("error: 설정이 올바르지 않습니다: x: y\n")


@pytest.mark.parametrize(
    ("fault", "option", "cause"),
    [
        (click.NoSuchOption("--colour"), "--colour", "no such option `--colour`"),
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
        ("$.tag[0]", "--tag"),
        ("$.question", "QUESTION"),
        ("$.start", "START"),
        ("$.mode", "$.mode"),
        ("queries.jsonl:3", "queries.jsonl:3"),
    ],
)
def test_a_field_is_replaced_by_its_flag_if_there_is_one(field, typed):
    assert find_parameter_name(field, PARAMS) == typed


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("doctor", "--json"), None),
        (("--data-dir", "x", "doctor"), None),
        (("ingest",), "kebab doctor"),
    ],
)
def test_a_hint_never_repeats_the_call_that_failed(context, arguments, hint):
    context.arguments, context.params = arguments, create_global_options()

    found = describe_error(context, ModelProtocol(endpoint="x", operation="ask", cause="y"))

    assert found.classified.reply.hint == hint

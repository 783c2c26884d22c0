import json
import os
import signal

import pytest

from kebab.cli.channels import OutputChannel, OutputChannels
from kebab.cli.context import (
    CommandContext,
    Interrupts,
    list_place_flags,
)
from kebab.cli.options import Flags
from kebab.errors.catalog import ConfigInvalid
from tests.fakes import replies


def new_context():
    channels = OutputChannels(OutputChannel(-1, "<stdout>"), OutputChannel(-1, "<stderr>"))
    return CommandContext(channels, Interrupts(lambda: None))


@pytest.fixture
def context():
    return new_context()


def load(file, data_dir=None):
    context = new_context()
    context.flags.config, context.flags.data_dir = str(file), data_dir
    return context.load_settings()


def test_the_envelope_has_command_timestamp_and_status(context):
    context.command = "search"

    line = context.encode_reply(replies.response(), 1)

    assert line.startswith(b'{"schema_version":"search_response.v1","command":"search"')
    assert b'"exit_code":1,"output_format":"json"' in line
    assert line.endswith(b"}\n")


def test_a_status_that_is_not_known_yet_is_null(context):
    assert b'"exit_code":null' in context.encode_reply(replies.response(), None)


def test_timestamps_are_utc_with_z(context):
    moment = json.loads(context.encode_reply(replies.response(), 0))["timestamp"]

    assert moment[10] == "T"
    assert moment[-1] == "Z"
    assert len(moment) == len("2025-01-31T12:00:00.000Z")


@pytest.mark.parametrize(
    ("arguments", "again"),
    [
        (("search", "a b"), "kebab search 'a b' --cursor X"),
        (("search", "a", "--cursor", "W", "-n", "3"), "kebab search a -n 3 --cursor X"),
        (("search", "--cursor=W", "a"), "kebab search a --cursor X"),
        (("search", "--", "-a"), "kebab search --cursor X -- -a"),
    ],
)
def test_the_next_page_is_the_same_command_with_another_cursor(context, arguments, again):
    context.arguments = arguments

    assert context.repeat_command_with("--cursor", "X") == again


def test_a_command_is_repeated_without_some_flags(context):
    context.arguments = ("search", "a", "--page", "2", "--cursor=W", "--", "-b")

    again = context.repeat_command("--page", "3", without=("--page", "--cursor"))

    assert again == "kebab search a --page 3 -- -b"


def test_flags_override_the_environment_and_that_overrides_the_file(home, monkeypatch):
    file = home / "config.toml"
    file.write_text('data_dir = "/from-file"\nworkspace = "/w"\n')

    assert load(file).data_dir == "/from-file"
    monkeypatch.setenv("KEBAB_DATA_DIR", "/from-environment")
    assert load(file).data_dir == "/from-environment"
    assert load(file, data_dir="/from-flag").data_dir == "/from-flag"
    assert load(file).workspace == "/w"


def test_the_settings_are_read_once(context, home):
    file = home / "config.toml"
    file.write_text('data_dir = "/first"\n')
    context.flags.config = str(file)
    first = context.load_settings()
    file.write_text("no TOML")

    assert context.load_settings() is first
    assert context.find_settings() is first


def test_unusable_settings_are_read_once_too(context, home):
    file = home / "config.toml"
    file.write_text("no TOML")
    context.flags.config = str(file)
    with pytest.raises(ConfigInvalid) as first:
        context.load_settings()
    file.write_text("")

    assert context.find_settings() is None
    with pytest.raises(ConfigInvalid) as second:
        context.load_settings()
    assert second.value is first.value


def test_a_named_file_that_is_missing_is_refused(context, home, monkeypatch):
    monkeypatch.setenv("KEBAB_CONFIG", str(home / "none.toml"))

    with pytest.raises(ConfigInvalid):
        context.load_settings()


def test_without_a_flag_the_settings_file_has_its_default_path(context, home):
    assert context.named_config_path is None
    assert context.config_path == home / "config" / "kebab" / "config.toml"


@pytest.fixture
def left():
    return []


@pytest.fixture
def interrupts(left):
    return Interrupts(lambda: left.append(True))


def test_work_that_is_not_cancellable_is_interrupted(interrupts):
    with pytest.raises(KeyboardInterrupt):
        interrupts.interrupt()


def test_the_first_interruption_asks_work_to_stop_and_reports_it(interrupts, left):
    said = []

    with interrupts.cancelling(lambda: said.append("stopping")) as cancel:
        interrupts.interrupt()

        assert (cancel.requested, said, left) == (True, ["stopping"], [])


def test_the_second_interruption_leaves_and_further_ones_are_ignored(interrupts, left):
    with interrupts.cancelling(lambda: None):
        interrupts.interrupt()
        with pytest.raises(KeyboardInterrupt):
            interrupts.interrupt()
        interrupts.interrupt()

    assert left == [True]


def test_completed_work_is_not_cancelled(interrupts):
    with interrupts.cancelling(lambda: None) as cancel:
        pass

    with pytest.raises(KeyboardInterrupt):
        interrupts.interrupt()
    assert not cancel.requested


def test_new_work_resets_the_count(interrupts, left):
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            interrupts.interrupt()
        assert not interrupts.repeated
        interrupts.reset()

    assert left == []


def test_a_second_interruption_is_repeated(interrupts):
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            interrupts.interrupt()

    assert interrupts.repeated


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_both_signals_are_interruptions(interrupts, number):
    before = {one: signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)}
    try:
        interrupts.install()
        with interrupts.cancelling(lambda: None) as cancel:
            os.kill(os.getpid(), number)

            assert cancel.requested
            assert interrupts.terminated == (number == signal.SIGTERM)
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def test_the_places_of_a_call_are_absolute(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)

    assert list_place_flags(Flags(data_dir="kb")) == ["--data-dir", f"{tmp_path}/kb"]
    assert list_place_flags(Flags()) == []

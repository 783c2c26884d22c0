import json

import pytest

from kebab.cli.channels import Channel, Channels
from kebab.cli.interrupt import Interrupts
from kebab.cli.session import Session
from kebab.errors.catalog import ConfigInvalid
from tests.fakes import replies


@pytest.fixture
def session():
    channels = Channels(Channel(-1, "<stdout>"), Channel(-1, "<stderr>"))
    return Session(channels, Interrupts(lambda: None))


def test_the_envelope_carries_command_moment_and_status(session):
    session.command = "search"

    line = session.encoded(replies.response(), 1)

    assert line.startswith(b'{"schema_version":"search_response.v1","command":"search"')
    assert b'"exit_code":1,"output_format":"json"' in line
    assert line.endswith(b"}\n")


def test_a_status_that_is_not_known_yet_is_null(session):
    assert b'"exit_code":null' in session.encoded(replies.response(), None)


def test_moments_are_utc_with_z(session):
    moment = json.loads(session.encoded(replies.response(), 0))["timestamp"]

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
def test_the_next_page_is_the_same_command_with_another_cursor(session, arguments, again):
    session.arguments = arguments

    assert session.again("--cursor", "X") == again


def test_flags_outrank_the_environment_and_that_outranks_the_file(session, home, monkeypatch):
    file = home / "config.toml"
    file.write_text('data_dir = "/from-file"\nworkspace = "/w"\n')
    session.flags.config = str(file)

    assert session.settings().data_dir == "/from-file"
    monkeypatch.setenv("KEBAB_DATA_DIR", "/from-environment")
    assert session.settings().data_dir == "/from-environment"
    session.flags.data_dir = "/from-flag"
    assert session.settings().data_dir == "/from-flag"
    assert session.settings().workspace == "/w"


def test_a_named_file_that_is_missing_is_refused(session, home, monkeypatch):
    monkeypatch.setenv("KEBAB_CONFIG", str(home / "none.toml"))

    with pytest.raises(ConfigInvalid):
        session.settings()


def test_without_a_name_the_settings_lie_in_the_usual_place(session, home):
    assert session.named_config() is None
    assert session.config_path() == home / "config" / "kebab" / "config.toml"

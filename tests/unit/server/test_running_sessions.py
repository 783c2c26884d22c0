import os

import pytest

from kebab.server.running import TICKET_S, Sessions, build_cookie, create_pass

PORT = 7717


@pytest.fixture
def sessions(tmp_path):
    return Sessions(tmp_path)


def get_cookie(session, port=PORT):
    return build_cookie(session, port).partition(";")[0]


def test_a_ticket_counts_once_in_all_processes(sessions, tmp_path):
    ticket = create_pass(tmp_path, "ticket")
    session = sessions.open(ticket)

    assert sessions.admits(f"other=x; {get_cookie(session)}", PORT)
    assert sessions.open(ticket) is None
    other = Sessions(tmp_path)
    assert other.open(ticket) is None
    assert other.admits(get_cookie(session), PORT)
    other.close(get_cookie(session), PORT)
    assert not sessions.admits(get_cookie(session), PORT)


@pytest.mark.parametrize(("age", "counts"), [(TICKET_S - 5, True), (TICKET_S + 1, False)])
def test_a_ticket_expires(sessions, age, counts, tmp_path):
    ticket = create_pass(tmp_path, "ticket")
    file = tmp_path / f"ticket.{ticket}"
    made = file.stat().st_mtime - age
    os.utime(file, (made, made))

    assert file.stat().st_mode & 0o777 == 0o600
    assert bool(sessions.open(ticket)) is counts
    assert sessions.open(ticket) is None


def test_a_changed_ticket_is_refused_and_a_session_is_none(sessions, tmp_path):
    ticket = create_pass(tmp_path, "ticket")
    (tmp_path / "server.json").touch()

    changed = f"{'x' if ticket[0] != 'x' else 'y'}{ticket[1:]}"
    for forged in ("", "..", "x", changed, f"{ticket}0", f"../{ticket}", "é" * 43, "/server.json"):
        assert sessions.open(forged) is None
    session = sessions.open(ticket)
    assert sessions.open(session) is None
    assert not sessions.admits(get_cookie(create_pass(tmp_path, "ticket")), PORT)


@pytest.mark.parametrize("value", ["", "é=é", "kebab-7717=", "kebab-7717=../server.json"])
def test_other_cookies_let_nobody_in(sessions, value, tmp_path):
    (tmp_path / "server.json").touch()

    assert not sessions.admits(value, PORT)
    sessions.close(value, PORT)
    assert (tmp_path / "server.json").exists()


def test_a_cookie_belongs_to_one_port_and_one_run(sessions, tmp_path):
    session = sessions.open(create_pass(tmp_path, "ticket"))

    assert not sessions.admits(get_cookie(session, 7718), PORT)
    (tmp_path / "another").mkdir()
    assert not Sessions(tmp_path / "another").admits(get_cookie(session), PORT)

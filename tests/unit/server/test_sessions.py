import pytest

from kebab.server.sessions import TICKET_S, Sessions, build_cookie, make_ticket

TOKEN, INSTANCE, PORT = "a-token-of-these-tests", "instance", 7717


@pytest.fixture
def sessions(tmp_path):
    return Sessions(TOKEN, INSTANCE, tmp_path)


def get_cookie(session, port=PORT):
    return build_cookie(session, port).partition(";")[0]


def test_a_ticket_counts_once_in_all_processes(sessions, tmp_path):
    ticket = make_ticket(TOKEN, INSTANCE)
    session = sessions.open(ticket)

    assert sessions.admits(f"other=x; {get_cookie(session)}", PORT)
    assert sessions.open(ticket) is None
    other = Sessions(TOKEN, INSTANCE, tmp_path)
    assert other.open(ticket) is None
    assert other.admits(get_cookie(session), PORT)


@pytest.mark.parametrize(("age", "counts"), [(TICKET_S - 5, True), (TICKET_S + 1, False)])
def test_a_ticket_expires(sessions, age, counts, monkeypatch):
    now = 1_000_000.0
    ticket = make_ticket(TOKEN, INSTANCE, now)
    monkeypatch.setattr("time.time", lambda: now + age)

    assert bool(sessions.open(ticket)) is counts


def test_a_changed_ticket_is_refused_and_a_session_is_none(sessions):
    ticket = make_ticket(TOKEN, INSTANCE)
    kind, expires, nonce, signature = ticket.split(".")
    later = f"{kind}.{int(expires) + 1}.{nonce}.{signature}"

    for forged in ("", "..", "x", later, f"{ticket}0", "é.é.é.é"):
        assert sessions.open(forged) is None
    session = sessions.open(ticket)
    assert sessions.open(session) is None
    assert not sessions.admits(get_cookie(make_ticket(TOKEN, INSTANCE)), PORT)


@pytest.mark.parametrize("header", ["", "é=é"])
def test_other_cookies_let_nobody_in(sessions, header):
    assert not sessions.admits(header, PORT)


def test_a_cookie_belongs_to_one_port_and_one_run(sessions, tmp_path):
    session = sessions.open(make_ticket(TOKEN, INSTANCE))

    assert not sessions.admits(get_cookie(session), 7718)
    assert not Sessions(TOKEN, "another", tmp_path).admits(get_cookie(session), PORT)

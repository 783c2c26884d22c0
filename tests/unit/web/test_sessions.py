import pytest

from kebab.web.sessions import TICKET_S, Sessions, build_cookie, make_ticket

TOKEN = "a-token-of-these-tests"
PORT = 7717


@pytest.fixture
def clock():
    return [1_000_000.0]


@pytest.fixture
def sessions(clock):
    return Sessions(TOKEN, lambda: clock[0])


def get_cookie(session, port=PORT):
    return build_cookie(session, port).partition(";")[0]


def test_a_ticket_counts_once(sessions):
    ticket = sessions.make_ticket()
    session = sessions.open(ticket)

    assert sessions.admits(f"other=x; {get_cookie(session)}", PORT)
    assert sessions.open(ticket) is None


def test_a_ticket_is_made_from_the_token_alone(sessions, clock):
    assert sessions.open(make_ticket(TOKEN, sessions.instance, clock[0]))
    assert sessions.open(make_ticket("another", sessions.instance, clock[0])) is None
    assert sessions.open(make_ticket(TOKEN, Sessions(TOKEN).instance, clock[0])) is None


@pytest.mark.parametrize(("age", "counts"), [(TICKET_S, True), (TICKET_S + 1, False)])
def test_a_ticket_expires_and_stays_used(sessions, clock, age, counts):
    used, ticket = sessions.make_ticket(), sessions.make_ticket()
    sessions.open(used)
    clock[0] += age

    assert sessions.open(used) is None
    assert bool(sessions.open(ticket)) is counts


def test_a_changed_ticket_is_refused(sessions):
    ticket = sessions.make_ticket()
    expires, nonce, signature = ticket.split(".")

    for forged in ("", "..", "x", f"{int(expires) + 1}.{nonce}.{signature}", f"{ticket}0", "é.é.é"):
        assert sessions.open(forged) is None
    assert sessions.open(ticket)


@pytest.mark.parametrize("header", ["", "kebab-7717", "kebab-7717=", "kebab-7717=x; =; ;;", "é=é"])
def test_other_cookies_let_nobody_in(sessions, header):
    assert not sessions.admits(header, PORT)
    sessions.open(sessions.make_ticket())
    assert not sessions.admits(header, PORT)


def test_a_cookie_belongs_to_one_port_and_one_run(sessions, clock):
    session = sessions.open(sessions.make_ticket())

    assert not sessions.admits(get_cookie(session), 7718)
    assert not Sessions(TOKEN, lambda: clock[0]).admits(get_cookie(session), PORT)


def test_a_session_ends_and_the_oldest_of_too_many(sessions):
    first, *others = [sessions.open(sessions.make_ticket()) for _ in range(65)]

    assert not sessions.admits(get_cookie(first), PORT)
    assert sessions.admits(get_cookie(others[0]), PORT)
    sessions.close(get_cookie(others[0]), PORT)
    assert not sessions.admits(get_cookie(others[0]), PORT)
    assert sessions.admits(get_cookie(others[1]), PORT)


def test_scripts_and_other_sites_never_get_the_cookie():
    assert build_cookie("x", 1) == "kebab-1=x; Path=/; HttpOnly; SameSite=Strict"
    assert build_cookie("", 1).endswith("; Max-Age=0")

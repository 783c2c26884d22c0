import socket
from threading import Thread

import pytest
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient

from kebab.errors.catalog import IoError
from kebab.server.guard import TOKEN_NAME, Guard, is_authorized, load_token
from tests.fakes.waiting import PATIENCE_S
from tests.unit.server.conftest import BEARER, LIMIT, TOKEN, read_until

HEALTH, SEARCH = "/v1/health", "/v1/search"
JSON = {"Content-Type": "application/json"}
BIG = b'{"query": "' + b"x" * LIMIT + b'"}'


@pytest.mark.parametrize("header", ["", "Bearer", f"Bearer {TOKEN}x"])
@pytest.mark.parametrize("path", [SEARCH, "/v1/nothing", "/", "/mcp"])
def test_without_the_token_nothing_is_told(client, path, header):
    answer = client.post(path, headers={"Authorization": header})

    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"] == 'Bearer realm="kebab"'
    assert answer.json()["code"] == "unauthorized"
    assert TOKEN not in answer.text


def test_health_needs_no_token_and_says_nothing_else(client):
    answer = client.get(HEALTH, headers={"Authorization": ""})

    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "localhost",
        "localhost.",
        "[::1]:7717",
    ],
)
def test_names_of_this_machine_are_hosts(client, host):
    assert client.get(HEALTH, headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example",   "localhost@evil.example",
     "[::1", "localhost:port",  "0.0.0.0", "localhost.evil.example:7717"],
)  # fmt: skip
def test_other_hosts_are_refused_even_with_the_token(client, host):
    answer = client.get(HEALTH, headers={"Host": host})

    assert answer.status_code == 403
    assert (answer.json()["code"], answer.json()["details"]["option"]) == ("usage_invalid", "Host")


def test_a_server_for_every_address_takes_addresses_but_no_foreign_names(make_client):
    client = make_client(host="0.0.0.0")

    assert client.get(HEALTH, headers={"Host": "192.168.1.7:7717"}).status_code == 200
    assert client.get(HEALTH, headers={"Host": "evil.example"}).status_code == 403


@pytest.mark.parametrize("name", ["Host", "Authorization", "Origin"])
def test_a_repeated_header_is_refused(client, name):
    twice = [(name, "localhost"), (name, "localhost")]
    others = [] if name == "Authorization" else list(BEARER.items())

    answer = client.request("POST", SEARCH, json={"query": "cat"}, headers=[*twice, *others])

    assert answer.status_code in (400, 401, 403)
    assert answer.json()["schema_version"] == "error.v1"


def test_a_body_that_is_too_large_is_refused_by_its_length(client, pool):
    answer = client.post(SEARCH, content=BIG, headers=JSON)

    assert answer.status_code == 413
    assert answer.json()["code"] == "too_large"
    assert answer.json()["details"]["limit"] == LIMIT
    assert not pool.lent


def test_a_body_of_unknown_length_is_counted_while_it_is_read(client, pool):
    def send():
        for _ in range(LIMIT):
            yield b"x" * 100

    answer = client.post(SEARCH, content=send(), headers=JSON)

    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    assert not pool.lent


def test_a_body_with_a_length_and_a_coding_is_refused(client, pool):
    both = {**JSON, "Content-Length": "2", "Transfer-Encoding": "chunked"}
    answer = client.post(SEARCH, content=b"{}", headers=both)

    assert (answer.status_code, answer.json()["details"]["option"]) == (400, "Content-Length")
    assert not pool.lent


def test_a_body_that_does_not_arrive_is_given_up(serve, monkeypatch):
    monkeypatch.setattr("kebab.server.guard.BODY_S", 0.2)
    address, _ = serve()
    head = f"POST {SEARCH} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n"
    with socket.create_connection(address, timeout=PATIENCE_S) as connection:
        connection.sendall(f"{head}Content-Length: 9\r\n\r\n{{".encode())
        text = read_until(connection, b'"timeout"')

    assert text.startswith(b"HTTP/1.1 408")


def test_a_token_is_created_once_and_only_its_owner_can_read_it(tmp_path):
    state = tmp_path / "state"
    token = load_token(state)
    path = state / TOKEN_NAME

    assert len(token) >= 32
    assert load_token(state) == token == path.read_text().strip()
    assert (path.stat().st_mode & 0o777, state.stat().st_mode & 0o777) == (0o600, 0o700)
    assert {one.name for one in state.iterdir()} == {TOKEN_NAME, f"{TOKEN_NAME}.lock"}


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666])
def test_a_token_that_others_could_read_is_replaced(tmp_path, mode):
    path = tmp_path / TOKEN_NAME
    path.write_text("sixteen-letters!\n")
    path.chmod(mode)

    assert load_token(tmp_path) != "sixteen-letters!"
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "text", ["", "short", "a token with spaces in it", "ünicode-ünicode-ünicode"]
)
def test_a_file_without_a_token_is_refused(tmp_path, text):
    path = tmp_path / TOKEN_NAME
    path.write_text(text)
    path.chmod(0o600)

    with pytest.raises(IoError, match="not a token"):
        load_token(tmp_path)


def test_a_folder_in_place_of_the_file_is_refused(tmp_path):
    (tmp_path / TOKEN_NAME).mkdir(mode=0o700)

    with pytest.raises(IoError):
        load_token(tmp_path)


@pytest.mark.parametrize("public", [False, True])
def test_servers_that_start_together_agree(tmp_path, public):
    found: list[str] = []
    if public:
        (tmp_path / TOKEN_NAME).write_text("sixteen-letters!")
        (tmp_path / TOKEN_NAME).chmod(0o644)
    threads = [Thread(target=lambda: found.append(load_token(tmp_path))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(found) == 8
    assert {load_token(tmp_path)} == set(found)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("Bearer secret-secret-secret", True),
        ("bearer  secret-secret-secret ", True),
        ("Bearer secret-secret-secre", False),
        ("Bearer", False),
        ("Basic secret-secret-secret", False),
        ("secret-secret-secret", False),
        ("Bearer ünicode", False),
        ("", False),
        (None, False),
    ],
)
def test_only_a_bearer_with_the_token_is_let_in(header, expected):
    assert is_authorized(header, "secret-secret-secret") is expected


@pytest.fixture
def door():
    """Return a client of a server whose page lets the cookie `in` in."""
    admits = lambda scope, cookies: scope["server"][1] == 7717 and "in" in cookies.split("; ")  # noqa: E731

    async def refuse(_, fault):
        return PlainTextResponse("refused", fault.status or 401)

    app = Guard(
        app=PlainTextResponse("here"),
        refuse=refuse,
        token=TOKEN,
        host="127.0.0.1",
        max_body_bytes=LIMIT,
        open_paths=(),
        admits=admits,
    )
    return TestClient(app, base_url="http://127.0.0.1:7717", headers={"Cookie": "a=b; in"})


@pytest.mark.parametrize(
    ("method", "headers", "status"),
    [
        ("GET", {}, 200),
        ("GET", {"Sec-Fetch-Site": "same-origin"}, 200),
        ("GET", {"Sec-Fetch-Site": "same-site"}, 401),
        ("GET", {"Cookie": "other"}, 401),
        ("POST", {"Sec-Fetch-Site": "same-site"}, 401),
        ("POST", {"Sec-Fetch-Site": "same-origin"}, 200),
        ("POST", {"Origin": "null"}, 403),
        ("POST", {"Origin": "null", "Sec-Fetch-Site": "same-origin"}, 200),
        ("POST", {"Origin": "http://127.0.0.1:3000", "Sec-Fetch-Site": "same-origin"}, 403),
    ],
)
def test_a_cookie_counts_for_requests_of_the_own_page_only(door, method, headers, status):
    assert door.request(method, "/", headers=headers).status_code == status


def test_a_link_is_not_followed(tmp_path):
    (tmp_path / "elsewhere").write_text("sixteen-letters!")
    (tmp_path / TOKEN_NAME).symlink_to(tmp_path / "elsewhere")

    with pytest.raises(IoError):
        load_token(tmp_path)

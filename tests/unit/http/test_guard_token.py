from threading import Thread

import pytest

from kebab.errors.catalog import IoError
from kebab.http.guard import TOKEN_NAME, is_authorized, load_token


def test_a_token_is_created_once_and_only_its_owner_can_read_it(tmp_path):
    state = tmp_path / "state"
    token = load_token(state)
    path = state / TOKEN_NAME

    assert len(token) >= 32
    assert load_token(state) == token == path.read_text().strip()
    assert (path.stat().st_mode & 0o777, state.stat().st_mode & 0o777) == (0o600, 0o700)
    assert [one.name for one in state.iterdir()] == [TOKEN_NAME]


def test_a_token_of_the_user_is_kept(tmp_path):
    path = tmp_path / TOKEN_NAME
    path.write_text("sixteen-letters!\n")
    path.chmod(0o600)

    assert load_token(tmp_path) == "sixteen-letters!"


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


def test_a_link_is_not_followed(tmp_path):
    (tmp_path / "elsewhere").write_text("sixteen-letters!")
    (tmp_path / TOKEN_NAME).symlink_to(tmp_path / "elsewhere")

    with pytest.raises(IoError):
        load_token(tmp_path)


def test_a_folder_in_place_of_the_file_is_refused(tmp_path):
    (tmp_path / TOKEN_NAME).mkdir(mode=0o700)

    with pytest.raises(IoError):
        load_token(tmp_path)


@pytest.mark.parametrize("attempt", range(20))
@pytest.mark.parametrize("public", [False, True])
def test_servers_that_start_together_agree(tmp_path, public, attempt):
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

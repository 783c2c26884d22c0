import itertools

import pytest

from kebab.errors.redaction import HIDDEN, redact, redact_arguments, redact_start

SECRETS = [
    ("http://me:hunter2@host:11434/v1", "hunter2"),
    ("http://me:hun@ter2@host", "ter2"),
    ("http://me:hun/ter2@host/x", "ter2"),
    ("https://ghp_secret@github.com/x", "secret"),
    ("Authorization: Bearer abc", "abc"),
    ("{'authorization': 'Basic dXNlcjpw', 'accept': '*'}", "dXNl"),
    ("Proxy-Authorization=Basic dXNlcjpw", "dXNl"),
    ("Cookie: session=abc; other=def", "abc"),
    ("x-api-key: abc", "abc"),
    ("sent with bearer hunter2, refused", "hunter2"),
    ("https://host/v1?key=hunter2&page=2", "hunter2"),
    ("https://host/v1?api_key=hunter2", "hunter2"),
    ("token=hunter2", "hunter2"),
    ("OPENAI_API_KEY=hunter2", "hunter2"),
    ("AWS_SECRET_ACCESS_KEY=hunter2/x+y", "x+y"),
    ("PGPASSWORD=hunter2", "hunter2"),
    ('password = "two words"', "words"),
    ('password="cut off', "cut"),
    ("secret='hunter2'", "hunter2"),
    ("passphrase: hunter2", "hunter2"),
    ('{"token": "hunter2", "page": 2}', "hunter2"),
    ('{"clientSecret":"hunter2"}', "hunter2"),
    ("accessToken: hunter2", "hunter2"),
    ("Incorrect API key provided: sk-proj-Ab12Cd34Ef56Gh78.", "Ab12"),
    ("sk-abc123", "abc123"),
    ("ghp_16C7e42F292c6912E7710c838347Ae178B4a", "16C7"),
    ("github_pat_11ABCDEFG0", "11AB"),
    ("AKIAIOSFODNN7EXAMPLE", "IOSF"),
    ("xoxb-123456789012-abc", "1234"),
    ("AIzaSyA1234567890abcdefghij", "SyA1"),
    ("eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.SflKxwRJSM", "Sfl"),
    ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "MIIE"),
    ("-----BEGIN PRIVATE KEY-----\nMIIE, cut off", "MIIE"),
]
HARMLESS = [
    "cannot read /home/ada/notes/keys and tokens.md: permission denied",
    "unknown key `search.limt`, did you mean `search.limit`?",
    "unexpected token: }",
    "the bearer token is missing",
    "http://127.0.0.1:11434",
    "http://host:8080/people/@ada",
    "prompt_tokens=812, completion_tokens=40",
    "models.llm.key_variable: OPENAI_API_KEY",
    "task-management-for-everyone-in-a-hurry.md",
    "monkey=banana",
    "비밀번호를 바꾸는 방법.md",
    "",
]


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_a_secret_is_redacted_and_the_rest_stays(text, secret):
    shown = redact(text)

    assert secret not in shown
    assert HIDDEN in shown
    assert redact(shown) == shown


@pytest.mark.parametrize("text", HARMLESS)
def test_harmless_text_is_unchanged(text):
    assert redact(text) == text


def test_secrets_are_found_at_every_depth():
    value = {
        "tried": ["http://me:hunter2@a", ("token=hunter2",)],
        "headers": {"authorization": "hunter2", "x-api-key": "hunter2", "accept": "*"},
        "key=hunter2": 1,
        "password": "hunter2",
        "count": 7,
        "none": None,
    }

    shown = redact(value)

    assert "hunter2" not in repr(shown)
    assert (shown["count"], shown["none"], shown["headers"]["accept"]) == (7, None, "*")
    assert shown["password"] == HIDDEN


def test_secrets_of_the_environment_are_redacted_in_any_form(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "correct horse battery")
    monkeypatch.setenv("SHORT_TOKEN", "abc")
    monkeypatch.setenv("MONKEY", "a tail and two arms")

    assert redact("it said: correct horse battery!") == f"it said: {HIDDEN}!"
    assert redact("abc, a tail and two arms") == "abc, a tail and two arms"


def test_a_secret_that_contains_another_is_redacted_whole(monkeypatch):
    monkeypatch.setenv("FIRST_API_KEY", "quiet river")
    monkeypatch.setenv("SECOND_API_KEY", "quiet river stone")

    assert redact("it said: quiet river stone") == f"it said: {HIDDEN}"


def test_the_argument_after_a_secret_flag_is_redacted():
    arguments = ("ask", "--api-key", "hunter2", "--password=hunter2", "--tag", "key", "why?")

    shown = redact_arguments(arguments, 300)

    assert "hunter2" not in " ".join(shown)
    assert shown[-3:] == ["--tag", "key", "why?"]


@pytest.mark.parametrize(
    "piece", ["secret", "eyJa-", "x-", "://", "://a:", "sk-", "key='", "bearer ", "password"]
)
def test_hostile_text_is_redacted_quickly(piece):
    assert redact(piece * 8_000)


def test_a_cut_reveals_no_part_of_a_secret():
    for before, (text, secret) in itertools.product(range(8_200, 8_292, 3), SECRETS):
        # The key shrinks, and the place where the search ends comes into the part that is shown.
        key = f"-----BEGIN PRIVATE KEY-----{'x' * (before - 60)}-----END PRIVATE KEY-----"
        long = f"{key} {text} {'x' * 20_000}"

        assert redact_start(long, 100).count(secret[:4]) <= redact(text).count(secret[:4])

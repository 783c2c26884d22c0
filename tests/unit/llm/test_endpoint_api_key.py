import pytest

from kebab.errors.catalog import ConfigInvalid
from kebab.llm.endpoint import ApiKey, parse_endpoint

SECRET = "sk-proj-Zq81LmPvXw3TnB7yRk5d"
KEY = ApiKey(SECRET, "OPENAI_API_KEY")
NONE = ApiKey("", "OPENAI_API_KEY")


def test_a_key_is_sent_as_bearer():
    assert KEY.headers == {"Authorization": f"Bearer {SECRET}"}
    assert NONE.headers == {}


@pytest.mark.parametrize(
    "secret", ["sk-\n", "sk\r\nX-Evil: 1", " sk", "sk ", " ", "sk-é", "열쇠", "sk\x00", "sk\x7f"]
)
def test_a_key_that_no_header_carries_is_refused_without_being_shown(secret):
    with pytest.raises(ConfigInvalid) as raised:
        ApiKey(secret, "MY_KEY")

    assert raised.value.path == "$MY_KEY"
    assert secret.strip() == "" or secret not in str(raised.value)


@pytest.mark.parametrize("secret", ["x", "my secret key", "a" * 500, "~!@#$%^&*()"])
def test_any_other_key_is_accepted(secret):
    assert ApiKey(secret, "MY_KEY").headers["Authorization"] == f"Bearer {secret}"


def test_a_key_is_not_in_its_own_repr():
    assert SECRET not in repr(KEY)


def test_a_key_removes_the_login_from_the_address():
    endpoint = parse_endpoint("http://me:password@gpu-box:8080")

    assert KEY.strip_login(endpoint).user_info == ""
    assert NONE.strip_login(endpoint).user_info == "me:password"


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        (f"wrong key: {SECRET}.", "wrong key: [key]."),
        (f"{SECRET}{SECRET}", "[key][key]"),
        (f"Bearer:{SECRET}!", "Bearer:[key]!"),
        (f'{{"key":"{SECRET}"}}', '{"key":"[key]"}'),
        ("Incorrect API key provided: sk-proj-****************yRk5d.", "[key]"),
        ("wrong: sk-...5d", "wrong: [key]"),
        ("wrong: sk-p... (masked)", "wrong: [key] (masked)"),
        ("wrong: sk-…k5d", "wrong: [key]"),
        ("wrong: ***Rk5d", "wrong: [key]"),
        ("it begins with sk-proj and ends in Rk5d.", "it begins with [key] and ends in [key]"),
        ("within it is 81LmPvXw3 somewhere", "within it is [key] somewhere"),
        ("auth=81LmPvXw3T&x=1", "auth=[key]&x=1"),
    ],
)
def test_a_key_and_its_parts_are_redacted(text, hidden):
    shown = KEY.redact(text)

    assert hidden in shown
    assert not any(SECRET[at : at + 8] in shown for at in range(len(SECRET) - 7))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The model `proj` does not exist...",
        "loading ... please wait",
        "maximum context length is 4096 tokens (4000 in the messages)",
        "열쇠가 틀렸다: 다시...",
        "*** error ***",
    ],
)
def test_other_words_are_not_redacted(text):
    assert KEY.redact(text) == text


def test_a_key_of_one_letter_is_redacted_only_as_a_word():
    assert ApiKey("x", "MY_KEY").redact("max of x is 5") == "max of [key] is 5"


def test_without_a_key_nothing_is_redacted():
    assert NONE.redact("sk-...abc") == "sk-...abc"

import pytest
from msgspec.structs import replace

from kebab.errors.catalog import ConfigInvalid
from kebab.llm.endpoint import ApiKey, parse_base_url, parse_endpoint


@pytest.mark.parametrize(
    ("setting", "shown"),
    [
        ("", "http://127.0.0.1:11434"),
        ("1.2.3.4", "http://1.2.3.4:11434"),
        ("1.2.3.4:5678", "http://1.2.3.4:5678"),
        ("http://1.2.3.4", "http://1.2.3.4:80"),
        ("https://example.com:4000", "https://example.com:4000"),
        ("ollama.com", "https://ollama.com:443"),
        (":8080", "http://127.0.0.1:8080"),
        ("http://0.0.0.0:8080", "http://127.0.0.1:8080"),
        ("[::]:8080", "http://[::1]:8080"),
        ("http://[2001:db8::7]", "http://[2001:db8::7]:80"),
        ("example.com/ollama", "http://example.com:11434/ollama"),
        ('"1.2.3.4"', "http://1.2.3.4:11434"),
        ("' 1.2.3.4 '", "http://1.2.3.4:11434"),
        (" 'https://example.com' ", "https://example.com:443"),
        ("example.com:0", "http://example.com:0"),
    ],
)
def test_settings_are_parsed_by_the_rules_of_ollama(setting, shown):
    endpoint = parse_endpoint(setting)

    assert endpoint.display_url == shown
    assert endpoint.problem is None


@pytest.mark.parametrize(
    ("setting", "shown"),
    [
        ("1.2.3.4:", "http://1.2.3.4:11434"),
        ("[::1]:x", "http://[::1]:11434"),
    ],
)
def test_an_invalid_port_becomes_the_default_and_is_reported(setting, shown):
    endpoint = parse_endpoint(setting)

    assert endpoint.display_url == shown
    assert "port not understood" in (endpoint.problem or "")


def test_user_info_is_sent_and_never_shown():
    endpoint = parse_endpoint("https://me:secret@example.com/ollama")

    assert endpoint.build_url("/api/tags") == "https://me:secret@example.com:443/ollama/api/tags"
    assert endpoint.display_url == "https://example.com:443/ollama"


@pytest.mark.parametrize(
    ("setting", "loopback"),
    [
        ("", True),
        ("127.8.9.1", True),
        ("::1", True),
        ("0.0.0.0", True),
        ("LocalHost", True),
        ("10.0.0.1", False),
        ("example.com", False),
        ("localhost.example.com", False),
    ],
)
def test_loopback_addresses_are_recognised(setting, loopback):
    assert parse_endpoint(setting).is_loopback is loopback


SECRET = "sk-proj-Zq81LmPvXw3TnB7yRk5d"
KEY = ApiKey(SECRET, "OPENAI_API_KEY")


@pytest.mark.parametrize(
    "secret", ["sk-\n", "sk\r\nX-Evil: 1", " sk", "sk ", " ", "sk-é", "열쇠", "sk\x00", "sk\x7f"]
)
def test_a_key_that_no_header_carries_is_refused_without_being_shown(secret):
    with pytest.raises(ConfigInvalid) as raised:
        ApiKey(secret, "MY_KEY")

    assert raised.value.path == "$MY_KEY"
    assert secret.strip() == "" or secret not in str(raised.value)


def test_a_key_replaces_the_login_in_the_address():
    endpoint = parse_base_url("http://me:password@gpu-box:8080/v1")

    assert endpoint.build_url("/x") == "http://me:password@gpu-box:8080/v1/x"
    assert replace(endpoint, key=KEY).build_url("/x") == "http://gpu-box:8080/v1/x"


def test_a_key_is_redacted():
    assert KEY.redact(f'{{"key":"{SECRET}"}}') == '{"key":"[key]"}'
    assert KEY.redact("another text") == "another text"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", "http://127.0.0.1:8080/v1"),
        ("http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1"),
        ("http://127.0.0.1:1234", "http://127.0.0.1:1234/v1"),
        ("localhost:8000", "http://localhost:8000/v1"),
        ("gpu-box", "http://gpu-box:80/v1"),
        ("https://llm.example.org", "https://llm.example.org:443/v1"),
        ("https://llm.example.org/openai/v1", "https://llm.example.org:443/openai/v1"),
        ("[::1]:8000", "http://[::1]:8000/v1"),
        ("::1", "http://[::1]:80/v1"),
        ("http://me:secret@gpu-box:8080/v1", "http://gpu-box:8080/v1"),
    ],
)
def test_a_base_url_is_parsed_with_its_path(text, shown):
    assert parse_base_url(text).display_url == shown

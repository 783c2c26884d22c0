import pytest

from kebab.llm.endpoint import parse_endpoint


@pytest.mark.parametrize(
    ("setting", "shown"),
    [
        ("", "http://127.0.0.1:11434"),
        ("   ", "http://127.0.0.1:11434"),
        ("1.2.3.4", "http://1.2.3.4:11434"),
        ("1.2.3.4:5678", "http://1.2.3.4:5678"),
        ("example.com", "http://example.com:11434"),
        ("example.com:1234", "http://example.com:1234"),
        ("http://1.2.3.4", "http://1.2.3.4:80"),
        ("HTTP://1.2.3.4", "http://1.2.3.4:80"),
        ("https://example.com", "https://example.com:443"),
        ("https://example.com:4000", "https://example.com:4000"),
        ("ollama.com", "https://ollama.com:443"),
        (":8080", "http://127.0.0.1:8080"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("0.0.0.0:8080", "http://127.0.0.1:8080"),
        ("http://0.0.0.0:8080", "http://127.0.0.1:8080"),
        ("::", "http://[::1]:11434"),
        ("[::]", "http://[::1]:11434"),
        ("[::]:8080", "http://[::1]:8080"),
        ("::1", "http://[::1]:11434"),
        ("[::1]", "http://[::1]:11434"),
        ("[::1]:1337", "http://[::1]:1337"),
        ("http://[2001:db8::7]", "http://[2001:db8::7]:80"),
        ("2001:0db8:0:0:0:0:0:7", "http://[2001:db8::7]:11434"),
        ("example.com/ollama", "http://example.com:11434/ollama"),
        ("https://example.com/a/b/", "https://example.com:443/a/b"),
        ("https://example.com:8443/", "https://example.com:8443"),
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
        ("1.2.3.4:abc", "http://1.2.3.4:11434"),
        ("1.2.3.4:66000", "http://1.2.3.4:11434"),
        ("1.2.3.4:-1", "http://1.2.3.4:11434"),
        ("http://1.2.3.4:x", "http://1.2.3.4:80"),
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

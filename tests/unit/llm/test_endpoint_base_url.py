import pytest

from kebab.llm.endpoint import parse_base_url


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", "http://127.0.0.1:8080/v1"),
        ('  ""  ', "http://127.0.0.1:8080/v1"),
        ("http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1"),
        (" 'http://127.0.0.1:1234/v1/' ", "http://127.0.0.1:1234/v1"),
        ("http://127.0.0.1:1234", "http://127.0.0.1:1234/v1"),
        ("http://127.0.0.1:1234/", "http://127.0.0.1:1234/v1"),
        ("localhost:8000", "http://localhost:8000/v1"),
        ("gpu-box", "http://gpu-box:80/v1"),
        ("gpu-box/llm/v2", "http://gpu-box:80/llm/v2"),
        ("https://llm.example.org", "https://llm.example.org:443/v1"),
        ("https://llm.example.org/openai/v1", "https://llm.example.org:443/openai/v1"),
        ("http://0.0.0.0:8080", "http://127.0.0.1:8080/v1"),
        (":8000", "http://127.0.0.1:8000/v1"),
        ("[::1]:8000", "http://[::1]:8000/v1"),
        ("::1", "http://[::1]:80/v1"),
        ("http://me:secret@gpu-box:8080/v1", "http://gpu-box:8080/v1"),
    ],
)
def test_a_base_url_is_parsed_with_its_path(text, shown):
    assert parse_base_url(text).display_url == shown


def test_a_path_is_appended_to_the_prefix():
    endpoint = parse_base_url("http://gpu-box:8080/llm/v1/")

    assert endpoint.build_url("/models") == "http://gpu-box:8080/llm/v1/models"


def test_an_invalid_port_of_a_base_url_is_reported():
    assert parse_base_url("gpu-box:many").problem == "port not understood: many"

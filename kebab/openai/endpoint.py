"""Where a server with the OpenAI-compatible protocol listens: a base URL with its path."""

from dataclasses import replace

from kebab.transport.endpoint import Endpoint, parse_endpoint

DEFAULT_BASE_URL = "http://127.0.0.1:8080/v1"
_PREFIX = "/v1"


def parse_base_url(text: str) -> Endpoint:
    """Return the endpoint that a base URL means, as `http://127.0.0.1:8080/v1`.

    Without a scheme it is http; the port defaults to that of the scheme, and the path to `/v1`.
    Empty means llama.cpp's server on this machine. Addresses that a server binds to become
    loopback.
    """
    trimmed = text.strip().strip("\"'").strip() or DEFAULT_BASE_URL
    url = trimmed if "://" in trimmed else f"http://{trimmed}"
    endpoint = parse_endpoint(url)
    return endpoint if endpoint.prefix else replace(endpoint, prefix=_PREFIX)

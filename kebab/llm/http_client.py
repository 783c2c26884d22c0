"""Opens the HTTP client for a model server, and decodes what the server sends."""

import json
import logging
import ssl
import sys
from typing import TYPE_CHECKING, Any

from kebab.errors.system import translate_import_errors
from kebab.llm.endpoint import Endpoint
from kebab.llm.http_errors import Call

if TYPE_CHECKING:
    import httpx

_MAX_LINE_CHARS = 300
_MAX_COUNT = 1 << 32


def open_client(call: Call, *, connect_s: float, silence_s: float) -> "httpx.Client":
    """Return an HTTP client for the server of a call.

    The client uses no proxy for this machine and follows no redirect.

    Args:
        call: The call to make.
        connect_s: The limit for connecting, in seconds; 0 means none.
        silence_s: The limit for each read and write, in seconds; 0 means none.

    Raises:
        ModelUnreachable: The proxy or the certificates of the environment cannot be used.
        DependencyMissing: httpx cannot be loaded.
    """
    # `import httpx` also imports the command line of httpx, and with it click, rich and pygments.
    # Without them it takes 98 ms of processor time instead of 156 ms (medians of 12 processes).
    sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]  # None blocks the import
    with translate_import_errors("a model server", "httpx"):
        import httpx

    # httpx logs whole addresses, including the password of a login.
    logging.getLogger("httpx").setLevel(logging.WARNING)
    loopback = call.endpoint.is_loopback
    try:
        return httpx.Client(
            timeout=httpx.Timeout(silence_s or None, connect=connect_s or None),
            # A server that compresses holds tokens back until it has a block of them.
            headers={"Accept-Encoding": "identity"},
            trust_env=not loopback,
            verify=_build_ssl_context(call.endpoint) if loopback else True,
        )
    except OSError as failure:
        cause = "the certificates of the environment cannot be read"
        raise call.build_unreachable(cause) from failure
    except (ImportError, ValueError, httpx.InvalidURL) as failure:
        raise call.build_unreachable("the proxy of the environment cannot be used") from failure


def _build_ssl_context(endpoint: Endpoint) -> ssl.SSLContext:
    """Return a context for this machine; loading certificates for plain HTTP would waste time.

    A TLS server on this machine has a certificate from this machine, not from a public authority.
    """
    if endpoint.scheme == "http":
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return ssl.create_default_context()


def parse_json_object(raw: bytes | str) -> dict[str, Any] | None:
    """Return the JSON object in UTF-8 bytes or a text, or None when there is none."""
    try:
        value = json.loads(raw.decode("utf-8") if isinstance(raw, bytes) else raw)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def format_one_line(text: str, limit: int = _MAX_LINE_CHARS) -> str:
    """Return a text as one line of printable characters, cut to about `limit` of them."""
    # White space shrinks the text, so the input is a bit longer than the limit.
    start = text[: 4 * limit]
    printable = "".join(char if char.isprintable() else " " for char in start)
    line = " ".join(printable.split())
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"


def parse_count(value: object) -> int:
    """Return a plausible count, or 0 for any other value."""
    if isinstance(value, bool) or not isinstance(value, int):
        return 0
    return value if 0 < value < _MAX_COUNT else 0

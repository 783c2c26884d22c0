"""Opens the HTTP client for a model server: address, API key, proxy, and exceptions as signals.

The translation uses the class and the chain of causes of an exception, never the text of httpx.
"""

import functools
import ipaddress
import json
import logging
import os
import re
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from kebab.config.tuning import skip_httpx_command_line
from kebab.errors.catalog import (
    ConfigInvalid,
    ModelProtocol,
    ModelUnreachable,
    TimedOut,
)
from kebab.errors.signal import Signal
from kebab.errors.system import translate_import_errors

if TYPE_CHECKING:
    import httpx

ServerFault: TypeAlias = Literal["proxy", "certificate", "silent", "server"]
"""What keeps a model server from answering, where it is not the connection itself; may grow."""

DEFAULT_BASE_URL = "http://127.0.0.1:8080/v1"
"""The address of llama.cpp's server on this machine."""
_BASE_PATH = "/v1"
_DEFAULT_PORT = 11434
_SCHEME_PORTS = {"http": 80, "https": 443}
_HIGHEST_PORT = 65535
_LOOPBACK = "127.0.0.1"
_BIND_ANY = {"": _LOOPBACK, "0.0.0.0": _LOOPBACK, "::": "::1"}  # noqa: S104 - replaced, never bound
_HOST_AND_PORT = re.compile(r"\[(?P<literal>[^\[\]]*)\]:(?P<p6>.*)|(?P<name>[^:\[\]]*):(?P<p4>.*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """An address that a client can connect to.

    Attributes:
        scheme: The scheme in lower case.
        host: A name or an IP address, without brackets.
        port: The port.
        prefix: The path that comes before every API path.
        user_info: The login before `@`. It is sent and never shown.
        problem: The part of the setting that cannot be parsed; a default replaces it.
        provider: The API that the server is expected to have, as in the settings.
        setting: The setting or the environment variable that decides about the address.
    """

    scheme: str
    host: str
    port: int
    prefix: str = ""
    user_info: str = ""
    problem: str | None = None
    provider: str = "ollama"
    setting: str = "models.llm.endpoint"

    @property
    def display_url(self) -> str:
        """The address without secrets, for messages."""
        return f"{self.scheme}://{self._bracketed}:{self.port}{self.prefix}"

    @property
    def is_loopback(self) -> bool:
        """Whether the address is this machine, which a proxy cannot reach."""
        address = _parse_address(self.host)
        return address.is_loopback if address else self.host.casefold() == "localhost"

    def build_url(self, path: str) -> str:
        """Return the full URL of an absolute API path, secrets included."""
        login = f"{self.user_info}@" if self.user_info else ""
        return f"{self.scheme}://{login}{self._bracketed}:{self.port}{self.prefix}{path}"

    @property
    def _bracketed(self) -> str:
        return f"[{self.host}]" if ":" in self.host else self.host


def parse_endpoint(text: str) -> Endpoint:
    """Return the endpoint for a setting in the form of `OLLAMA_HOST`.

    The rules are those of Ollama's own client. The default port is 11434 without a scheme, and
    the port of the scheme with one. Addresses that a server binds to (`0.0.0.0`, `::`, none)
    become loopback.
    """
    trimmed = text.strip().strip("\"'").strip()
    scheme, rest, default_port = _split_scheme(trimmed)
    authority, _, path = rest.partition("/")
    user_info, _, host_and_port = authority.rpartition("@")
    host, port_text = _split_port(host_and_port)
    port = _parse_port(port_text)
    wrong_port = port_text is not None and port is None
    return Endpoint(
        scheme=scheme,
        host=_BIND_ANY.get(host, host),
        port=default_port if port is None else port,
        prefix=f"/{path.strip('/')}" if path.strip("/") else "",
        user_info=user_info,
        problem=f"port not understood: {port_text}" if wrong_port else None,
    )


def parse_base_url(text: str) -> Endpoint:
    """Return the endpoint for the base URL of an OpenAI-compatible server.

    The default scheme is http, the default port is that of the scheme, and the default path is
    `/v1`. An empty text means `DEFAULT_BASE_URL`. Addresses that a server binds to become loopback.
    """
    trimmed = text.strip().strip("\"'").strip() or DEFAULT_BASE_URL
    endpoint = parse_endpoint(trimmed if "://" in trimmed else f"http://{trimmed}")
    return replace(endpoint, prefix=endpoint.prefix or _BASE_PATH, provider="openai")


def _split_scheme(text: str) -> tuple[str, str, int]:
    scheme, separator, rest = text.partition("://")
    if separator:
        return scheme.lower(), rest, _SCHEME_PORTS.get(scheme.lower(), _DEFAULT_PORT)
    if text == "ollama.com":
        return "https", text, _SCHEME_PORTS["https"]
    return "http", text, _DEFAULT_PORT


def _split_port(host_and_port: str) -> tuple[str, str | None]:
    """Return host and port text; a bare IPv6 address has no port, with or without brackets."""
    if literal := _parse_address(host_and_port.strip("[]")):
        return str(literal), None
    if not (match := _HOST_AND_PORT.fullmatch(host_and_port)):
        return host_and_port, None
    if match["name"] is not None:
        return match["name"], match["p4"]
    return match["literal"], match["p6"]


def _parse_port(text: str | None) -> int | None:
    if text is None or not (text.isascii() and text.isdecimal()):
        return None
    return int(text) if int(text) <= _HIGHEST_PORT else None


def _parse_address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


_REDACTED = "[key]"
_SENDABLE = re.compile(r"[!-~](?:[ -~]*[!-~])?")
_WORD = re.compile(r"[^\s\"'`,;:=|&()\[\]{}<>]+")
_STOP = re.compile(r"[.!?]$")
_MASK = re.compile(r"\*+|\.{2,}|…+|•+|[xX#_-]{4,}")
_MIN_EDGE_CHARS = 4
"""A text of this length that starts or ends the key counts as a part of it."""
_MIN_INNER_CHARS = 8
"""A text of this length from anywhere in the key counts as a part of it."""


@dataclass(frozen=True, slots=True)
class ApiKey:
    """The API key of a server; empty when the server needs none.

    Args:
        secret: The key itself.
        variable: The environment variable that holds it, for error messages.

    Raises:
        ConfigInvalid: An HTTP header cannot carry it.
    """

    secret: str = field(repr=False)
    variable: str

    def __post_init__(self) -> None:
        if self.secret and not _SENDABLE.fullmatch(self.secret):
            cause = "the key has a space at an end, or a character that an HTTP header cannot carry"
            raise ConfigInvalid(path=f"${self.variable}", cause=cause)

    @property
    def headers(self) -> dict[str, str]:
        """The headers for each request."""
        return {"Authorization": f"Bearer {self.secret}"} if self.secret else {}

    def strip_login(self, endpoint: Endpoint) -> Endpoint:
        """Return the endpoint without its login when there is a key.

        A login in the address would replace the key in the header.
        """
        return replace(endpoint, user_info="") if self.secret else endpoint

    def redact(self, text: str) -> str:
        """Return a text without the key and without parts of it, masked or not."""
        if not self.secret:
            return text
        whole = re.escape(self.secret)
        # A key of a few letters also occurs inside words.
        exact = whole if len(self.secret) >= _MIN_EDGE_CHARS else rf"(?<!\w){whole}(?!\w)"
        rest = re.sub(exact, _REDACTED, text)
        return _WORD.sub(self._redact_word, rest)

    def _redact_word(self, match: re.Match[str]) -> str:
        word = match[0]
        return _REDACTED if self._is_revealing(_STOP.sub("", word)) else word

    def _is_revealing(self, word: str) -> bool:
        min_chars = 1 if _MASK.search(word) else _MIN_EDGE_CHARS
        return any(self._is_part(piece, min_chars) for piece in (word, *_MASK.split(word)))

    def _is_part(self, piece: str, min_chars: int) -> bool:
        """Return whether a piece of a word is a part of the key."""
        if len(piece) >= min_chars and (
            self.secret.startswith(piece) or self.secret.endswith(piece)
        ):
            return True
        ends = range(_MIN_INNER_CHARS, len(piece) + 1)
        return any(piece[end - _MIN_INNER_CHARS : end] in self.secret for end in ends)


NO_KEY = ApiKey("", "")


LOGIN_REQUIRED = 407
"""The HTTP status of a proxy that requires a login."""


def find_proxy_variable(endpoint: Endpoint) -> str | None:
    """Return the environment variable with the proxy for an endpoint, None without a proxy.

    Requests to this machine use no proxy.
    """
    if endpoint.is_loopback:
        return None
    from urllib.request import proxy_bypass

    if proxy_bypass(endpoint.host):
        return None
    names = (f"{scheme}_proxy" for scheme in (endpoint.scheme, "all"))
    spelled = (spelling for name in names for spelling in (name, name.upper()))
    return next((name for name in spelled if os.environ.get(name)), None)


def describe_proxy_refusal(status: int) -> str:
    """Return why a proxy does not pass on a request; status 0 means unknown."""
    cause = "the proxy requires a login" if status == LOGIN_REQUIRED else "the proxy refused"
    return f"{cause} (HTTP {status})" if status else cause


_LIMITS = {
    "first_token": "models.llm.first_token_s",
    "next_token": "models.llm.first_token_s",
    "answer": "models.llm.total_s",
}
"""The setting with the limit of each part of a response."""
_NO_TLS_REASONS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST")
"""The reasons of OpenSSL for an answer that is not TLS."""

E = TypeVar("E", bound=BaseException)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of the server, with the facts that its errors report.

    `deadline_s` is the limit for the whole call, where there is only one limit.
    """

    endpoint: Endpoint
    operation: str
    deadline_s: float = 0.0
    started: float = field(default_factory=monotonic)

    def build_unreachable(
        self, cause: str, reason: ServerFault | None = None, setting: str | None = None
    ) -> ModelUnreachable:
        """Return the signal for a server that cannot be reached, or that failed."""
        return ModelUnreachable(
            endpoint=self.endpoint.display_url,
            operation=self.operation,
            cause=cause,
            provider=self.endpoint.provider,
            setting=setting or self.endpoint.setting,
            reason=reason,
        )

    def build_protocol_error(self, cause: str, setting: str | None = None) -> ModelProtocol:
        """Return the signal for an unexpected response; `setting` decides about a wrong address."""
        url = self.endpoint.display_url
        return ModelProtocol(endpoint=url, operation=self.operation, cause=cause, setting=setting)

    def build_timeout(
        self, operation: str = "", *, since: float | None = None, limit_s: float | None = None
    ) -> TimedOut:
        """Return the signal for a response, or a part of it, that is too late."""
        started = self.started if since is None else since
        operation = operation or self.operation
        return TimedOut(
            operation=operation,
            elapsed_ms=round((monotonic() - started) * 1000),
            deadline_ms=round((self.deadline_s if limit_s is None else limit_s) * 1000),
            setting=_LIMITS.get(operation),
            endpoint=self.endpoint.display_url,
        )


_SignalBuilder: TypeAlias = Callable[[Call, Exception], Signal]


def _report_unreachable(cause: str) -> _SignalBuilder:
    return lambda call, _failure: call.build_unreachable(cause)


def _report_os_error(cause: str, *, connecting: bool = False) -> _SignalBuilder:
    """Report the error of the operating system, or `cause` where there is none.

    A connection that is not made may be the one to the proxy of the environment.
    """

    def report(call: Call, failure: Exception) -> Signal:
        if fault := _find_cause(failure, ssl.SSLCertVerificationError):
            untrusted = f"the certificate is not trusted: {fault.verify_message.rstrip('.')}"
            return call.build_unreachable(untrusted, "certificate")
        described = _describe_os_error(failure) or cause
        variable = find_proxy_variable(call.endpoint) if connecting else None
        return call.build_unreachable(described, "proxy" if variable else None, variable)

    return report


def _report_proxy_refusal(call: Call, failure: Exception) -> Signal:
    """Report a proxy that opens no tunnel; the text of the exception begins with its status."""
    status = str(failure)[:3]
    cause = describe_proxy_refusal(int(status) if status.isdecimal() else 0)
    return call.build_unreachable(cause, "proxy", find_proxy_variable(call.endpoint))


def _report_protocol_error(cause: str) -> _SignalBuilder:
    return lambda call, _failure: call.build_protocol_error(cause)


def _report_timeout(call: Call, _failure: Exception) -> Signal:
    return call.build_timeout()


def _report_failure(cause: str) -> _SignalBuilder:
    return lambda call, _failure: call.build_unreachable(cause, "server")


def _report_lost_connection(call: Call, failure: Exception) -> Signal:
    cause = _describe_os_error(failure) or "the connection was cut"
    return call.build_unreachable(cause, "server")


@functools.cache
def load_error_table() -> dict[type[Exception], _SignalBuilder]:
    """Return one row for each exception that httpx can raise at a correct caller."""
    with translate_import_errors("a model server", "httpx"):
        import httpx

    return {
        httpx.ConnectError: _report_os_error("no connection", connecting=True),
        httpx.ConnectTimeout: _report_os_error("connecting took too long", connecting=True),
        httpx.PoolTimeout: _report_timeout,
        httpx.ReadTimeout: _report_timeout,
        httpx.WriteTimeout: _report_timeout,
        httpx.TimeoutException: _report_timeout,
        httpx.ReadError: _report_lost_connection,
        httpx.WriteError: _report_lost_connection,
        httpx.CloseError: _report_lost_connection,
        httpx.NetworkError: _report_lost_connection,
        httpx.RemoteProtocolError: _report_failure("the response is incomplete"),
        httpx.LocalProtocolError: _report_unreachable("the request is not HTTP"),
        httpx.ProtocolError: _report_protocol_error("the response is not HTTP"),
        httpx.ProxyError: _report_proxy_refusal,
        httpx.UnsupportedProtocol: _report_unreachable("only http and https are supported"),
        httpx.InvalidURL: _report_unreachable("the address is not a URL"),
        httpx.DecodingError: _report_protocol_error("the response cannot be decoded"),
        httpx.TooManyRedirects: _report_protocol_error("too many redirects"),
        httpx.HTTPStatusError: _report_protocol_error("the server returned an error status"),
        httpx.TransportError: _report_lost_connection,
        httpx.RequestError: _report_lost_connection,
        httpx.HTTPError: _report_lost_connection,
    }


@contextmanager
def translate_http_errors(call: Call, *, responded: bool = True) -> Iterator[None]:
    """Turn the exceptions of httpx into signals.

    Args:
        call: The call that the signals report.
        responded: Whether the server has sent valid HTTP. Before that, invalid HTTP comes from
            another program; after it, from a connection that was cut.

    Raises:
        ModelUnreachable: There is no connection, or it was cut.
        ModelProtocol: The response is not valid HTTP.
        TimedOut: The response did not come in time.
    """
    table = load_error_table()
    try:
        yield
    except tuple(table) as failure:
        if not responded and _is_invalid_http(failure):
            cause = "the response is not HTTP"
            raise call.build_protocol_error(cause, call.endpoint.setting) from failure
        kind = next(kind for kind in type(failure).__mro__ if kind in table)
        raise table[kind](call, failure) from failure
    except UnicodeError as failure:
        # The resolver and the headers reject some characters before httpx checks them.
        raise call.build_unreachable("the host name or a header cannot be sent") from failure


def _is_invalid_http(failure: BaseException) -> bool:
    """Return whether the HTTP parser rejected the response; an empty response does not count."""
    import httpx

    parsers = {type(link).__module__.partition(".")[0] for link in _iter_causes(failure)}
    return isinstance(failure, httpx.RemoteProtocolError) and "h11" in parsers


def _describe_os_error(failure: BaseException) -> str | None:
    for link in _iter_causes(failure):
        if isinstance(link, socket.gaierror):
            return "the host name is not known"
        if isinstance(link, ssl.SSLError):
            plain = getattr(link, "reason", None) in _NO_TLS_REASONS
            return "the server speaks no TLS" if plain else "no secure connection can be made"
        if isinstance(link, OSError) and not isinstance(link, TimeoutError):
            return (link.strerror or str(link)).lower()
    return None


def _find_cause(failure: BaseException, kind: type[E]) -> E | None:
    return next((link for link in _iter_causes(failure) if isinstance(link, kind)), None)


def _iter_causes(failure: BaseException) -> Iterator[BaseException]:
    link: BaseException | None = failure
    while link is not None:
        yield link
        link = link.__cause__ or link.__context__


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
    skip_httpx_command_line()
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
        cause = "the proxy of the environment cannot be used"
        variable = find_proxy_variable(call.endpoint)
        raise call.build_unreachable(cause, "proxy" if variable else None, variable) from failure


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

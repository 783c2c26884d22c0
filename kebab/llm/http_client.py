"""Opens the HTTP client for a model server, and translates its exceptions to signals.

The translation uses the class and the chain of causes of an exception, never the text of httpx.
"""

import functools
import json
import logging
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from kebab.config.tuning import skip_httpx_command_line
from kebab.errors.catalog import ModelProtocol, ModelUnreachable, ServerFault, TimedOut
from kebab.errors.signal import Signal
from kebab.errors.system import translate_import_errors
from kebab.llm.endpoint import Endpoint
from kebab.llm.proxies import describe_proxy_refusal, find_proxy_variable

if TYPE_CHECKING:
    import httpx


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

"""Describes the address of a model server, its API key, and the proxy in front of it."""

import ipaddress
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from msgspec import Struct
from msgspec.structs import replace

from kebab.config.settings import Llm
from kebab.errors.catalog import ConfigInvalid

DEFAULT_BASE_URL = "http://127.0.0.1:8080/v1"
"""The address of llama.cpp's server on this machine."""
_DEFAULT_PORT = 11434
_SCHEME_PORTS = {"http": 80, "https": 443}
_HIGHEST_PORT = 65535
_LOOPBACK = "127.0.0.1"
_BIND_ANY = {"": _LOOPBACK, "0.0.0.0": _LOOPBACK, "::": "::1"}  # noqa: S104 - replaced, never bound
_HOST_AND_PORT = re.compile(r"\[(?P<literal>[^\[\]]*)\]:(?P<p6>.*)|(?P<name>[^:\[\]]*):(?P<p4>.*)")


_SENDABLE = re.compile(r"[!-~](?:[ -~]*[!-~])?")


@dataclass(frozen=True, slots=True)
class ApiKey:
    """The API key of a server; empty when the server needs none.

    `variable` is the environment variable that holds it.

    Raises:
        ConfigInvalid: An HTTP header cannot carry it.
    """

    secret: str = field(default="", repr=False)
    variable: str = ""

    def __post_init__(self) -> None:
        if self.secret and not _SENDABLE.fullmatch(self.secret):
            cause = "the key has a space at an end, or a character that an HTTP header cannot carry"
            raise ConfigInvalid(path=f"${self.variable}", cause=cause)

    @property
    def headers(self) -> dict[str, str]:
        """The headers for each request."""
        return {"Authorization": f"Bearer {self.secret}"} if self.secret else {}

    def redact(self, text: str) -> str:
        """Return a text without the key."""
        return text.replace(self.secret, "[key]") if self.secret else text


NO_KEY = ApiKey()


class Endpoint(Struct, frozen=True, kw_only=True):
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
        key: The key that is sent with each request.
    """

    scheme: str
    host: str
    port: int
    prefix: str = ""
    user_info: str = ""
    problem: str | None = None
    provider: str = "ollama"
    setting: str = "models.llm.endpoint"
    key: ApiKey = NO_KEY

    @property
    def display_url(self) -> str:
        """The address without secrets, for messages."""
        return f"{self.scheme}://{self._bracketed}:{self.port}{self.prefix}"

    @property
    def is_loopback(self) -> bool:
        """Whether the address is this machine, which a proxy cannot reach."""
        address = read_address(self.host)
        return address.is_loopback if address else self.host.casefold() == "localhost"

    def build_url(self, path: str) -> str:
        """Return the full URL of an absolute API path, secrets included.

        A login in the address would replace the key in the header, so it is left out.
        """
        login = f"{self.user_info}@" if self.user_info and not self.key.secret else ""
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
    if trimmed == "ollama.com":
        trimmed = "https://ollama.com"
    scheme, separator, rest = trimmed.partition("://")
    scheme, rest = (scheme.lower(), rest) if separator else ("http", trimmed)
    port = _SCHEME_PORTS.get(scheme, _DEFAULT_PORT) if separator else _DEFAULT_PORT
    authority, _, path = rest.partition("/")
    user_info, _, host = authority.rpartition("@")
    port_text, problem = None, None
    # A bare IPv6 address has no port, with or without brackets.
    if literal := read_address(host.strip("[]")):
        host = str(literal)
    elif match := _HOST_AND_PORT.fullmatch(host):
        host = match["literal"] if match["name"] is None else match["name"]
        port_text = match["p6"] if match["name"] is None else match["p4"]
    if port_text is not None:
        if port_text.isascii() and port_text.isdecimal() and int(port_text) <= _HIGHEST_PORT:
            port = int(port_text)
        else:
            problem = f"port not understood: {port_text}"
    return Endpoint(
        scheme=scheme,
        host=_BIND_ANY.get(host, host),
        port=port,
        prefix=f"/{path.strip('/')}" if path.strip("/") else "",
        user_info=user_info,
        problem=problem,
    )


def parse_base_url(text: str) -> Endpoint:
    """Return the endpoint for the base URL of an OpenAI-compatible server.

    The default scheme is http, the default port is that of the scheme, and the default path is
    `/v1`. An empty text means `DEFAULT_BASE_URL`. Addresses that a server binds to become loopback.
    """
    trimmed = text.strip().strip("\"'").strip() or DEFAULT_BASE_URL
    endpoint = parse_endpoint(trimmed if "://" in trimmed else f"http://{trimmed}")
    return replace(endpoint, prefix=endpoint.prefix or "/v1", provider="openai")


def read_address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return an IP address, None for a name."""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


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


_HOST_VARIABLE = "OLLAMA_HOST"


def resolve_endpoint(llm: Llm, environ: Mapping[str, str] | None = None) -> Endpoint:
    """Return the endpoint of the server in the settings, with its key.

    Raises:
        ConfigInvalid: The port is invalid, or the key cannot be sent.
    """
    environ = os.environ if environ is None else environ
    if llm.provider == "openai":
        endpoint = parse_base_url(llm.endpoint)
        key = ApiKey(environ.get(llm.key_variable, ""), llm.key_variable)
        endpoint = replace(endpoint, key=key)
    elif llm.endpoint or not environ.get(_HOST_VARIABLE):
        endpoint = parse_endpoint(llm.endpoint)
    else:
        endpoint = replace(parse_endpoint(environ[_HOST_VARIABLE]), setting=_HOST_VARIABLE)
    if endpoint.problem:
        origin = "models.llm.endpoint" if llm.endpoint else f"${_HOST_VARIABLE}"
        raise ConfigInvalid(path=origin, cause=endpoint.problem)
    return endpoint

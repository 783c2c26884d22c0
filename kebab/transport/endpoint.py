"""Where Ollama listens, read from a setting by the rules of Ollama's own client."""

import ipaddress
import re
from dataclasses import dataclass

_DEFAULT_PORT = 11434
_SCHEME_PORTS = {"http": 80, "https": 443}
_HIGHEST_PORT = 65535
_LOOPBACK = "127.0.0.1"
_BIND_ANY = {"": _LOOPBACK, "0.0.0.0": _LOOPBACK, "::": "::1"}  # noqa: S104 - met, never bound
_HOST_AND_PORT = re.compile(r"\[(?P<literal>[^\[\]]*)\]:(?P<p6>.*)|(?P<name>[^:\[\]]*):(?P<p4>.*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """An address that a client can connect to.

    `user_info` is what stands before `@`: it is sent and never shown. `doubt` says what of the
    setting was not understood; a default stands in its place.
    """

    scheme: str
    host: str
    port: int
    prefix: str = ""
    user_info: str = ""
    doubt: str | None = None

    @property
    def shown(self) -> str:
        """The address as a person may see it, without secrets."""
        return f"{self.scheme}://{self._bracketed}:{self.port}{self.prefix}"

    @property
    def loopback(self) -> bool:
        """Whether the address is this machine, which no proxy can reach for us."""
        address = _address(self.host)
        return address.is_loopback if address else self.host.casefold() == "localhost"

    def url(self, path: str) -> str:
        """Return the full URL of an absolute API path, secrets included."""
        login = f"{self.user_info}@" if self.user_info else ""
        return f"{self.scheme}://{login}{self._bracketed}:{self.port}{self.prefix}{path}"

    @property
    def _bracketed(self) -> str:
        return f"[{self.host}]" if ":" in self.host else self.host


def parse_endpoint(text: str) -> Endpoint:
    """Return the endpoint that a setting in the form of `OLLAMA_HOST` means.

    Without a scheme the port defaults to 11434, with one to the port of the scheme. Addresses
    that a server binds to (`0.0.0.0`, `::`, none) become loopback.
    """
    trimmed = text.strip().strip("\"'").strip()
    scheme, rest, default_port = _split_scheme(trimmed)
    authority, _, path = rest.partition("/")
    user_info, _, place = authority.rpartition("@")
    host, port_text = _split_port(place)
    port = _port(port_text)
    wrong = port_text is not None and port is None
    return Endpoint(
        scheme=scheme,
        host=_BIND_ANY.get(host, host),
        port=default_port if port is None else port,
        prefix=f"/{path.strip('/')}" if path.strip("/") else "",
        user_info=user_info,
        doubt=f"port not understood: {port_text}" if wrong else None,
    )


def _split_scheme(text: str) -> tuple[str, str, int]:
    scheme, found, rest = text.partition("://")
    if found:
        return scheme.lower(), rest, _SCHEME_PORTS.get(scheme.lower(), _DEFAULT_PORT)
    if text == "ollama.com":
        return "https", text, _SCHEME_PORTS["https"]
    return "http", text, _DEFAULT_PORT


def _split_port(place: str) -> tuple[str, str | None]:
    """Return host and port text; a bare IPv6 address has no port, with or without brackets."""
    if literal := _address(place.strip("[]")):
        return str(literal), None
    if not (match := _HOST_AND_PORT.fullmatch(place)):
        return place, None
    if match["name"] is not None:
        return match["name"], match["p4"]
    return match["literal"], match["p6"]


def _port(text: str | None) -> int | None:
    if text is None or not (text.isascii() and text.isdecimal()):
        return None
    return int(text) if int(text) <= _HIGHEST_PORT else None


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None

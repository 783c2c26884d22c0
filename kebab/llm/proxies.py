"""Finds the proxy of the environment, and reports one that refuses."""

import os
from typing import TYPE_CHECKING

from kebab.errors.signal import Signal
from kebab.llm.endpoint import Endpoint

if TYPE_CHECKING:
    from kebab.llm.http_client import Call

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


def build_proxy_refusal(call: "Call", status: int) -> Signal:
    """Return the signal for a proxy that refuses to pass on a request; status 0 means unknown."""
    cause = "the proxy requires a login" if status == LOGIN_REQUIRED else "the proxy refused"
    shown = f"{cause} (HTTP {status})" if status else cause
    return call.build_unreachable(shown, "proxy", find_proxy_variable(call.endpoint))

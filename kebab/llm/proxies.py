"""Finds the proxy of the environment, and describes one that refuses."""

import os

from kebab.llm.endpoint import Endpoint

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

"""The HTTP client for a model server, made one way for all who talk to one."""

import logging
import ssl
import sys
from typing import TYPE_CHECKING

from kebab.errors.dependency import needed
from kebab.transport.endpoint import Endpoint
from kebab.transport.failures import Call

if TYPE_CHECKING:
    import httpx


def open_client(call: Call, *, connect_s: float, silence_s: float) -> "httpx.Client":
    """Return a client that asks no proxy for this machine, and loads certificates only for TLS.

    It follows no redirect. Limits are in seconds; 0 means none.

    Raises:
        ModelUnreachable: The proxy or the certificates of the environment cannot be used.
        DependencyMissing: httpx cannot be loaded.
    """
    # Its command line, which nobody runs from here, would load rich and more.
    sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]
    with needed("a model server", "httpx"):
        import httpx

    # It logs whole addresses, the password of a login included.
    logging.getLogger("httpx").setLevel(logging.WARNING)
    here = call.endpoint.loopback
    try:
        return httpx.Client(
            timeout=httpx.Timeout(silence_s or None, connect=connect_s or None),
            # What compresses holds tokens back until it has a block of them.
            headers={"Accept-Encoding": "identity"},
            trust_env=not here,
            verify=_trust(call.endpoint) if here else True,
        )
    except OSError as failure:
        raise call.unreachable("the certificates of the environment cannot be read") from failure
    except (ImportError, ValueError, httpx.InvalidURL) as failure:
        raise call.unreachable("the proxy of the environment cannot be used") from failure


def _trust(here: Endpoint) -> ssl.SSLContext:
    """Return whom to trust on this machine: nobody for plain HTTP, since loading takes its time.

    What speaks TLS here has a certificate of this machine's own, never one of a public authority.
    """
    if here.scheme == "http":
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return ssl.create_default_context()

"""Which models a server with the OpenAI-compatible protocol lists, told within a hard limit."""

from kebab.errors.catalog import TimedOut
from kebab.openai.key import Key
from kebab.openai.refusals import Request, refused
from kebab.transport.decode import json_object
from kebab.transport.endpoint import Endpoint
from kebab.transport.exchange import Deadlines, Exchange
from kebab.transport.failures import Call

_PATH = "/models"
_OK = 200
_LARGEST_BODY = 8_000_000


def probe(
    endpoint: Endpoint,
    model: str = "",
    *,
    key: Key | None = None,
    operation: str = "doctor",
    connect_s: float = 1.0,
    read_s: float = 2.0,
) -> tuple[str, ...]:
    """Return the ids of the models that the server lists, after at most `read_s` seconds in all.

    A model that is not listed may answer all the same: some servers ask the one model they have,
    whatever name is sent. So `model` is only what a refusal names.

    Raises:
        ModelUnreachable: Nothing answers there.
        ModelRejected: The server wants another key, or refuses.
        ModelBusy: The server takes no more work now.
        ModelProtocol: What answers there does not speak the protocol.
        TimedOut: The server took the connection and did not answer in time.
    """
    key = key or Key("", "")
    call = Call(endpoint=key.at(endpoint), operation=operation, deadline_s=read_s)
    request = Request(call=call, path=_PATH, model=model, key=key)
    deadlines = Deadlines(connect_s=min(connect_s, read_s), first_token_s=0, total_s=read_s)
    try:
        with Exchange(call, _PATH, None, deadlines, key.headers) as exchange:
            head, body = exchange.head, exchange.body(_LARGEST_BODY)
    except TimedOut as late:
        raise call.late() from late
    listed = (json_object(body) or {}).get("data") if head.status == _OK else None
    if not isinstance(listed, list):
        raise refused(request, head, body)
    ids = (entry.get("id") for entry in listed if isinstance(entry, dict))
    return tuple(name for name in ids if isinstance(name, str))

"""Asks model servers for the vectors of texts: Ollama's API, and the OpenAI-compatible one."""

import json
from collections.abc import Sequence
from contextlib import suppress

import msgspec
from msgspec import Struct

from kebab.llm.endpoint import Endpoint
from kebab.llm.http_stream import Deadlines, HttpStream
from kebab.llm.server_errors import ModelRequest, build_refusal

_OK = 200
_MAX_BODY_BYTES = 64_000_000
"""More than 32 vectors of 16,384 numbers have as text."""


class _OllamaReply(Struct):
    embeddings: list[list[float]]


class _OpenAiVector(Struct):
    embedding: list[float]
    index: int = 0


class _OpenAiReply(Struct):
    data: list[_OpenAiVector]


def embed_texts(
    endpoint: Endpoint, model: str, connect_s: float, texts: Sequence[str], limit_s: float
) -> list[list[float]]:
    """Return the vector of each text, as a server gives it; a limit of 0 seconds means none.

    The signals are those of `LanguageModel.chat`; `ContextOverflow` means that a text is longer
    than the window of the model.
    """
    is_ollama = endpoint.provider == "ollama"
    request = ModelRequest(
        endpoint=endpoint,
        operation="embedding a batch",
        model=model,
        deadline_s=limit_s,
        path="/api/embed" if is_ollama else "/embeddings",
    )
    options = {"truncate": True} if is_ollama else {"encoding_format": "float"}
    content = json.dumps({"model": model, "input": list(texts), **options}).encode()
    deadlines = Deadlines(connect_s=connect_s, first_token_s=0, total_s=limit_s)
    with HttpStream(request, request.path, content, deadlines) as stream:
        head, body = stream.head, stream.read_body(_MAX_BODY_BYTES)
    vectors: list[list[float]] = []
    if head.status == _OK:
        with suppress(msgspec.MsgspecError):
            if is_ollama:
                vectors = msgspec.json.decode(body, type=_OllamaReply).embeddings
            else:
                rows = msgspec.json.decode(body, type=_OpenAiReply).data
                vectors = [row.embedding for row in sorted(rows, key=lambda row: row.index)]
    if not vectors:
        raise build_refusal(request, head, body)
    if len(vectors) != len(texts):
        cause = f"{len(texts)} texts were sent, and {len(vectors)} vectors came"
        raise request.build_protocol_error(cause)
    return vectors

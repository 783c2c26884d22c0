"""Asks model servers for the vectors of texts: Ollama's API, and the OpenAI-compatible one."""

import json
from collections.abc import Sequence
from typing import Literal, TypeAlias

import msgspec
from msgspec import Struct

from kebab.llm.endpoint import NO_KEY, ApiKey, Endpoint
from kebab.llm.http_stream import Call, Deadlines, HttpStream
from kebab.llm.server_errors import (
    OLLAMA_ERRORS,
    OPENAI_ERRORS,
    ModelRequest,
    build_refusal,
)

ServerProvider: TypeAlias = Literal["ollama", "openai"]
"""The API of a server."""

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


class EmbeddingServer(Struct, frozen=True, kw_only=True):
    """An embedding model of a server."""

    provider: ServerProvider
    endpoint: Endpoint
    model: str
    connect_s: float
    key: ApiKey = NO_KEY

    @property
    def url(self) -> str:
        """The address without secrets."""
        return self.endpoint.display_url

    def embed(self, texts: Sequence[str], limit_s: float) -> list[list[float]]:
        """Return the vector of each text, as the server gives it; a limit of 0 seconds means none.

        Raises:
            ModelUnreachable: There is no server, or the connection was cut.
            ModelNotPulled: The server does not have the model.
            ModelRejected: The model cannot embed, or the server refuses the key.
            ModelBusy: The server is busy.
            ContextOverflow: A text is longer than the window of the model.
            ModelProtocol: The response is not the one of the API.
            TimedOut: The response did not come in time.
        """
        is_ollama = self.provider == "ollama"
        call = Call(
            endpoint=self.key.strip_login(self.endpoint),
            operation="embedding a batch",
            model=self.model,
            deadline_s=limit_s,
        )
        request = ModelRequest(
            call=call,
            path="/api/embed" if is_ollama else "/embeddings",
            errors=OLLAMA_ERRORS if is_ollama else OPENAI_ERRORS,
            key=self.key,
        )
        options = {"truncate": True} if is_ollama else {"encoding_format": "float"}
        content = json.dumps({"model": self.model, "input": list(texts), **options}).encode()
        deadlines = Deadlines(connect_s=self.connect_s, first_token_s=0, total_s=limit_s)
        with HttpStream(call, request.path, content, deadlines, self.key.headers) as stream:
            head, body = stream.head, stream.read_body(_MAX_BODY_BYTES)
        try:
            vectors = self._read(body) if head.status == _OK else []
        except msgspec.MsgspecError:
            vectors = []
        if not vectors:
            raise build_refusal(request, head, body)
        if len(vectors) != len(texts):
            cause = f"{len(texts)} texts were sent, and {len(vectors)} vectors came"
            raise call.build_protocol_error(cause)
        return vectors

    def _read(self, body: bytes) -> list[list[float]]:
        if self.provider == "ollama":
            return msgspec.json.decode(body, type=_OllamaReply).embeddings
        rows = msgspec.json.decode(body, type=_OpenAiReply).data
        return [row.embedding for row in sorted(rows, key=lambda row: row.index)]

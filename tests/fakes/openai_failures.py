"""How servers with the OpenAI-compatible protocol fail, word by word: one table, by server."""

import json
from collections.abc import Mapping
from string import Template
from typing import Any, Literal, TypeAlias, get_args

Kind: TypeAlias = Literal["llamacpp", "vllm", "vllm-old", "lmstudio", "openai"]
"""Whose ways a fake has."""
KINDS: tuple[Kind, ...] = get_args(Kind)

Failure: TypeAlias = tuple[int, Any]
"""A status with the JSON that comes with it."""

_EXAMPLES: Mapping[str, Any] = {"model": "nope", "prompt_tokens": 5000, "n_ctx": 4096}


def _llama(status: int, kind: str, message: str, **more: Any) -> Failure:
    return status, {"error": {"code": status, "message": message, "type": kind, **more}}


def _vllm(status: int, kind: str, message: str) -> Failure:
    return status, {"error": {"message": message, "type": kind, "param": None, "code": status}}


def _flat(status: int, kind: str, message: str) -> Failure:
    body = {"object": "error", "message": message, "type": kind, "param": None, "code": status}
    return status, body


def _openai(status: int, code: str | None, message: str, param: str | None = None) -> Failure:
    kind = "invalid_request_error"
    return status, {"error": {"message": message, "type": kind, "param": param, "code": code}}


_TOO_LONG = (
    "This model's maximum context length is $n_ctx tokens. However, you requested 6000 tokens "
    "($prompt_tokens in the messages, 1000 in the completion). Please reduce the length of the "
    "messages or completion."
)
_KEEP = (
    "Trying to keep the first $prompt_tokens tokens when context the overflows. However, the model "
    "is loaded with context length of only $n_ctx tokens, which is not enough. Try to load the "
    "model with a larger context length, or provide a shorter input"
)
_EXTRA = (
    "[{'type': 'extra_forbidden', 'loc': ('body', 'stream_options'), 'msg': 'Extra inputs are not "
    "permitted', 'input': {'include_usage': True}}]"
)
_NOT_LOADED = "No models loaded. Please load a model in the developer page or use 'lms load'."

FAILURES: Mapping[str, Mapping[str, Failure]] = {
    "missing": {
        "llamacpp": _llama(400, "invalid_request_error", "model '$model' not found"),
        "vllm": _vllm(404, "NotFoundError", "The model `$model` does not exist."),
        "vllm-old": _flat(404, "NotFoundError", "The model `$model` does not exist."),
        "lmstudio": _openai(
            400,
            "model_not_found",
            'Invalid model identifier "$model". Please specify a valid downloaded model (e.g., '
            "qwen3-8b).",
            "model",
        ),
        "openai": _openai(
            404,
            "model_not_found",
            "The model `$model` does not exist or you do not have access to it.",
        ),
    },
    "overflow": {
        "llamacpp": _llama(
            400,
            "exceed_context_size_error",
            "request ($prompt_tokens tokens) exceeds the available context size ($n_ctx tokens), "
            "try increasing it",
            n_prompt_tokens=5000,
            n_ctx=4096,
        ),
        "vllm": _vllm(400, "BadRequestError", _TOO_LONG),
        "vllm-old": _flat(400, "BadRequestError", _TOO_LONG),
        "lmstudio": (400, {"error": _KEEP}),
        "openai": _openai(
            400,
            "context_length_exceeded",
            "This model's maximum context length is $n_ctx tokens. However, your messages resulted "
            "in $prompt_tokens tokens. Please reduce the length of the messages.",
            "messages",
        ),
    },
    "unauthorized": {
        "llamacpp": _llama(401, "authentication_error", "Invalid API Key"),
        "vllm": (401, {"error": "Unauthorized"}),
        "vllm-old": (401, {"error": "Unauthorized"}),
        "lmstudio": _openai(401, "invalid_api_key", "An LM Studio API token is required: $key"),
        "openai": _openai(401, "invalid_api_key", "Incorrect API key provided: $key."),
    },
    "rejected": {
        "llamacpp": _llama(
            501,
            "not_supported_error",
            "This server does not support chat completions. Start it without `--embeddings`",
        ),
        "vllm": _vllm(400, "BadRequestError", "The model does not support Chat Completions API"),
        "vllm-old": _flat(400, "BadRequestError", "temperature must be non-negative, got -1."),
        "lmstudio": (400, {"error": _NOT_LOADED}),
        "openai": _openai(400, "unsupported_value", "Unsupported value: 'temperature'"),
    },
    "load_failed": {
        "llamacpp": _llama(500, "server_error", "failed to load model '$model'"),
        "lmstudio": (400, {"error": 'Failed to load model "$model". Error: out of memory'}),
        "": _vllm(500, "InternalServerError", "CUDA out of memory. Tried to allocate 2.00 GiB"),
    },
    "template": {
        "": _llama(500, "server_error", "Jinja Exception: System role not supported"),
    },
    "crashed": {
        "llamacpp": _llama(500, "server_error", "Compute error."),
        "lmstudio": (
            400,
            {"error": "The model has crashed without additional information. (Exit code: 6)"},
        ),
        "": _vllm(500, "InternalServerError", "EngineCore encountered an issue."),
    },
    "loading": {"": _llama(503, "unavailable_error", "Loading model")},
    "busy": {
        "openai": _openai(503, None, "That model is currently overloaded with other requests."),
        "": _vllm(429, "RateLimitError", "Too many requests"),
    },
    "no_counts": {
        "vllm-old": _flat(400, "BadRequestError", _EXTRA),
        "": (
            422,
            {
                "detail": [
                    {
                        "type": "extra_forbidden",
                        "loc": ["body", "stream_options"],
                        "msg": "Extra inputs are not permitted",
                    }
                ]
            },
        ),
    },
    "no_schemas": {
        "vllm": _vllm(400, "BadRequestError", "response_format is not supported by this engine"),
        "lmstudio": (400, {"error": "'response_format.type' must be 'text'"}),
        "": _openai(
            400,
            None,
            "Invalid parameter: 'response_format' of type 'json_schema' is not supported with "
            "this model.",
        ),
    },
    "bad_schema": {
        "llamacpp": _llama(
            400, "invalid_request_error", "JSON schema conversion failed: Unrecognized schema: 5"
        ),
        "vllm": _vllm(400, "BadRequestError", "Grammar error: unimplemented keys"),
        "": _openai(400, None, "Invalid schema for response_format 'answer'.", "response_format"),
    },
    "no_images": {
        "": _llama(
            500,
            "server_error",
            "image input is not supported - hint: if this is unexpected, you may need to provide"
            " the mmproj",
        )
    },
    "no_route": {
        "llamacpp": _llama(404, "not_found_error", "File Not Found"),
        "lmstudio": (200, {"error": "Unexpected endpoint or method. (POST /chat/completions)"}),
        "openai": _openai(404, None, "Invalid URL (POST /v1/v1/chat/completions)"),
        "": (404, {"detail": "Not Found"}),
    },
    "invalid": {
        "": (400, {"detail": [{"loc": ["body", "messages"], "msg": "Field required"}]}),
    },
    "unscripted": {"": _openai(500, None, "nothing is scripted for this request")},
}
"""What comes as JSON before the first token; the name \"\" stands for every other server."""

STRANGE: Mapping[str, tuple[int, str, bytes]] = {
    "html": (502, "text/html", b"<html><body><h1>502 Bad Gateway</h1></body></html>\n"),
    "loading_page": (503, "text/html; charset=utf-8", b"<html>The model is loading</html>\n"),
    "login": (200, "text/html", b"<html><body>please log in</body></html>\n"),
    "no_page": (404, "text/plain", b"404 page not found"),
    "redirect": (307, "", b""),
    "died": (500, "text/plain; charset=utf-8", b"Internal Server Error"),
    "silent_500": (500, "", b""),
    "empty": (200, "application/json", b""),
    "list": (200, "application/json", b"[1,2]\n"),
    "no_answer": (200, "application/json", b'{"hello":"world"}\n'),
    "number_error": (500, "application/json", b'{"error":5}'),
    "deep": (400, "application/json", b'{"error":' * 100_000),
    "no_stream": (200, "text/event-stream", b"hello\n\n"),
    "garbage": (200, "text/event-stream", b"data: this is no JSON\n\n"),
    "invalid_utf8": (200, "text/event-stream", b'data: {"choices":["\xff\xfe"]}\n\n'),
    "huge_line": (200, "text/event-stream", b"data: " + b"x" * 9_000_000 + b"\n\n"),
}
"""What is no answer of the protocol: status, content type, body."""


def build_failure(name: str, kind: Kind, given: Mapping[str, Any]) -> tuple[int, str, bytes]:
    """Return status, content type and body of a failure."""
    if name in STRANGE:
        return STRANGE[name]
    ways = FAILURES[name]
    status, body = ways.get(kind) or ways[""]
    filled = _fill_in(body, {**_EXAMPLES, **given})
    return status, "application/json; charset=utf-8", json.dumps(filled).encode()


def _fill_in(value: Any, given: Mapping[str, Any]) -> Any:
    """Return JSON with the placeholders of its texts filled in."""
    if isinstance(value, dict):
        return {name: _fill_in(one, given) for name, one in value.items()}
    if isinstance(value, list):
        return [_fill_in(one, given) for one in value]
    return Template(value).safe_substitute(given) if isinstance(value, str) else value

"""How Ollama fails, word by word: one table, by name, call and generation."""

from collections.abc import Mapping
from string import Template
from typing import Any, TypeAlias

from tests.fakes.ollama_wire import SHOW, Generation, to_go_json

Said: TypeAlias = "tuple[int, str] | dict[str, Said]"
"""A status with the text of `{"error": …}`; or several, by call or by generation."""

CRASHED = "an error was encountered while running the model: unexpected EOF"
"""What a stream ends with when the runner dies."""

GARBAGE_LINE = b"this is no JSON\n"
INVALID_UTF8_LINE = b'{"message":{"role":"assistant","content":"\xff\xfe"},"done":false}\n'
HUGE_LINE = b'{"message":{"role":"assistant","content":"' + b"x" * 9_000_000 + b'"},"done":false}\n'

_EXAMPLES: Mapping[str, Any] = {
    "model": "nope",
    "full": "nope:latest",
    "prompt_tokens": 1018,
    "n_ctx": 256,
    "field": "ChatRequest.model",
    "kind": "number",
    "go_type": "string",
    "value": "wrong",
    "option": "num_ctx",
    "option_type": "integer",
}

_MISSING: Said = (404, "model '$model' not found")
_OVERFLOW = (
    '{"error":{"code":400,"message":"request ($prompt_tokens tokens) exceeds the available context '
    'size ($n_ctx tokens), try increasing it","type":"exceed_context_size_error",'
    '"n_prompt_tokens":$prompt_tokens,"n_ctx":$n_ctx}}'
)
_LONGER = (
    "the prompt is longer than the context length currently available to the model; shorten the "
    "prompt, adjust the context length in settings, or use a model with a longer context length"
)
_STOPPED = (
    "model runner has unexpectedly stopped, this may be due to resource limitations or an internal "
    "error, check ollama server logs for details"
)
_LOAD = "error loading model: missing tensor 'blk.0.attn_q.weight'"
_NO_IMAGES = "Multimodal data provided, but model does not support multimodal requests."
_BAD_SCHEMA = "JSON schema conversion failed:\\nUnrecognized schema: 5"


def _build_invalid(message: str) -> str:
    return f'{{"error":{{"code":400,"message":"{message}","type":"invalid_request_error"}}}}'


FAILURES: Mapping[str, Said] = {
    "missing": {
        "show": {"old": _MISSING, "new": (404, "model '$full' not found")},
        "": _MISSING,
    },
    "model_required": (400, "model is required"),
    "invalid_name": (400, "invalid model name"),
    "missing_body": (400, "missing request body"),
    "broken_json": (400, "invalid character 'b' looking for beginning of object key string"),
    "wrong_type": (
        400,
        "json: cannot unmarshal $kind into Go struct field $field of type $go_type",
    ),
    "bad_think": (
        400,
        'invalid think value: "$value" (must be "high", "medium", "low", "max", true, or false)',
    ),
    "no_unit": (400, 'time: missing unit in duration "$value"'),
    "bad_duration": (400, 'time: invalid duration "$value"'),
    "bad_option": (500, 'option "$option" must be of type $option_type'),
    "bad_format": (500, 'invalid format: $value; expected "json" or a valid JSON Schema object'),
    "bad_schema": {
        "old": (500, "invalid JSON schema in format"),
        "new": (400, _build_invalid(_BAD_SCHEMA)),
    },
    "embedding_only": (400, '"$model" does not support chat'),
    "no_embeddings": (
        501,
        "This server does not support embeddings. Start it with `--embeddings`",
    ),
    "no_thinking": (400, '"$model" does not support thinking'),
    "no_tools": (400, "registry.ollama.ai/library/$full does not support tools"),
    "no_insert": (400, "registry.ollama.ai/library/$full does not support insert"),
    "no_images": (400, _build_invalid(_NO_IMAGES)),
    "overflow": {
        "old": (400, "the input length exceeds the context length"),
        "new": (400, _OVERFLOW),
    },
    "overflow_shift": (400, _LONGER),
    "overflow_length": (400, "input length exceeds maximum context length"),
    "overflow_input": (400, "input exceeds maximum context length"),
    "overflow_truncated": (400, "input after truncation exceeds maximum context length"),
    "load_failed": {
        "old": (
            500,
            f"llama runner process has terminated: {_LOAD}\npanic:",
        ),
        "new": (
            500,
            f"llama-server process has terminated: exit status 1: {_LOAD}\n",
        ),
    },
    "no_memory": {
        "old": (500, "model requires more system memory (19.8 GiB) than is available (7.2 GiB)"),
        "new": (500, "llama-server reported out-of-memory during startup: failed to allocate"),
    },
    "load_stalled": {
        "old": (500, "timed out waiting for llama runner to start - progress 0.00 - "),
        "new": (500, "timed out waiting for llama-server to start - "),
    },
    "crashed": {
        "old": (500, _STOPPED),
        "new": (500, CRASHED),
    },
    "busy": (503, "server busy, please try again.  maximum pending requests exceeded"),
    "cloud_disabled": {
        "show": (403, "ollama cloud is disabled: remote model details are unavailable"),
        "": (403, "ollama cloud is disabled: remote model is unavailable"),
    },
    "unauthorized": (401, "unauthorized"),
    "rate_limited": (429, "rate limit exceeded"),
    "cloud_unreachable": (502, 'Post "https://ollama.com:443/api/chat": dial tcp: i/o timeout'),
    "unscripted": (500, "nothing is scripted for this request"),
}
"""What comes as JSON before the first token."""

OVERFLOWS = tuple(name for name in FAILURES if name.startswith("overflow"))

STRANGE: Mapping[str, tuple[int, str, bytes]] = {
    "no_page": (404, "text/plain", b"404 page not found"),
    "wrong_method": (405, "text/plain", b"405 method not allowed"),
    "redirect": (307, "", b""),
    "forbidden": (403, "", b""),
    "html": (502, "text/html", b"<html><body><h1>502 Bad Gateway</h1></body></html>\n"),
    "login": (200, "text/html", b"<html><body>please log in</body></html>\n"),
    "empty": (200, "application/json; charset=utf-8", b""),
    "silent_500": (500, "", b""),
    "list": (200, "application/json; charset=utf-8", b"[1,2]\n"),
    "number_error": (500, "application/json; charset=utf-8", b'{"error":5}'),
    "garbage_line": (200, "application/x-ndjson", GARBAGE_LINE),
    "huge_line": (200, "application/x-ndjson", HUGE_LINE),
    "invalid_utf8": (200, "application/x-ndjson", INVALID_UTF8_LINE),
}
"""What is no error of the API: status, content type, body."""


def build_failure(
    name: str, path: str, generation: Generation, given: Mapping[str, Any]
) -> tuple[int, str, bytes]:
    """Return status, content type and body of a failure."""
    if name in STRANGE:
        return STRANGE[name]
    said = FAILURES[name]
    while isinstance(said, dict):
        call = "show" if path == SHOW else ""
        said = next(said[key] for key in (call, generation, "") if key in said)
    status, text = said
    error = Template(text).substitute({**_EXAMPLES, **given})
    more = {"signin_url": "https://ollama.com/connect"} if name == "unauthorized" else {}
    body = to_go_json({"error": error, **more}).encode()
    return status, "application/json; charset=utf-8", body

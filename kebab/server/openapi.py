"""Describes the operations of the server as an OpenAPI 3.1 document."""

import inspect
import json
from functools import cache

from msgspec import structs

from kebab import __version__
from kebab.wire.error import ErrorReply
from kebab.wire.json_schema import Schema, build_components, require_envelope
from kebab.wire.operations import REMOTE_OPERATIONS, Operation

PREFIX = "/v1"
HEALTH_PATH, DOCUMENT_PATH = f"{PREFIX}/health", f"{PREFIX}/openapi.json"

_DESCRIPTION = (
    "Every operation of kebab takes its request as a JSON object, where an empty body means all"
    " defaults, and answers with the object that `--json` prints. An honest negative result has the"
    " status 200 as well; `exit_code` tells it apart. Errors are `error.v1`."
)


def build_path(operation: str) -> str:
    """Return the path of an operation."""
    return f"{PREFIX}/{operation}"


def build_document() -> Schema:
    """Return the document."""
    forms = [
        form
        for operation in REMOTE_OPERATIONS.values()
        for form in (operation.request, *operation.replies, operation.stream)
        if form is not None
    ]
    return {
        "openapi": "3.1.0",
        "info": {"title": "kebab", "version": __version__, "description": _DESCRIPTION},
        "security": [{"token": []}],
        "paths": {
            **{build_path(name): _describe(name, one) for name, one in REMOTE_OPERATIONS.items()},
            HEALTH_PATH: _HEALTH,
        },
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "responses": {
                "Error": {
                    "description": "An error; its status is that of the code in the catalogue.",
                    "content": {"application/json": {"schema": require_envelope(ErrorReply)}},
                }
            },
            "schemas": build_components([*dict.fromkeys(forms), ErrorReply]),
        },
    }


@cache
def encode_document() -> bytes:
    """Return the document as JSON."""
    return json.dumps(build_document(), ensure_ascii=False).encode() + b"\n"


_HEALTH: Schema = {
    "get": {
        "operationId": "health",
        "summary": "Say that the server lives.",
        "security": [],
        "responses": {"200": {"description": "It lives."}},
    }
}
_ERRORS = {status: {"$ref": "#/components/responses/Error"} for status in ("4XX", "5XX")}


def _describe(name: str, operation: Operation) -> Schema:
    request = operation.request
    needed = any(field.required for field in structs.fields(request))
    replies = [require_envelope(reply) for reply in operation.replies]
    explained = inspect.cleandoc(operation.replies[0].__doc__ or "")
    summary = explained.partition("\n\n")[0].replace("\n", " ")
    if operation.effect != "reads":
        summary += " It writes or deletes, so the server needs `--allow-write`."
    schema = {"$ref": f"#/components/schemas/{request.__name__}"}
    content = {
        "application/json": {"schema": replies[0] if len(replies) == 1 else {"anyOf": replies}}
    }
    if operation.stream is not None:
        content |= {
            "application/x-ndjson": {"schema": require_envelope(operation.stream)},
            "text/event-stream": {"schema": {"type": "string"}},
        }
    return {
        "post": {
            "operationId": name,
            "summary": summary,
            "requestBody": {
                "required": needed,
                "content": {"application/json": {"schema": schema}},
            },
            "responses": {"200": {"description": "The reply.", "content": content}, **_ERRORS},
        }
    }

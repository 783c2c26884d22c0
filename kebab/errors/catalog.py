"""The catalogue of errors: one class is one row.

The docstring of a row is the explanation that `kebab explain CODE` prints. The meaning of a
released row is frozen by `docs/wire-schema/v1/errors.lock.json`.
"""

import os
import re
from collections.abc import Mapping
from typing import Literal, TypeAlias

from kebab.errors.signal import (
    Backoff,
    Canonical,
    Exit,
    Kind,
    Meaning,
    Origin,
    Rerun,
    Retry,
    Severity,
    Signal,
    Wording,
)

Op: TypeAlias = Literal["read", "write", "create"]
"""An operation on a file or folder."""

NO_FILE = "no such file"
NO_FOLDER = "no such folder"
NOT_UTF8 = "the name is not valid UTF-8"
"""Causes that kebab words itself, so that a hint can depend on them."""

_FALLBACKS: Mapping[str, tuple[str, Rerun]] = {
    "ask": ("kebab ask --extractive QUESTION", Rerun(add=("--extractive",), drop=("--model",))),
    "review": (
        "kebab review --no-llm DOCUMENT",
        Rerun(add=("--no-llm",), drop=("--model", "--tier")),
    ),
}
"""How an operation goes on without a language model: a command, and the same call."""
_NEEDS_MODEL = ("translate",)
"""The operations that cannot go on without a language model."""
_OTHER_MODEL: Mapping[str, str] = {
    "ask": "kebab ask --model NAME QUESTION",
    "review": "kebab review --model NAME DOCUMENT",
    "translate": "kebab translate --model NAME --to LANG DOCUMENT",
}
"""How an operation is repeated with another model."""

ServerFault: TypeAlias = Literal["proxy", "certificate", "silent", "server"]
"""What keeps a model server from answering, where it is not the connection itself; may grow."""
Rejection: TypeAlias = Literal[
    "key_missing", "key_refused", "sign_in", "option", "memory", "load", "unknown_model", "task"
]
"""Why a model server refuses: the key, an option, a lack of memory, the file of the model, a model
that it does not have, or a task that the model cannot do."""


def build_variable_name(key: str) -> str:
    """Return the environment variable that sets a dotted key."""
    return "KEBAB_" + key.replace(".", "_").upper()


def _find_fallback(operation: str | None) -> str:
    """Return a command that does without a language model what an operation does."""
    return _FALLBACKS.get(operation or "", _FALLBACKS["ask"])[0]


def _plan_fallback(operation: str | None) -> Rerun | None:
    """Return the same call without a language model; None when there is none."""
    if operation in _NEEDS_MODEL:
        return None
    return _FALLBACKS.get(operation or "", _FALLBACKS["ask"])[1]


_TURN_ON = "export {variable}=true"


def _find_variable(setting: str | None) -> str:
    """Return the environment variable of a setting, which may itself be a variable."""
    setting = setting or "models.llm.endpoint"
    return build_variable_name(setting) if "." in setting else setting


class ConfigInvalid(
    Signal,
    meaning=Meaning(
        code="config_invalid",
        kind=Kind.SCHEMA,
        canonical=Canonical.INVALID_INPUT,
        domain="CONFIG.INVALID",
        origin=Origin.CORE,
        http=400,
        grpc="INVALID_ARGUMENT",
    ),
    message="invalid configuration: {path}: {cause}",
    hint="correct the file, or replace it and keep a copy: `kebab init --force`",
    derived=("variable", "folder"),
    cases={
        "missing": Wording("invalid configuration: {path}: {cause}", "kebab init"),
        "folder": Wording("invalid configuration: {path}: {cause}", "mkdir -p {folder}"),
        "variable": Wording("invalid configuration: {path}: {cause}", "unset {variable}"),
        "setting": Wording("invalid configuration: {path}: {cause}", "kebab doctor"),
        "special": Wording("invalid configuration: {path}: {cause}"),
    },
):
    """The configuration cannot be used.

    The file named by `--config` does not exist or is not TOML, or the file, a variable `KEBAB_…`
    or `OLLAMA_HOST` has an unknown key or an invalid value. Nothing was read or written. `path` is
    the absolute path of the file, the variable with a leading `$`, or the key of the setting.

    Example: `limit = 0` below `[search]` in `config.toml`. Every command that needs settings
    fails, and `path` names the file.

    What to do: correct what `cause` names, or write a new file with `kebab init --force`, which
    keeps a copy of the old one. Unset the variable if you do not need it.
    """

    path: str
    cause: str

    def choose_case(self) -> str:
        """Return the case; a new file does not correct a variable."""
        if self.path.startswith("$"):
            return "variable"
        if self.cause in (NO_FILE, NO_FOLDER):
            return "missing" if self.cause == NO_FILE else "folder"
        if os.sep not in self.path:
            return "setting"
        if self.cause == NOT_UTF8:
            return "special"
        # A pipe, a device or a folder cannot be replaced by a settings file.
        return "special" if os.path.exists(self.path) and not os.path.isfile(self.path) else ""  # noqa: PTH110, PTH113

    def derive_values(self) -> Mapping[str, str]:
        """Return the name of the variable, and the folder of the file."""
        return {"variable": self.path.removeprefix("$"), "folder": os.path.dirname(self.path)}  # noqa: PTH120 - text is wanted


class UsageInvalid(
    Signal,
    meaning=Meaning(
        code="usage_invalid",
        kind=Kind.SCHEMA,
        canonical=Canonical.INVALID_INPUT,
        domain="CLI.USAGE",
        origin=Origin.SURFACE,
        http=400,
        grpc="INVALID_ARGUMENT",
    ),
    message="{cause}",
    hint="kebab --help",
):
    """The command line cannot be understood.

    A flag is unknown, a value has the wrong form, an argument is missing, or the command has
    nothing to work on. `option` names the flag or the argument.

    Example: `kebab search bread --limt 3`, or `kebab ingest` while no folder is known.

    What to do: read `kebab COMMAND --help`.
    """

    option: str
    cause: str


class InvalidInput(
    Signal,
    meaning=Meaning(
        code="invalid_input",
        kind=Kind.SCHEMA,
        canonical=Canonical.INVALID_INPUT,
        domain="SCHEMA.VALIDATION_FAILED",
        origin=Origin.CORE,
        http=422,
        grpc="INVALID_ARGUMENT",
    ),
    message="invalid `{field}`: {cause}",
):
    """A request does not match its schema.

    `field` names the first invalid field as the caller wrote it: the flag or argument of a command
    line, such as `--limit` or `QUERY`; the path in a line of JSON, such as `$.limit`; the file and
    line of any other input. An unknown field and an empty query are invalid too.

    Example: `kebab search ""`, or a line `{"query": "bread", "limit": "ten"}` on the standard
    input of `kebab search --bulk`.

    What to do: correct the field; `kebab schema` lists the schemas.
    """

    field: str
    cause: str


class InvalidCursor(
    Signal,
    meaning=Meaning(
        code="invalid_cursor",
        kind=Kind.SCHEMA,
        canonical=Canonical.INVALID_INPUT,
        domain="SEARCH.CURSOR_INVALID",
        origin=Origin.CORE,
        http=400,
        grpc="INVALID_ARGUMENT",
    ),
    message="invalid cursor: {cause}",
    hint="repeat the search without `--cursor`",
    rerun=Rerun(drop=("--cursor",)),
):
    """The cursor is damaged, or belongs to another query.

    A cursor is valid only for one query with its filters, and for one knowledge base.

    Example: the `next_cursor` of `kebab search bread` given to `kebab search butter --cursor`.

    What to do: pass `next_cursor` back unchanged, with the same query and flags, or start again
    without `--cursor`.
    """

    cause: str


class StaleCursor(
    Signal,
    meaning=Meaning(
        code="stale_cursor",
        kind=Kind.CONFLICT,
        canonical=Canonical.STATE_VIOLATION,
        domain="SEARCH.CURSOR_STALE",
        origin=Origin.CORE,
        http=409,
        grpc="ABORTED",
        retry=Retry.TRANSIENT,
        severity=Severity.WARN,
        backoff=Backoff(first_ms=0, factor=1, ceiling_ms=0, attempts=2),
    ),
    message=(
        "the index has changed since this cursor was issued: "
        "revision {issued_revision}, now {current_revision}"
    ),
    hint="repeat the search without `--cursor`",
    rerun=Rerun(drop=("--cursor",)),
    cases={
        "document": Wording(
            "the document has changed since its review began: {path}",
            "review it again: `kebab review {path}`",
        ),
    },
):
    """The index, or a document under review, has changed between two pages.

    All pages of one search come from one state of the index, and all pages of a review from one
    state of each document, which `path` names then. The cursor stays stale, so only a search
    without it, or a new review, can succeed.

    Example: a note was ingested between the first page of `kebab search bread` and the second.

    What to do: repeat the search without `--cursor`, or review the document again.
    """

    issued_revision: int
    current_revision: int
    path: str | None = None

    def choose_case(self) -> str:
        """Return the case: a document of a review, or the index."""
        return "document" if self.path else ""

    def plan_rerun(self) -> Rerun | None:
        """Return the search without the cursor; a review begins again with the document."""
        return None if self.path else self.rerun


class NotIndexed(
    Signal,
    meaning=Meaning(
        code="not_indexed",
        kind=Kind.PRECONDITION,
        canonical=Canonical.STATE_VIOLATION,
        domain="STORAGE.NOT_INDEXED",
        origin=Origin.ADAPTER,
        exit=Exit.UNUSABLE,
        http=409,
        grpc="FAILED_PRECONDITION",
    ),
    message="no usable index in {data_dir}",
    hint="kebab ingest FOLDER",
    cases={
        "older": Wording(
            "no usable index in {data_dir}: its schema is {found}, this build reads {expected}",
            "kebab ingest",
        ),
        "newer": Wording(
            "no usable index in {data_dir}: its schema is {found}, this build reads {expected}",
            "pip install --upgrade kebab",
        ),
        "file": Wording(
            "cannot read {file}: its schema is {found}, this build reads {expected}",
            "pip install --upgrade kebab",
        ),
    },
):
    """There is no database that this build can read.

    Nothing was ingested into this data directory yet (`found` is null), its schema needs a
    migration (`found` below `expected`), or a newer kebab wrote it (`found` above `expected`).
    `file` is the database with the stored reviews, null for that of the index.

    Example: `kebab search bread` before the first `kebab ingest`.

    What to do: run `kebab ingest FOLDER`. It also migrates an older database. For a newer
    database, upgrade kebab.
    """

    data_dir: str
    expected: int
    found: int | None
    file: str | None = None

    def choose_case(self) -> str:
        """Return the case by the file, and by the schema that was found."""
        if self.file:
            return "file"
        if not self.found:
            return ""
        return "older" if self.found < self.expected else "newer"


class ModelUnreachable(
    Signal,
    meaning=Meaning(
        code="model_unreachable",
        kind=Kind.NETWORK,
        canonical=Canonical.ADAPTER_VALIDATION,
        domain="LLM.UNREACHABLE",
        origin=Origin.ADAPTER,
        http=503,
        grpc="UNAVAILABLE",
        retry=Retry.TRANSIENT,
    ),
    message="cannot reach the model server at {endpoint}: {cause}",
    hint="go on without a server: `{fallback}`",
    derived=("variable", "host", "fallback"),
    cases={
        "ollama": Wording(
            "cannot reach Ollama at {endpoint} (`{setting}`): {cause}",
            "start the server with `ollama serve`, or go on without it: `{fallback}`",
        ),
        "address": Wording(
            "cannot reach the model server at {endpoint} (`{setting}`): {cause}",
            "start the server, or set another address: `export {variable}=URL`",
        ),
        "proxy": Wording(
            "cannot reach the model server at {endpoint} through the proxy of `{setting}`: {cause}",
            'go around the proxy: `export NO_PROXY="$NO_PROXY,"{host}`',
        ),
        "issuer": Wording(
            "cannot reach the model server at {endpoint} (`{setting}`): {cause}",
            "trust the issuer in a PEM file: `export SSL_CERT_FILE=FILE`",
        ),
        "certificate": Wording(
            "cannot reach the model server at {endpoint} (`{setting}`): {cause}",
            "renew the certificate, or set another address: `export {variable}=URL`",
        ),
        "silent": Wording(
            "cannot reach the model server at {endpoint} (`{setting}`): {cause}",
            "try again when the server is not busy, or set another address: "
            "`export {variable}=URL`",
        ),
        "server": Wording(
            "no complete answer from the model server at {endpoint}: {cause}",
            "try again, or go on without it: `{fallback}`",
        ),
        "needed": Wording(
            "cannot reach the model server at {endpoint}: {cause}",
            "try again when the server is running",
        ),
    },
):
    """The model server did not answer.

    The connection was refused, the host name is unknown, connecting took too long, the port accepts
    connections and stays silent, a proxy or the certificate is in the way, or the connection was
    lost while the answer was streaming. `setting` is the setting or the variable that decides about
    the address or the proxy. `reason` says what is in the way, null for the connection itself.

    Example: `kebab ask "How long does the dough rest?"` while no Ollama is running.

    What to do: start the server, or correct `models.llm.endpoint` (for Ollama also `OLLAMA_HOST`).
    A port that stays silent may belong to another program, or to a server that takes one request at
    a time; one that is only slow needs a larger `models.llm.connect_s`. `kebab ask --extractive`
    answers without a server, with sentences from the notes, and `kebab review --no-llm` applies
    the rules alone.
    """

    endpoint: str
    operation: str
    cause: str
    provider: str | None = None
    setting: str | None = None
    reason: str | None = None

    def choose_case(self) -> str:
        """Return the case by what is in the way, and by the provider."""
        if self.reason == "certificate" and _UNKNOWN_ISSUER.search(self.cause):
            return "issuer"
        is_needed = self.operation in _NEEDS_MODEL
        if self.reason:
            return "needed" if is_needed and self.reason == "server" else self.reason
        if self.provider == "ollama" and _is_local(self.endpoint) and not is_needed:
            return "ollama"
        if self.setting:
            return "address"
        return "needed" if is_needed else ""

    def derive_values(self) -> Mapping[str, str]:
        """Return the variable that sets the address, the host, and a command without a model."""
        return {
            "variable": _find_variable(self.setting),
            "host": _find_host(self.endpoint),
            "fallback": _find_fallback(self.operation),
        }

    def plan_rerun(self) -> Rerun | None:
        """Return the work without a model, unless another hint repairs the cause."""
        return None if self.reason in ("proxy", "certificate") else _plan_fallback(self.operation)


_UNKNOWN_ISSUER = re.compile("self.signed|issuer")
"""How OpenSSL words that nothing on this machine vouches for a certificate."""


def _find_host(endpoint: str) -> str:
    """Return the host of a URL without user info."""
    host = endpoint.partition("://")[2].partition("/")[0]
    return host.rpartition(":")[0].strip("[]") or host


def _is_local(endpoint: str) -> bool:
    host = _find_host(endpoint)
    return host.startswith("127.") or host in ("localhost", "::1")


class ModelNotPulled(
    Signal,
    meaning=Meaning(
        code="model_not_pulled",
        kind=Kind.LLM_ERROR,
        canonical=Canonical.STATE_VIOLATION,
        domain="LLM.MODEL_MISSING",
        origin=Origin.ADAPTER,
        http=424,
        grpc="FAILED_PRECONDITION",
    ),
    message="Ollama does not have the model: {model}",
    hint="ollama pull {model}",
):
    """Ollama is running but does not have the model.

    A server with the OpenAI-compatible API reports `model_rejected` instead, because nothing can be
    pulled there.

    Example: `kebab ask --model gemma4:e4b "What is kebab?"` when `ollama list` does not name it.

    What to do: pull the model with `ollama pull`, or set another one in `models.llm.model`.
    `models` lists those that the server has, where they are known.
    """

    model: str
    endpoint: str
    operation: str
    models: list[str] | None = None


class ModelRejected(
    Signal,
    meaning=Meaning(
        code="model_rejected",
        kind=Kind.LLM_ERROR,
        canonical=Canonical.ADAPTER_VALIDATION,
        domain="LLM.REJECTED",
        origin=Origin.ADAPTER,
        http=502,
        grpc="FAILED_PRECONDITION",
    ),
    message="the model server refused {model}: {cause}",
    hint="use another model: `{other}`",
    derived=("variable", "value", "near", "other"),
    cases={
        "key_missing": Wording(
            "the model server at {endpoint} requires a key, and `{setting}` is not set: {cause}",
            "export {variable}=KEY",
        ),
        "key_refused": Wording(
            "the model server at {endpoint} refused the key in `{setting}`: {cause}",
            "export {variable}=KEY",
        ),
        "sign_in": Wording(
            "Ollama requires an account for {model}: {cause}",
            "ollama signin",
        ),
        "option": Wording(
            "the model server refused `{setting}` for {model}: {cause}",
            "export {variable}={value}",
        ),
        "memory": Wording(
            "the model server has too little memory for {model}: {cause}",
            "use a smaller model: `{other}`",
        ),
        "load": Wording(
            "the model server cannot load {model}: {cause}",
            "use another model: `{other}`",
        ),
        "unknown_model": Wording(
            "the model server at {endpoint} does not offer {model}: {cause}",
            "use a model of the server: `export KEBAB_MODELS_LLM_MODEL={near}`",
        ),
    },
):
    """The server refuses to answer with this model.

    The model can only embed (`reason` `task`), the server cannot load it because it is damaged
    (`load`) or too large for the memory (`memory`), it does not support an option (`option`), it
    requires a key (`key_missing`, `key_refused`) or an account (`sign_in`), or it has no such model
    (`unknown_model`; OpenAI-compatible servers). `cause` is the reason that the server gives,
    `setting` the setting or the variable that decides, and `models` the models that the server
    lists, the nearest name first.

    Example: `kebab ask --model all-minilm "What is kebab?"`, a model that can only embed.

    What to do: choose another model in `models.llm.model`, correct the key in the variable that
    `models.llm.key_variable` names, or look at the server's log.
    """

    model: str
    endpoint: str
    operation: str
    cause: str
    reason: str | None = None
    setting: str | None = None
    models: list[str] | None = None

    def choose_case(self) -> str:
        """Return the case by the reason; a task needs no wording of its own."""
        return self.reason if self.reason and self.reason != "task" else ""

    def derive_values(self) -> Mapping[str, str]:
        """Return the variable of the setting, a value that every model supports, and commands."""
        value = _SAFE_VALUES.get(self.setting or "", "VALUE")
        near = self.models[0] if self.models else "NAME"
        other = _OTHER_MODEL.get(self.operation, _OTHER_MODEL["ask"])
        variable = _find_variable(self.setting)
        return {"variable": variable, "value": value, "near": near, "other": other}

    def plan_rerun(self) -> Rerun | None:
        """Return the work with a safe option or without a model; None when a key is needed."""
        if self.reason in ("key_missing", "key_refused", "sign_in"):
            return None
        value = _SAFE_VALUES.get(self.setting or "")
        if value:
            return Rerun(variables=((_find_variable(self.setting), value),))
        return _plan_fallback(self.operation)


_SAFE_VALUES = {"models.llm.think": "false", "models.llm.keep_alive": "5m"}
"""The values of options that every server supports."""


class ModelBusy(
    Signal,
    meaning=Meaning(
        code="model_busy",
        kind=Kind.RATE_LIMIT,
        canonical=Canonical.STATE_VIOLATION,
        domain="LLM.BUSY",
        origin=Origin.ADAPTER,
        http=503,
        grpc="RESOURCE_EXHAUSTED",
        retry=Retry.TRANSIENT,
        severity=Severity.WARN,
        backoff=Backoff(first_ms=2_000, ceiling_ms=60_000, attempts=6),
    ),
    message="the model server is busy: {endpoint}",
    hint="try again in a moment",
    cases={
        "loading": Wording(
            "the model server is still loading its model: {endpoint}", "try again in a moment"
        ),
    },
):
    """The server's queue is full, the server limits the rate of requests, or it loads its model.

    Nothing was lost. While a server loads its model (`reason` `loading`), kebab waits for it up to
    `models.llm.first_token_s`.

    Example: several programs use one Ollama at once, and it answers `server busy`.

    What to do: try again in a moment; `kebab ask --extractive` needs no server.
    """

    endpoint: str
    operation: str
    reason: str | None = None

    def choose_case(self) -> str:
        """Return the case: loading is not the work of others."""
        return self.reason or ""


class ModelProtocol(
    Signal,
    meaning=Meaning(
        code="model_protocol",
        kind=Kind.LLM_ERROR,
        canonical=Canonical.CONTRACT_MISMATCH,
        domain="LLM.PROTOCOL",
        origin=Origin.ADAPTER,
        http=502,
        grpc="INTERNAL",
        retry=Retry.TRANSIENT,
        backoff=Backoff(attempts=2),
    ),
    message="unexpected response from {endpoint}: {cause}",
    hint="kebab doctor",
    derived=("variable",),
    cases={
        "address": Wording(
            "unexpected response from {endpoint} (`{setting}`): {cause}",
            "set the address of the model server: `export {variable}=URL`",
        ),
    },
):
    """The response does not come from a model server, it is incomplete, or the server failed.

    The endpoint belongs to another program, a proxy, a login page, or a server that is too old;
    `setting` then names the setting or the variable with the address. Or the stream ended without
    its last line, which happens when a model repeats itself endlessly. Or the server answers that
    something failed on its side, such as HTTP status 500; `cause` has its words.

    Example: `models.llm.endpoint` names the port of a web server, which returns an HTML page.

    What to do: check `models.llm.endpoint` and `models.llm.provider` with `kebab doctor`, or try
    again.
    """

    endpoint: str
    operation: str
    cause: str
    setting: str | None = None

    def choose_case(self) -> str:
        """Return the case: a wrong address, or a failure of the server."""
        return "address" if self.setting else ""

    def derive_values(self) -> Mapping[str, str]:
        """Return the variable that sets the address."""
        return {"variable": _find_variable(self.setting)}


class ContextOverflow(
    Signal,
    meaning=Meaning(
        code="context_overflow",
        kind=Kind.LLM_ERROR,
        canonical=Canonical.INVALID_INPUT,
        domain="LLM.CONTEXT_OVERFLOW",
        origin=Origin.ADAPTER,
        http=413,
        grpc="OUT_OF_RANGE",
    ),
    message="the prompt exceeds the model's window of {context_tokens} tokens: {prompt_tokens}",
    hint=(
        "a larger window than `models.llm.context_tokens = {context_tokens}` holds more; "
        "without a model: `{fallback}`"
    ),
    derived=("fallback",),
    cases={
        "needed": Wording(
            "the prompt exceeds the model's window of {context_tokens} tokens: {prompt_tokens}",
            "a larger window than `models.llm.context_tokens = {context_tokens}` holds more",
        ),
    },
):
    """The question and its passages do not fit the model's window.

    Fewer and shorter passages did not fit either. `prompt_tokens` is the server's count, or an
    estimate when the server gives none.

    Example: a question with a whole report pasted into it, for a model with 8192 tokens.

    What to do: ask a shorter question, or raise `models.llm.context_tokens` if the model allows
    it. `kebab ask --extractive` answers without a model, with sentences from the notes.
    """

    prompt_tokens: int
    context_tokens: int
    operation: str | None = None

    def choose_case(self) -> str:
        """Return the case: not every operation can go on without a model."""
        return "needed" if self.operation in _NEEDS_MODEL else ""

    def derive_values(self) -> Mapping[str, str]:
        """Return a command that needs no model."""
        return {"fallback": _find_fallback(self.operation)}

    def plan_rerun(self) -> Rerun | None:
        """Return the work without a model."""
        return _plan_fallback(self.operation)


class EmbeddingUnavailable(
    Signal,
    meaning=Meaning(
        code="embedding_unavailable",
        kind=Kind.PROVIDER,
        canonical=Canonical.ADAPTER_VALIDATION,
        domain="EMBEDDING.UNAVAILABLE",
        origin=Origin.ADAPTER,
        http=503,
        grpc="UNAVAILABLE",
        retry=Retry.TRANSIENT,
        backoff=Backoff(first_ms=30_000, ceiling_ms=600_000, attempts=3),
    ),
    message="cannot get the embedding model {model}: {cause}",
    hint="kebab model pull {model}",
    rerun=Rerun(add=("--mode", "lexical"), drop=("--mode",)),
):
    """The embedding model is not on this machine and cannot be downloaded.

    `tried` lists the sources in order. Only commands that require vectors fail. All others go on
    with words alone and report it.

    Example: `kebab search bread --mode vector` on a machine without a network.

    What to do: download the model with `kebab model pull`, or search with `--mode lexical`, which
    needs no model. The next ingest with a network adds the missing vectors.
    """

    model: str
    tried: list[str]
    cause: str


class EmbeddingMismatch(
    Signal,
    meaning=Meaning(
        code="embedding_mismatch",
        kind=Kind.CONFLICT,
        canonical=Canonical.STATE_VIOLATION,
        domain="EMBEDDING.MISMATCH",
        origin=Origin.CORE,
        http=409,
        grpc="FAILED_PRECONDITION",
    ),
    message="the index was built with {found}, the configured model is {expected}",
    hint="kebab model use auto",
):
    """The configured embedding model is not the one that the index was built with.

    Vectors of two models cannot be compared.

    Example: `models.embedding.model` was changed in `config.toml` after the first ingest.

    What to do: undo the change, or change the model of the knowledge base with `kebab model use
    NAME`, which embeds everything again.
    """

    expected: str
    found: str


class TimedOut(
    Signal,
    meaning=Meaning(
        code="timeout",
        kind=Kind.TIMEOUT,
        canonical=Canonical.ADAPTER_VALIDATION,
        domain="CORE.TIMEOUT",
        origin=Origin.ADAPTER,
        http=504,
        grpc="DEADLINE_EXCEEDED",
        retry=Retry.TRANSIENT,
        backoff=Backoff(attempts=2),
    ),
    message="{operation} took longer than {deadline_ms} ms",
    derived=("variable", "seconds"),
    cases={
        "setting": Wording(
            "{operation} took longer than `{setting}` allows: {deadline_ms} ms",
            "export {variable}={seconds}",
        ),
        "document": Wording(
            "reading {path} took longer than `{setting}` allows: {deadline_ms} ms",
            "export {variable}={seconds}",
        ),
        "first_token": Wording(
            "no token from the model server at {endpoint} within `{setting}`: {deadline_ms} ms",
            "export {variable}={seconds}",
        ),
        "next_token": Wording(
            "no further token from the model server at {endpoint} within `{setting}`: "
            "{deadline_ms} ms",
            "export {variable}={seconds}",
        ),
        "answer": Wording(
            "the answer of the model server at {endpoint} took longer than `{setting}` allows: "
            "{deadline_ms} ms",
            "export {variable}={seconds}",
        ),
        "server": Wording(
            "the model server at {endpoint} was too slow, operation {operation}: {deadline_ms} ms",
        ),
    },
):
    """An operation took longer than its time limit.

    `operation` names it, `setting` the setting with the limit, `path` the document, and `endpoint`
    the model server. A server that does not accept the connection is `model_unreachable` instead.

    Example: `operation` is `first_token` when a large model takes longer to load than
    `models.llm.first_token_s` allows.

    What to do: try again, or raise the limit: `models.llm.first_token_s` and
    `models.llm.total_s` for answers, `models.embedding.deadline_s` for embedding,
    `ingest.deadline_s` for a document. 0 means no limit. Embedding and documents are limited by
    processor time, because a busy machine makes them wait; one that waits or hangs ends after 20
    times its limit by the clock. `elapsed_ms` is the time that was too long.
    """

    operation: str
    elapsed_ms: int
    deadline_ms: int
    setting: str | None = None
    path: str | None = None
    endpoint: str | None = None

    def choose_case(self) -> str:
        """Return the case; not every limit is a setting."""
        if self.endpoint is not None:
            return self.operation if self.setting else "server"
        if self.setting is None:
            return ""
        return "setting" if self.path is None else "document"

    def derive_values(self) -> Mapping[str, str]:
        """Return the variable that sets the limit, and twice the limit in seconds."""
        seconds = f"{2 * self.deadline_ms / 1000:g}"
        return {"variable": build_variable_name(self.setting or ""), "seconds": seconds}

    def plan_rerun(self) -> Rerun | None:
        """Return the same command line with twice the time."""
        values = self.derive_values()
        change = (values["variable"], values["seconds"])
        return Rerun(variables=(change,)) if self.setting else None


KNOWN_IN_IT = "documents are known in it"
"""Part of the cause when the folder of a source is suddenly empty or missing."""


class IoError(
    Signal,
    meaning=Meaning(
        code="io_error",
        kind=Kind.STORAGE,
        canonical=Canonical.ADAPTER_VALIDATION,
        domain="STORAGE.IO",
        origin=Origin.ADAPTER,
        http=500,
        grpc="INTERNAL",
        retry=Retry.TRANSIENT,
    ),
    message="cannot {op} {path}: {cause}",
    hint="kebab doctor",
    derived=("folder",),
    cases={
        "missing": Wording("cannot {op} {path}: {cause}"),
        "emptied": Wording("cannot {op} {path}: {cause}", "kebab source list"),
        "denied_read": Wording("cannot {op} {path}: {cause}", "chmod u+rX {path}"),
        "denied_write": Wording("cannot {op} {path}: {cause}", "chmod u+rwX {folder}"),
    },
):
    """A file or folder cannot be read, written or created.

    It is missing, permission is denied, or the disk is full. `op` is the operation on `path`.

    Example: `kebab ingest notes` when there is no folder `notes`.

    What to do: fix what `cause` names, then repeat the command. `kebab doctor` checks the folders
    that kebab itself writes to.
    """

    path: str
    op: Op
    cause: str

    def choose_case(self) -> str:
        """Return the case by the text of the system, or of kebab."""
        if not self.path.startswith(os.sep):
            return ""
        cause = self.cause.lower()
        if KNOWN_IN_IT in cause:
            return "emptied"
        if cause == "permission denied":
            return "denied_read" if self.op == "read" else "denied_write"
        missing = (NO_FILE, NO_FOLDER, "no such file or directory")
        return "missing" if self.op == "read" and cause in missing else ""

    def derive_values(self) -> Mapping[str, str]:
        """Return what lacks the permission to write: the file, else its nearest folder."""
        place = self.path
        while place.strip(os.sep) and not os.path.lexists(place):
            place = os.path.dirname(place)  # noqa: PTH120 - text is wanted
        return {"folder": place}


class Locked(
    Signal,
    meaning=Meaning(
        code="locked",
        kind=Kind.CONFLICT,
        canonical=Canonical.STATE_VIOLATION,
        domain="STORAGE.LOCKED",
        origin=Origin.ADAPTER,
        http=409,
        grpc="ABORTED",
        retry=Retry.TRANSIENT,
        severity=Severity.WARN,
        backoff=Backoff(ceiling_ms=60_000, attempts=8),
    ),
    message="another process is writing to this knowledge base: pid {holder_pid}",
    hint="try again when it has finished",
    cases={
        "unnamed": Wording(
            "another process is writing to this knowledge base", "try again when it has finished"
        ),
    },
):
    """Another process is writing.

    Only one process writes at a time. Readers never wait.

    Example: `kebab ingest` in a second terminal before the first run has finished.

    What to do: repeat the command when the process named by `holder_pid` has finished.
    """

    path: str
    holder_pid: int | None

    def choose_case(self) -> str:
        """Return the case; the process id of the holder may be unknown."""
        return "unnamed" if self.holder_pid is None else ""


class ClientConfigInvalid(
    Signal,
    meaning=Meaning(
        code="client_config_invalid",
        kind=Kind.SERIALIZATION,
        canonical=Canonical.ADAPTER_VALIDATION,
        domain="CONFIG.CLIENT_INVALID",
        origin=Origin.SURFACE,
        http=422,
        grpc="FAILED_PRECONDITION",
    ),
    message="cannot change the settings of {client}: {path}: {cause}",
    hint="kebab install {client} --print",
):
    """A settings file of another program cannot be changed safely.

    `kebab install` adds one entry to a file of an agent's client. It cannot be parsed, or the entry
    has no place in it. The file is as it was.

    Example: `kebab install zed` when a quote is missing in `settings.json` of Zed.

    What to do: correct what `cause` names and repeat the command, or print the entry with
    `kebab install CLIENT --print` and add it yourself.
    """

    client: str
    path: str
    cause: str


class ReadOnly(
    Signal,
    meaning=Meaning(
        code="read_only",
        kind=Kind.POLICY_DENY,
        canonical=Canonical.STATE_VIOLATION,
        domain="POLICY.READ_ONLY",
        origin=Origin.CORE,
        http=403,
        grpc="PERMISSION_DENIED",
    ),
    message="not allowed with `--read-only`: {operation}",
    hint="repeat without `--read-only`",
    rerun=Rerun(drop=("--read-only",)),
    cases={
        "needs": Wording(
            "the server does not allow this: {operation}", "start the server again with `{needs}`"
        ),
    },
):
    """The command writes, and `--read-only` forbids it.

    `operation` is the operation that writes. A server writes only when it was started with the flag
    in `needs`, which is null on the command line.

    Example: `kebab ingest notes --read-only`.

    What to do: repeat the command without `--read-only`, or start the server with the flag.
    """

    operation: str
    needs: str | None = None

    def choose_case(self) -> str:
        """Return the case: a server without the flag, or the command line."""
        return "needs" if self.needs else ""

    def plan_rerun(self) -> Rerun | None:
        """Return the same command line without the flag, where there is one."""
        return None if self.needs else self.rerun


class StoreCorrupt(
    Signal,
    meaning=Meaning(
        code="store_corrupt",
        kind=Kind.STORAGE,
        canonical=Canonical.INVARIANT_BROKEN,
        domain="STORAGE.CORRUPT",
        origin=Origin.ADAPTER,
        exit=Exit.UNUSABLE,
        http=500,
        grpc="DATA_LOSS",
        severity=Severity.CRITICAL,
    ),
    message="the store is damaged: {path}: {cause}",
    hint="kebab doctor",
):
    """The database or the vector table is damaged.

    Your own files are unchanged.

    Example: a synchronisation program has replaced `kebab.sqlite` with an older or incomplete
    copy.

    What to do: `kebab doctor` reports what is damaged, and how to repair it or to move the damaged
    database away. `kebab ingest FOLDER` then builds everything again from your files; stored
    reviews are in a file of their own, and a search does not need them.
    """

    path: str
    cause: str


class UnsupportedMedia(
    Signal,
    meaning=Meaning(
        code="unsupported_media",
        kind=Kind.SCHEMA,
        canonical=Canonical.INVALID_INPUT,
        domain="INGEST.UNSUPPORTED_MEDIA",
        origin=Origin.CORE,
        http=415,
        grpc="INVALID_ARGUMENT",
    ),
    message="no parser for this file: {path}: {media}",
    hint="kebab ingest --explain {path}",
    derived=("variable",),
    cases={
        "setting": Wording("`{setting}` is off, so images are not read: {path}", _TURN_ON),
    },
):
    """There is no parser for the file that was named.

    Within a folder such files are skipped and counted. `setting` names a setting that has to be
    turned on before such a file is read, as for images.

    Example: `kebab ingest photo.jpg`.

    What to do: `kebab ingest --explain PATH` says in which format to save the file. `kebab schema`
    lists the active parsers.
    """

    path: str
    media: str
    setting: str | None = None

    def choose_case(self) -> str:
        """Return the case: a setting that is off, or no parser at all."""
        return "setting" if self.setting else ""

    def derive_values(self) -> Mapping[str, str]:
        """Return the variable that turns the setting on."""
        return {"variable": build_variable_name(self.setting or "")}


class ParseFailed(
    Signal,
    meaning=Meaning(
        code="parse_failed",
        kind=Kind.SERIALIZATION,
        canonical=Canonical.ADAPTER_VALIDATION,
        domain="INGEST.PARSE_FAILED",
        origin=Origin.ADAPTER,
        http=422,
        grpc="INVALID_ARGUMENT",
    ),
    message="cannot parse {path}: {cause}",
    derived=("variable",),
    cases={"setting": Wording("cannot parse {path}: {cause}", _TURN_ON)},
):
    """A file cannot be parsed.

    Within a folder such a file is reported with its own error, and the run goes on. `setting` names
    a setting with which it can be parsed, such as `ingest.ocr` for a scanned document.

    Example: `kebab ingest notes.md` when that file contains binary data.

    What to do: open the file and fix what `cause` names, or exclude it with `ingest.exclude`.
    """

    path: str
    parser: str
    cause: str
    setting: str | None = None

    def choose_case(self) -> str:
        """Return the case: a setting helps, or none."""
        return "setting" if self.setting else ""

    def derive_values(self) -> Mapping[str, str]:
        """Return the variable that turns the setting on."""
        return {"variable": build_variable_name(self.setting or "")}


class TooLarge(
    Signal,
    meaning=Meaning(
        code="too_large",
        kind=Kind.QUOTA,
        canonical=Canonical.INVALID_INPUT,
        domain="LIMIT.TOO_LARGE",
        origin=Origin.CORE,
        http=413,
        grpc="RESOURCE_EXHAUSTED",
    ),
    message="too large: {what}: {size} bytes, limit {limit}",
):
    """A file, a request body or a batch is larger than its limit.

    `what` names it. Sizes are in bytes.

    Example: `kebab ingest dump.md` with a file of more than 20 MB.

    What to do: split the file, or raise the limit: `ingest.max_file_bytes` for files.
    """

    what: str
    size: int
    limit: int


class Unauthorized(
    Signal,
    meaning=Meaning(
        code="unauthorized",
        kind=Kind.AUTH,
        canonical=Canonical.INVALID_INPUT,
        domain="AUTH.UNAUTHORIZED",
        origin=Origin.SURFACE,
        http=401,
        grpc="UNAUTHENTICATED",
    ),
    message="the token of the server is missing or wrong",
    hint="send it as a header: `Authorization: Bearer TOKEN`",
):
    """The token of the HTTP server is missing or wrong.

    The server reads nothing else of such a request.

    Example: a request to the HTTP server without the header `Authorization`.

    What to do: send the token in the file that the server names when it starts, `http.token` in
    the state directory.
    """


class ServerBusy(
    Signal,
    meaning=Meaning(
        code="server_busy",
        kind=Kind.RATE_LIMIT,
        canonical=Canonical.STATE_VIOLATION,
        domain="SERVER.BUSY",
        origin=Origin.SURFACE,
        http=503,
        grpc="RESOURCE_EXHAUSTED",
        retry=Retry.TRANSIENT,
        severity=Severity.WARN,
        backoff=Backoff(ceiling_ms=30_000, attempts=6),
    ),
    message="too many requests are waiting for this server: {waiting}",
    hint="send fewer requests at the same time",
):
    """Too many requests are waiting for the HTTP server.

    The server answers a fixed number of requests at the same time, and the others wait in the order
    in which they arrived. This one was refused because the queue is full.

    Example: a script that sends a thousand searches without waiting for the first answer.

    What to do: wait as long as `retry_after_ms` says, then send the request again.
    """

    waiting: int


class DependencyMissing(
    Signal,
    meaning=Meaning(
        code="dependency_missing",
        kind=Kind.PRECONDITION,
        canonical=Canonical.STATE_VIOLATION,
        domain="RUNTIME.DEPENDENCY_MISSING",
        origin=Origin.ADAPTER,
        http=501,
        grpc="UNIMPLEMENTED",
    ),
    message="cannot load the library for this feature: {feature}",
    hint="{install}",
    cases={
        "program": Wording("no program to use for this: {feature}", "{install}"),
        "broken": Wording(
            "cannot load the library for this feature: {feature}: {cause}", "{install}"
        ),
    },
):
    """A library or a program that the feature needs is not installed, or cannot be loaded.

    The installed library may be broken, or may not exist for this machine. A search that can use
    words alone goes on without the feature and reports it. `program` names a program that was
    searched for, such as the editor of `kebab open`; it is null for a library. `cause` is the
    error of the import of a library that is installed.

    Example: `kebab search bread --mode vector` when `onnxruntime` cannot be imported.

    What to do: run the command in `install` in the environment of kebab. An installer that is just
    replacing the library has to end first.
    """

    feature: str
    install: str
    program: str | None = None
    cause: str | None = None

    def choose_case(self) -> str:
        """Return the case: a program, or a library with or without the cause."""
        if self.program is not None:
            return "program"
        return "broken" if self.cause else ""


class ConfirmationRequired(
    Signal,
    meaning=Meaning(
        code="confirmation_required",
        kind=Kind.PRECONDITION,
        canonical=Canonical.STATE_VIOLATION,
        domain="POLICY.CONFIRMATION_REQUIRED",
        origin=Origin.CORE,
        http=428,
        grpc="FAILED_PRECONDITION",
        severity=Severity.WARN,
    ),
    message="`{operation}` needs confirmation",
    hint="kebab {operation} --yes",
    rerun=Rerun(add=("--yes",)),
):
    """A destructive command needs a confirmation, and there is no terminal to ask for it.

    Nothing was deleted.

    Example: `kebab reset` in a script, or with `--json`.

    What to do: repeat the command with `--yes` to confirm it.
    """

    operation: str


class OutOfMemory(
    Signal,
    meaning=Meaning(
        code="out_of_memory",
        kind=Kind.QUOTA,
        canonical=Canonical.ADAPTER_VALIDATION,
        domain="RUNTIME.OUT_OF_MEMORY",
        origin=Origin.ADAPTER,
        http=507,
        grpc="RESOURCE_EXHAUSTED",
        retry=Retry.TRANSIENT,
        backoff=Backoff(first_ms=30_000, ceiling_ms=300_000, attempts=2),
    ),
    message="there is not enough memory: {operation}",
    hint="close other programs, then repeat the command",
    cases={
        "limited": Wording(
            "there is not enough memory, this process may use {limit_bytes} bytes: {operation}",
            "raise the limit of the shell: `ulimit -v unlimited`",
        ),
    },
):
    """The system gives the process no more memory.

    Work that was already committed is kept. `limit_bytes` is the limit of the process, as set by
    `ulimit -v`, or null when only the machine limits it.

    Example: `ulimit -v 400000` before `kebab ingest notes`, which leaves no space for the model.

    What to do: close other programs, or raise the limit. `kebab search --mode lexical` needs no
    model and much less memory.
    """

    operation: str
    limit_bytes: int | None = None

    def choose_case(self) -> str:
        """Return the case; a limit of the process can be raised."""
        return "" if self.limit_bytes is None else "limited"


class Cancelled(
    Signal,
    meaning=Meaning(
        code="cancelled",
        kind=Kind.UNKNOWN,
        canonical=Canonical.STATE_VIOLATION,
        domain="CORE.CANCELLED",
        origin=Origin.CORE,
        exit=Exit.INTERRUPTED,
        http=499,
        grpc="CANCELLED",
        retry=Retry.TRANSIENT,
        severity=Severity.INFO,
        backoff=Backoff(first_ms=0, factor=1, ceiling_ms=0, attempts=1),
    ),
    message="interrupted: {operation}",
):
    """The user interrupted the command.

    Work that was already committed is kept.

    Example: Ctrl-C during `kebab search`, or `n` when `kebab reset` asks.

    What to do: nothing. Repeat the command to go on.
    """

    operation: str


class Generic(
    Signal,
    meaning=Meaning(
        code="generic",
        kind=Kind.UNKNOWN,
        canonical=Canonical.INTERNAL,
        domain="UNKNOWN.INTERNAL",
        origin=Origin.SURFACE,
        http=500,
        grpc="INTERNAL",
        retry=Retry.NONE,
        severity=Severity.CRITICAL,
        public=False,
    ),
    message="something unexpected went wrong",
    hint="kebab doctor",
):
    """An unexpected error occurred.

    This is a bug in kebab. The message names no details, because they may be private.

    Example: an exception of a library that kebab does not translate yet.

    What to do: find the `correlation_id` in the log in the state directory and report the trace
    there. `--verbose` adds the chain of causes to `details`.
    """

    chain: list[str] | None = None


def build_catalog() -> dict[str, type[Signal]]:
    """Return the rows of the catalogue in order of declaration."""
    rows = [row for row in globals().values() if isinstance(row, type)]
    return {row.meaning.code: row for row in rows if issubclass(row, Signal) and row is not Signal}

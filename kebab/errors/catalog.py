"""The catalogue of errors: one class is one row.

`docs/wire-schema/errors/CODE.md` explains a row, and `kebab explain CODE` prints it. The meaning of
a released row is frozen by `docs/wire-schema/v1/errors.lock.json`.
"""

import os
from typing import Literal, TypeAlias

from kebab.errors import hints
from kebab.errors.hints import Rerun
from kebab.errors.signal import Canonical, Exit, Kind, Origin, Retry, Severity, Signal, Wording

Op: TypeAlias = Literal["read", "write", "create"]
"""An operation on a file or folder."""

StopName: TypeAlias = Literal["completed", "timeout", "cancelled", "max_tokens"]
"""Why writing an answer ended; one that a deadline ends is an error."""

# Templates of cases.
_CHANGED_DOCUMENT = "the document has changed since its review began: {path}"
_OTHER_FILE = "cannot read {file}: its schema is {found}, this build reads {expected}"
_NO_SERVER = "cannot reach the model server at {endpoint} (`{setting}`): {cause}"
_OTHER_SCHEMA = "no usable index in {data_dir}: its schema is {found}, this build reads {expected}"
_LATER, _OWN_FOLDER = "try again when it has finished", "repeat without `--data-dir`"
_TURN_ON, _MORE_TIME = "export {variable}=true", "export {variable}={seconds}"


class ConfigInvalid(Signal):
    code, domain = "config_invalid", "CONFIG.INVALID"
    kind, origin, http, grpc = Kind.SCHEMA, Origin.CORE, 400, "INVALID_ARGUMENT"
    canonical = Canonical.INVALID_INPUT
    message = "invalid configuration: {path}: {cause}"
    hint = "correct the file, or replace it and keep a copy: `kebab init --force`"
    cases = {
        "missing": Wording(hint="kebab init"),
        "folder": Wording(hint="mkdir -p {folder}"),
        "variable": Wording(hint="unset {name}"),
        "setting": Wording(hint="kebab doctor"),
        "special": Wording(),
    }
    path: str
    cause: str

    def choose_case(self) -> str:
        """Return the case; a new file does not correct a variable."""
        if self.path.startswith("$"):
            return "variable"
        if self.cause in (hints.NO_FILE, hints.NO_FOLDER):
            return "missing" if self.cause == hints.NO_FILE else "folder"
        if os.sep not in self.path:
            return "setting"
        if self.cause == hints.NOT_UTF8:
            return "special"
        # A pipe, a device or a folder cannot be replaced by a settings file.
        return "special" if os.path.exists(self.path) and not os.path.isfile(self.path) else ""  # noqa: PTH110, PTH113


class UsageInvalid(Signal):
    code, domain = "usage_invalid", "CLI.USAGE"
    kind, origin, http, grpc = Kind.SCHEMA, Origin.SURFACE, 400, "INVALID_ARGUMENT"
    canonical = Canonical.INVALID_INPUT
    message = "{cause}"
    hint = "kebab --help"
    option: str
    cause: str


class InvalidInput(Signal):
    code, domain = "invalid_input", "SCHEMA.VALIDATION_FAILED"
    kind, origin, http, grpc = Kind.SCHEMA, Origin.CORE, 422, "INVALID_ARGUMENT"
    canonical, message = Canonical.INVALID_INPUT, "invalid `{field}`: {cause}"
    field: str
    cause: str


class InvalidCursor(Signal):
    code, domain = "invalid_cursor", "SEARCH.CURSOR_INVALID"
    kind, origin, http, grpc = Kind.SCHEMA, Origin.CORE, 400, "INVALID_ARGUMENT"
    canonical, message = Canonical.INVALID_INPUT, "invalid cursor: {cause}"
    hint = "repeat the search without `--cursor`"
    rerun = Rerun(drop=("--cursor",))
    cause: str


class StaleCursor(Signal):
    code, domain = "stale_cursor", "SEARCH.CURSOR_STALE"
    kind, origin, http, grpc = Kind.CONFLICT, Origin.CORE, 409, "ABORTED"
    canonical, severity = Canonical.STATE_VIOLATION, Severity.WARN
    retry = Retry.TRANSIENT
    message = (
        "the index has changed since this cursor was issued: "
        "revision {issued_revision}, now {current_revision}"
    )
    hint = "repeat the search without `--cursor`"
    rerun = Rerun(drop=("--cursor",))
    cases = {"path": Wording(_CHANGED_DOCUMENT, "review it again: `kebab review {path}`")}
    issued_revision: int
    current_revision: int
    path: str | None = None


class NotIndexed(Signal):
    code, domain = "not_indexed", "STORAGE.NOT_INDEXED"
    kind, origin, http, grpc = Kind.PRECONDITION, Origin.ADAPTER, 409, "FAILED_PRECONDITION"
    canonical, exit = Canonical.STATE_VIOLATION, Exit.UNUSABLE
    message = "no usable index in {data_dir}"
    hint = "kebab ingest FOLDER"
    cases = {
        "older": Wording(_OTHER_SCHEMA, "kebab ingest"),
        "newer": Wording(_OTHER_SCHEMA, "pip install --upgrade kebab"),
        "file": Wording(_OTHER_FILE, "pip install --upgrade kebab"),
    }
    data_dir: str
    expected: str
    found: int | None
    file: str | None = None

    def choose_case(self) -> str:
        """Return the case by the file, and by the schema that was found."""
        if self.file:
            return "file"
        if not self.found:
            return ""
        return "older" if self.found < int(self.expected) else "newer"


class ModelUnreachable(Signal):
    code, domain = "model_unreachable", "LLM.UNREACHABLE"
    kind, origin, http, grpc = Kind.NETWORK, Origin.ADAPTER, 503, "UNAVAILABLE"
    retry = Retry.TRANSIENT
    message = "cannot reach the model server at {endpoint}: {cause}"
    hint = "go on without a server: `{fallback}`"
    cases = {
        "ollama": Wording(
            "cannot reach Ollama at {endpoint} (`{setting}`): {cause}",
            "start the server with `ollama serve`, or go on without it: `{fallback}`",
        ),
        "address": Wording(
            _NO_SERVER, "start the server, or set another address: `export {variable}=URL`"
        ),
        "proxy": Wording(
            "cannot reach the model server at {endpoint} through the proxy of `{setting}`: {cause}",
            'go around the proxy: `export NO_PROXY="$NO_PROXY,"{host}`',
        ),
        "issuer": Wording(
            _NO_SERVER, "trust the issuer in a PEM file: `export SSL_CERT_FILE=FILE`"
        ),
        "certificate": Wording(
            _NO_SERVER, "renew the certificate, or set another address: `export {variable}=URL`"
        ),
        "silent": Wording(
            _NO_SERVER,
            "try again when the server is not busy, or set another address: "
            "`export {variable}=URL`",
        ),
        "server": Wording(
            "no complete answer from the model server at {endpoint}: {cause}",
            "try again, or go on without it: `{fallback}`",
        ),
        "needed": Wording(hint="try again when the server is running"),
    }
    plan_rerun = hints.plan_without_server
    endpoint: str
    operation: str
    cause: str
    provider: str | None = None
    setting: str | None = None
    reason: str | None = None
    model: str | None = None

    def choose_case(self) -> str:
        """Return the case by what is in the way, and by the provider."""
        if self.reason == "certificate" and hints.UNKNOWN_ISSUER.search(self.cause):
            return "issuer"
        is_needed = self.operation in hints.NEEDS_MODEL
        if self.reason:
            return "needed" if is_needed and self.reason == "server" else self.reason
        if self.provider == "ollama" and hints.is_local(self.endpoint) and not is_needed:
            return "ollama"
        if self.setting:
            return "address"
        return "needed" if is_needed else ""


class ModelNotPulled(Signal):
    code, domain = "model_not_pulled", "LLM.MODEL_MISSING"
    kind, origin, http, grpc = Kind.LLM_ERROR, Origin.ADAPTER, 424, "FAILED_PRECONDITION"
    canonical = Canonical.STATE_VIOLATION
    message = "Ollama model not pulled: {model}"
    hint = "ollama pull {model}"
    cases = {
        "not_offered": Wording(
            "{endpoint} does not offer the model: {model}", "export KEBAB_MODELS_LLM_MODEL={near}"
        )
    }
    model: str
    endpoint: str
    operation: str
    models: list[str] | None = None
    reason: str | None = None


class ModelRejected(Signal):
    code, domain = "model_rejected", "LLM.REJECTED"
    kind, origin, http, grpc = Kind.LLM_ERROR, Origin.ADAPTER, 502, "FAILED_PRECONDITION"
    message = "the model server refused {model}: {cause}"
    hint = "use another model: `{other}`"
    cases = {
        "key_missing": Wording(
            "the model server at {endpoint} requires a key, and `{setting}` is not set: {cause}",
            "export {variable}=KEY",
        ),
        "key_refused": Wording(
            "the model server at {endpoint} refused the key in `{setting}`: {cause}",
            "export {variable}=KEY",
        ),
        "sign_in": Wording("Ollama requires an account for {model}: {cause}", "ollama signin"),
        "option": Wording(
            "the model server refused `{setting}` for {model}: {cause}", "export {variable}={value}"
        ),
        "memory": Wording(
            "the model server has too little memory for {model}: {cause}",
            "use a smaller model: `{other}`",
        ),
        "load": Wording(
            "the model server cannot load {model}: {cause}", "use another model: `{other}`"
        ),
    }
    plan_rerun = hints.plan_after_refusal
    model: str
    endpoint: str
    operation: str
    cause: str
    reason: str | None = None
    setting: str | None = None


class ModelBusy(Signal):
    code, domain = "model_busy", "LLM.BUSY"
    kind, origin, http, grpc = Kind.RATE_LIMIT, Origin.ADAPTER, 503, "RESOURCE_EXHAUSTED"
    severity = Severity.WARN
    retry = Retry.TRANSIENT
    message = "the model server is busy: {endpoint}"
    hint = "try again in a moment"
    cases = {"loading": Wording("the model server is still loading its model: {endpoint}")}
    endpoint: str
    operation: str
    reason: str | None = None


class ModelProtocol(Signal):
    code, domain = "model_protocol", "LLM.PROTOCOL"
    kind, origin, http, grpc = Kind.LLM_ERROR, Origin.ADAPTER, 502, "INTERNAL"
    retry = Retry.TRANSIENT
    message = "unexpected response from {endpoint}: {cause}"
    hint = "kebab doctor"
    cases = {
        "setting": Wording(
            "unexpected response from {endpoint} (`{setting}`): {cause}",
            "export {variable}={value}",
        )
    }
    endpoint: str
    operation: str
    cause: str
    setting: str | None = None


class ContextOverflow(Signal):
    code, domain = "context_overflow", "LLM.CONTEXT_OVERFLOW"
    kind, origin, http, grpc = Kind.LLM_ERROR, Origin.ADAPTER, 413, "OUT_OF_RANGE"
    canonical = Canonical.INVALID_INPUT
    message = "the prompt exceeds the model's window of {context_tokens} tokens: {prompt_tokens}"
    hint = (
        "a larger window than `models.llm.context_tokens = {context_tokens}` holds more; "
        "without a model: `{fallback}`"
    )
    cases = {
        "needed": Wording(
            hint="a larger window than `models.llm.context_tokens = {context_tokens}` holds more"
        )
    }
    plan_rerun = hints.plan_without_model
    prompt_tokens: int
    context_tokens: int
    operation: str | None = None

    def choose_case(self) -> str:
        """Return the case: not every operation can go on without a model."""
        return "needed" if self.operation in hints.NEEDS_MODEL else ""


class EmbeddingUnavailable(Signal):
    code, domain = "embedding_unavailable", "EMBEDDING.UNAVAILABLE"
    kind, origin, http, grpc = Kind.PROVIDER, Origin.ADAPTER, 503, "UNAVAILABLE"
    retry = Retry.TRANSIENT
    message = "cannot get the embedding model {model}: {cause}"
    hint = "kebab model pull {model}"
    rerun = Rerun(add=("--mode", "lexical"), drop=("--mode",))
    cases = {"endpoint": Wording("no vectors of {model} from {endpoint}: {cause}", "kebab doctor")}
    model: str
    tried: list[str]
    cause: str
    endpoint: str | None = None


class EmbeddingMismatch(Signal):
    code, domain = "embedding_mismatch", "EMBEDDING.MISMATCH"
    kind, origin, http, grpc = Kind.CONFLICT, Origin.CORE, 409, "FAILED_PRECONDITION"
    canonical = Canonical.STATE_VIOLATION
    message = "the index was built with {found}, the configured model is {expected}"
    hint = "kebab model use auto"
    expected: str
    found: str


class TimedOut(Signal):
    code, domain = "timeout", "LLM.TIMEOUT"
    kind, origin, http, grpc = Kind.TIMEOUT, Origin.ADAPTER, 504, "DEADLINE_EXCEEDED"
    retry = Retry.TRANSIENT
    message = "{operation} took longer than {deadline_ms} ms"
    cases = {
        "setting": Wording(
            "{operation} took longer than `{setting}` allows: {deadline_ms} ms", _MORE_TIME
        ),
        "document": Wording(
            "reading {path} took longer than `{setting}` allows: {deadline_ms} ms", _MORE_TIME
        ),
        "first_token": Wording(
            "no token from the model server at {endpoint} within `{setting}`: {deadline_ms} ms",
            _MORE_TIME,
        ),
        "next_token": Wording(
            "no further token from the model server at {endpoint} within `{setting}`: "
            "{deadline_ms} ms",
            _MORE_TIME,
        ),
        "answer": Wording(
            "the answer of the model server at {endpoint} took longer than `{setting}` allows: "
            "{deadline_ms} ms",
            _MORE_TIME,
        ),
        "server": Wording(
            "the model server at {endpoint} was too slow, operation {operation}: {deadline_ms} ms"
        ),
    }
    plan_rerun = hints.plan_with_more_time
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


class IoError(Signal):
    code, domain = "io_error", "STORAGE.IO"
    kind, origin, http, grpc = Kind.STORAGE, Origin.ADAPTER, 500, "INTERNAL"
    retry = Retry.TRANSIENT
    message = "cannot {op} {path}: {cause}"
    hint = "kebab doctor"
    cases = {
        "missing": Wording(),
        "emptied": Wording(hint="kebab source list"),
        "denied_read": Wording(hint="chmod u+rX {path}"),
        "denied_write": Wording(hint="chmod u+rwX {place}"),
    }
    path: str
    op: Op
    cause: str

    def choose_case(self) -> str:
        """Return the case by the text of the system, or of kebab."""
        if not os.path.isabs(self.path):  # noqa: PTH117 - text
            return ""
        cause = self.cause.lower()
        if hints.KNOWN_IN_IT in cause:
            return "emptied"
        if cause == "permission denied":
            return "denied_read" if self.op == "read" else "denied_write"
        missing = (hints.NO_FILE, hints.NO_FOLDER, "no such file or directory")
        return "missing" if self.op != "write" and cause in missing else ""


class Locked(Signal):
    code, domain = "locked", "STORAGE.LOCKED"
    kind, origin, http, grpc = Kind.CONFLICT, Origin.ADAPTER, 409, "ABORTED"
    canonical, severity = Canonical.STATE_VIOLATION, Severity.WARN
    retry = Retry.TRANSIENT
    message = "another process is writing to this knowledge base: pid {holder_pid}"
    hint = _LATER
    cases = {"unnamed": Wording("another process is writing to this knowledge base", _LATER)}
    path: str
    holder_pid: int | None

    def choose_case(self) -> str:
        """Return the case; the process id of the holder may be unknown."""
        return "unnamed" if self.holder_pid is None else ""


class ClientConfigInvalid(Signal):
    code, domain = "client_config_invalid", "CONFIG.CLIENT_INVALID"
    kind, origin, http, grpc = Kind.SERIALIZATION, Origin.SURFACE, 422, "FAILED_PRECONDITION"
    canonical = Canonical.ADAPTER_VALIDATION
    message = "cannot change the settings of {client}: {path}: {cause}"
    hint = "kebab install {client} --print"
    client: str
    path: str
    cause: str


class ReadOnly(Signal):
    code, domain = "read_only", "POLICY.READ_ONLY"
    kind, origin, http, grpc = Kind.POLICY_DENY, Origin.CORE, 403, "PERMISSION_DENIED"
    canonical = Canonical.STATE_VIOLATION
    message = "not allowed with `--read-only`: {operation}"
    hint = "repeat without `--read-only`"
    rerun = Rerun(drop=("--read-only",))
    cases = {
        "needs": Wording(
            "the server does not allow this: {operation}", "start the server again with `{needs}`"
        ),
        "published": Wording("a published base cannot be changed: {operation}", _OWN_FOLDER),
    }
    operation: str
    needs: str | None = None
    published: bool = False


class StoreCorrupt(Signal):
    code, domain = "store_corrupt", "STORAGE.CORRUPT"
    kind, origin, http, grpc = Kind.STORAGE, Origin.ADAPTER, 500, "DATA_LOSS"
    canonical, exit, severity = Canonical.INVARIANT_BROKEN, Exit.UNUSABLE, Severity.CRITICAL
    message = "the store is damaged: {path}: {cause}"
    hint = "kebab doctor --fix"
    cases = {"archive": Wording(hints.ARCHIVE), "published": Wording(*hints.DAMAGED_BASE)}
    path: str
    cause: str
    archive: str | None = None
    published: bool = False


class UnsupportedMedia(Signal):
    code, domain = "unsupported_media", "INGEST.UNSUPPORTED_MEDIA"
    kind, origin, http, grpc = Kind.SCHEMA, Origin.CORE, 415, "INVALID_ARGUMENT"
    canonical = Canonical.INVALID_INPUT
    message = "no parser for this file: {path}: {media}"
    hint = "kebab help formats"
    cases = {"setting": Wording("`{setting}` is off, so images are not read: {path}", _TURN_ON)}
    path: str
    media: str
    setting: str | None = None


class SecretFile(Signal):
    code, domain = "secret_file", "INGEST.SECRET_FILE"
    kind, origin, http, grpc = Kind.POLICY_DENY, Origin.CORE, 403, "PERMISSION_DENIED"
    canonical = Canonical.INVALID_INPUT
    message = "this file usually holds secrets, and `{setting}` does not name it: {path}"
    path: str
    setting: str


class ParseFailed(Signal):
    code, domain = "parse_failed", "INGEST.PARSE_FAILED"
    kind, origin, http, grpc = Kind.SERIALIZATION, Origin.ADAPTER, 422, "INVALID_ARGUMENT"
    canonical = Canonical.ADAPTER_VALIDATION
    message = "cannot parse {path}: {cause}"
    cases = {"setting": Wording(hint=_TURN_ON)}
    path: str
    parser: str
    cause: str
    setting: str | None = None


class TooLarge(Signal):
    code, domain = "too_large", "LIMIT.TOO_LARGE"
    kind, origin, http, grpc = Kind.QUOTA, Origin.CORE, 413, "RESOURCE_EXHAUSTED"
    canonical = Canonical.INVALID_INPUT
    message = "too large: {what}: {size} bytes, limit {limit}"
    what: str
    size: int
    limit: int


class Unauthorized(Signal):
    code, domain = "unauthorized", "AUTH.UNAUTHORIZED"
    kind, origin, http, grpc = Kind.AUTH, Origin.SURFACE, 401, "UNAUTHENTICATED"
    canonical, message = Canonical.INVALID_INPUT, "the token of the server is missing or wrong"
    hint = "send it as a header: `Authorization: Bearer TOKEN`"


class ServerBusy(Signal):
    code, domain = "server_busy", "SERVER.BUSY"
    kind, origin, http, grpc = Kind.RATE_LIMIT, Origin.SURFACE, 503, "RESOURCE_EXHAUSTED"
    canonical, severity = Canonical.STATE_VIOLATION, Severity.WARN
    retry = Retry.TRANSIENT
    message = "too many requests are waiting for this server: {waiting}"
    hint = "send fewer requests at the same time"
    waiting: int


class DependencyMissing(Signal):
    code, domain = "dependency_missing", "RUNTIME.DEPENDENCY_MISSING"
    kind, origin, http, grpc = Kind.PRECONDITION, Origin.ADAPTER, 501, "UNIMPLEMENTED"
    canonical = Canonical.STATE_VIOLATION
    message = "cannot load the library for this feature: {feature}"
    hint = "{install}"
    cases = {
        "program": Wording("no program to use for this: {feature}", "{install}"),
        "cause": Wording(
            "cannot load the library for this feature: {feature}: {cause}", "{install}"
        ),
    }
    feature: str
    install: str
    program: str | None = None
    cause: str | None = None


class ClusterUnreachable(Signal):
    code, domain = "cluster_unreachable", "CLUSTER.UNREACHABLE"
    kind, origin, http, grpc = Kind.NETWORK, Origin.ADAPTER, 503, "UNAVAILABLE"
    retry = Retry.TRANSIENT
    message = "cannot reach the Ray cluster at {address}: {cause}"
    hint = "start one with `ray start --head`, or go on without it: `kebab ingest`"
    cases = {"failed": Wording(*hints.CLUSTER_FAILED), "version": Wording(*hints.NODES_DIFFER)}
    address: str
    cause: str
    reason: str | None = None


class ConfirmationRequired(Signal):
    code, domain = "confirmation_required", "POLICY.CONFIRMATION_REQUIRED"
    kind, origin, http, grpc = Kind.PRECONDITION, Origin.CORE, 428, "FAILED_PRECONDITION"
    canonical, severity = Canonical.STATE_VIOLATION, Severity.WARN
    message = "`{operation}` needs confirmation"
    hint = "kebab {operation} --yes"
    rerun = Rerun(add=("--yes",))
    operation: str


class OutOfMemory(Signal):
    code, domain = "out_of_memory", "RUNTIME.OUT_OF_MEMORY"
    kind, origin, http, grpc = Kind.QUOTA, Origin.ADAPTER, 507, "RESOURCE_EXHAUSTED"
    retry = Retry.TRANSIENT
    message = "there is not enough memory: {operation}"
    hint = "close other programs, then repeat the command"
    cases = {
        "limit_bytes": Wording(
            "there is not enough memory, this process may use {limit_bytes} bytes: {operation}",
            "raise the limit of the shell: `ulimit -v unlimited`",
        )
    }
    operation: str
    limit_bytes: int | None = None


class Cancelled(Signal):
    code, domain = "cancelled", "CORE.CANCELLED"
    kind, origin, http, grpc = Kind.UNKNOWN, Origin.CORE, 499, "CANCELLED"
    canonical, exit, severity = Canonical.STATE_VIOLATION, Exit.INTERRUPTED, Severity.INFO
    retry = Retry.TRANSIENT
    message = "interrupted: {operation}"
    operation: str


class Generic(Signal):
    code, domain = "generic", "UNKNOWN.INTERNAL"
    kind, origin, http, grpc = Kind.UNKNOWN, Origin.SURFACE, 500, "INTERNAL"
    severity, public, retry = Severity.CRITICAL, False, Retry.NONE
    message = "something unexpected went wrong"
    hint = "kebab doctor"
    chain: list[str] | None = None


def build_catalog() -> dict[str, type[Signal]]:
    """Return the rows of the catalogue in order of declaration."""
    rows = [row for row in globals().values() if isinstance(row, type)]
    return {row.code: row for row in rows if issubclass(row, Signal) and row is not Signal}

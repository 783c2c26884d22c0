"""The catalogue of errors: one class is one row.

The docstring of a row is the explanation that `kebab explain CODE` prints. The meaning of a
released row is frozen by `docs/wire-schema/v1/errors.lock.json`.
"""

from typing import Literal, TypeAlias

from kebab.errors.signal import (
    Backoff,
    Canonical,
    Exit,
    Kind,
    Meaning,
    Origin,
    Retry,
    Severity,
    Signal,
    Wording,
)

Op: TypeAlias = Literal["read", "write", "create"]
"""What was tried with a file or folder."""


class ConfigInvalid(
    Signal,
    meaning=Meaning(
        code="config_invalid",
        kind=Kind.SCHEMA,
        canonical=Canonical.INVALID_INPUT,
        domain="CONFIG.INVALID",
        origin=Origin.CORE,
        exit=Exit.ERROR,
        http=400,
        grpc="INVALID_ARGUMENT",
        retry=Retry.PERMANENT,
    ),
    message="configuration refused: {path}: {cause}",
    hint="correct it, or start afresh with `kebab init --force`",
    cases={
        "variable": Wording(
            "configuration refused: {path}: {cause}", "correct the variable, or unset it"
        ),
    },
):
    """The configuration cannot be used.

    The file named by `--config` does not exist, is not TOML, or holds a key or a value that
    kebab does not know; or a variable `KEBAB_…` or `OLLAMA_HOST` does. Nothing was read or
    written. `path` is the file, absolute; or the variable, with `$` before its name; or the key of
    the setting.

    Example: `limit = 0` below `[search]` in `config.toml` is refused by every command that needs
    settings, and `path` names the file.

    What to do: correct what `cause` names, or write a fresh file with `kebab init --force`; unset
    a variable that is not wanted.
    """

    path: str
    cause: str

    def choose_case(self) -> str:
        """Return which wording fits; a variable is not mended by a fresh file."""
        return "variable" if self.path.startswith("$") else ""


class UsageInvalid(
    Signal,
    meaning=Meaning(
        code="usage_invalid",
        kind=Kind.SCHEMA,
        canonical=Canonical.INVALID_INPUT,
        domain="CLI.USAGE",
        origin=Origin.SURFACE,
        exit=Exit.ERROR,
        http=400,
        grpc="INVALID_ARGUMENT",
        retry=Retry.PERMANENT,
    ),
    message="{cause}",
    hint="kebab --help",
):
    """The command line cannot be understood.

    A flag is unknown, a value has the wrong form, an argument is missing, or there is nothing
    that the command could work on. `option` names the culprit.

    Example: `kebab search bread --limt 3`, or `kebab ingest` while no folder is known.

    What to do: look up what the command takes with `kebab COMMAND --help`.
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
        exit=Exit.ERROR,
        http=422,
        grpc="INVALID_ARGUMENT",
        retry=Retry.PERMANENT,
    ),
    message="invalid `{field}`: {cause}",
):
    """A request breaks its schema.

    `field` names the first fault as the caller wrote it: of a command line the flag or argument,
    for instance `--limit` or `QUERY`; of a line of JSON its path, for instance `$.limit`; of any
    other file that was read, the file and its line. Requests are closed: an unknown field is a
    fault too. An empty query is refused here.

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
        exit=Exit.ERROR,
        http=400,
        grpc="INVALID_ARGUMENT",
        retry=Retry.PERMANENT,
    ),
    message="cursor refused: {cause}",
    hint="repeat the search without `--cursor`",
):
    """The cursor is not one of ours, or belongs to another query.

    A cursor is opaque and bound to the query, its filters and this knowledge base.

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
        exit=Exit.ERROR,
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
):
    """The index moved between two pages.

    Pages of one search come from one state of the index. The cursor itself stays stale, so only
    the search without it can succeed.

    Example: a note was ingested between the first page of `kebab search bread` and the second.

    What to do: start again from the first page, by repeating the search without `--cursor`.
    """

    issued_revision: int
    current_revision: int


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
        retry=Retry.PERMANENT,
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
    },
):
    """There is no database here that this build can read.

    Nothing was ingested into this data directory yet (`found` is null), its schema waits for a
    migration (`found` below `expected`), or it was written by a newer kebab (`found` above
    `expected`).

    Example: `kebab search bread` before the first `kebab ingest`.

    What to do: run `kebab ingest FOLDER`; the next `kebab ingest` also migrates an older
    database. For a newer one, upgrade kebab.
    """

    data_dir: str
    expected: int
    found: int | None

    def choose_case(self) -> str:
        """Return which wording fits; an index that is there needs no folder, or a newer kebab."""
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
        exit=Exit.ERROR,
        http=503,
        grpc="UNAVAILABLE",
        retry=Retry.TRANSIENT,
    ),
    message="cannot reach the model server at {endpoint}: {cause}",
    hint="start the server (`ollama serve`), or answer without one: `kebab ask --extractive`",
):
    """The model server did not answer.

    The connection was refused, the name did not resolve, connecting took too long, or the
    connection was cut while the answer was streaming.

    Example: `kebab ask "How long does the dough rest?"` while no Ollama is running.

    What to do: start the server, or correct `models.llm.endpoint`. `kebab ask --extractive`
    answers without any server, in the words of the notes.
    """

    endpoint: str
    operation: str
    cause: str


class ModelNotPulled(
    Signal,
    meaning=Meaning(
        code="model_not_pulled",
        kind=Kind.LLM_ERROR,
        canonical=Canonical.STATE_VIOLATION,
        domain="LLM.MODEL_MISSING",
        origin=Origin.ADAPTER,
        exit=Exit.ERROR,
        http=424,
        grpc="FAILED_PRECONDITION",
        retry=Retry.PERMANENT,
    ),
    message="Ollama model not pulled: {model}",
    hint="ollama pull {model}",
):
    """Ollama answers but does not have the model.

    A server that speaks the OpenAI-compatible protocol has nothing to pull: there it is
    `model_rejected`.

    Example: `kebab ask --model gemma4:e4b "What is kebab?"` when `ollama list` does not name it.

    What to do: pull the model with `ollama pull`, or name another one in `models.llm.model`.
    """

    model: str
    endpoint: str
    operation: str


class ModelRejected(
    Signal,
    meaning=Meaning(
        code="model_rejected",
        kind=Kind.LLM_ERROR,
        canonical=Canonical.ADAPTER_VALIDATION,
        domain="LLM.REJECTED",
        origin=Origin.ADAPTER,
        exit=Exit.ERROR,
        http=502,
        grpc="FAILED_PRECONDITION",
        retry=Retry.PERMANENT,
    ),
    message="the model server refused {model}: {cause}",
    hint="name another model: `kebab ask --model NAME`",
):
    """The server refuses to answer with this model.

    The model is of the wrong kind (it only embeds), the server cannot load it (it is damaged, or
    too large for the memory), the server does not support an option, it requires another key, or
    (OpenAI-compatible) it has no such model. `cause` is the reason that the server gives.

    Example: `kebab ask --model all-minilm "What is kebab?"`, a model that can only embed.

    What to do: choose another model, correct the key, or look at the server's log.
    """

    model: str
    endpoint: str
    operation: str
    cause: str


class ModelBusy(
    Signal,
    meaning=Meaning(
        code="model_busy",
        kind=Kind.RATE_LIMIT,
        canonical=Canonical.STATE_VIOLATION,
        domain="LLM.BUSY",
        origin=Origin.ADAPTER,
        exit=Exit.ERROR,
        http=503,
        grpc="RESOURCE_EXHAUSTED",
        retry=Retry.TRANSIENT,
        severity=Severity.WARN,
        backoff=Backoff(first_ms=2_000, ceiling_ms=60_000, attempts=6),
    ),
    message="the model server accepts no more requests now: {endpoint}",
    hint="try again in a moment",
):
    """The server's queue is full, or it limits how often it is asked.

    Nothing was lost.

    Example: several programs ask one Ollama at once, and it answers `server busy`.

    What to do: try again in a moment; `kebab ask --extractive` needs no server.
    """

    endpoint: str
    operation: str


class ModelProtocol(
    Signal,
    meaning=Meaning(
        code="model_protocol",
        kind=Kind.LLM_ERROR,
        canonical=Canonical.CONTRACT_MISMATCH,
        domain="LLM.PROTOCOL",
        origin=Origin.ADAPTER,
        exit=Exit.ERROR,
        http=502,
        grpc="INTERNAL",
        retry=Retry.TRANSIENT,
        backoff=Backoff(attempts=2),
    ),
    message="unexpected response from {endpoint}: {cause}",
    hint="kebab doctor",
):
    """The response is not that of a model server, or it is incomplete.

    The endpoint belongs to another program, a proxy, or a server that is too old. Or the stream
    ended without its last line, as it does when a model repeats itself without end.

    Example: `models.llm.endpoint` names the port of a web server, which returns an HTML page.

    What to do: check `models.llm.endpoint` and `models.llm.provider` with `kebab doctor`, or try
    again.
    """

    endpoint: str
    operation: str
    cause: str


class ContextOverflow(
    Signal,
    meaning=Meaning(
        code="context_overflow",
        kind=Kind.LLM_ERROR,
        canonical=Canonical.INVALID_INPUT,
        domain="LLM.CONTEXT_OVERFLOW",
        origin=Origin.ADAPTER,
        exit=Exit.ERROR,
        http=413,
        grpc="OUT_OF_RANGE",
        retry=Retry.PERMANENT,
    ),
    message="prompt too long for the model's window of {context_tokens} tokens: {prompt_tokens}",
    hint="answer without a model: `kebab ask --extractive`",
):
    """The question with its passages does not fit the model's window, however little is sent.

    It was tried with fewer and shorter passages first. `prompt_tokens` is the server's count, or
    an estimate where it gives none.

    Example: a question with a whole report pasted into it, for a model with 8192 tokens.

    What to do: ask a shorter question, or raise `models.llm.context_tokens` where the model
    allows it. `kebab ask --extractive` answers without any model, in the words of the notes.
    """

    prompt_tokens: int
    context_tokens: int


class EmbeddingUnavailable(
    Signal,
    meaning=Meaning(
        code="embedding_unavailable",
        kind=Kind.PROVIDER,
        canonical=Canonical.ADAPTER_VALIDATION,
        domain="EMBEDDING.UNAVAILABLE",
        origin=Origin.ADAPTER,
        exit=Exit.ERROR,
        http=503,
        grpc="UNAVAILABLE",
        retry=Retry.TRANSIENT,
        backoff=Backoff(first_ms=30_000, ceiling_ms=600_000, attempts=3),
    ),
    message="embedding weights cannot be had: {model}: {cause}",
    hint="kebab model pull {model}",
):
    """The weights of the embedding model are not on this machine and no source gave them.

    `tried` lists the sources in order. It is raised where vectors were demanded; everything else
    goes on with words alone and says so.

    Example: `kebab search bread --mode vector` on a machine that never had a network.

    What to do: fetch the weights with `kebab model pull`, or search words with `--mode lexical`,
    which needs no model. The next ingest with a network fills in the missing vectors.
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
        exit=Exit.ERROR,
        http=409,
        grpc="FAILED_PRECONDITION",
        retry=Retry.PERMANENT,
    ),
    message="the index was built with {found}, the configured model is {expected}",
    hint="kebab model use auto",
):
    """Vectors of two models cannot be compared.

    The configured embedding model is not the one that the index was built with.

    Example: `models.embedding.model` was changed in `config.toml` after the first ingest.

    What to do: take the change back, or change the model of the knowledge base with `kebab model
    use NAME`, which embeds everything again.
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
        exit=Exit.ERROR,
        http=504,
        grpc="DEADLINE_EXCEEDED",
        retry=Retry.TRANSIENT,
        backoff=Backoff(attempts=2),
    ),
    message="{operation} took longer than {deadline_ms} ms",
):
    """A deadline passed.

    `operation` says which one. A server that does not even accept the connection is
    `model_unreachable` instead.

    Example: `operation` is `first_token` when a large model takes longer to load than
    `models.llm.first_token_s` allows.

    What to do: try again, or raise the deadline: `models.llm.first_token_s` and
    `models.llm.total_s` for answers, `models.embedding.deadline_s` for embedding,
    `ingest.deadline_s` for a document; 0 means none.
    """

    operation: str
    elapsed_ms: int
    deadline_ms: int


class IoError(
    Signal,
    meaning=Meaning(
        code="io_error",
        kind=Kind.STORAGE,
        canonical=Canonical.ADAPTER_VALIDATION,
        domain="STORAGE.IO",
        origin=Origin.ADAPTER,
        exit=Exit.ERROR,
        http=500,
        grpc="INTERNAL",
        retry=Retry.TRANSIENT,
    ),
    message="cannot {op} {path}: {cause}",
    hint="kebab doctor",
):
    """The file system refused.

    A file or folder is missing, permission is denied, or the disk is full. `op` says what was
    tried with `path`.

    Example: `kebab ingest notes` when there is no folder `notes`.

    What to do: mend what `cause` names, then repeat the command; `kebab doctor` looks at the
    places that kebab itself writes to.
    """

    path: str
    op: Op
    cause: str


class Locked(
    Signal,
    meaning=Meaning(
        code="locked",
        kind=Kind.CONFLICT,
        canonical=Canonical.STATE_VIOLATION,
        domain="STORAGE.LOCKED",
        origin=Origin.ADAPTER,
        exit=Exit.ERROR,
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
    """Another writer is at work.

    One process writes at a time; readers never wait.

    Example: `kebab ingest` in a second terminal while the first run is not finished.

    What to do: repeat the command when the process named by `holder_pid` has finished.
    """

    path: str
    holder_pid: int | None

    def choose_case(self) -> str:
        """Return which wording fits: not every holder is known by its number."""
        return "unnamed" if self.holder_pid is None else ""


class ReadOnly(
    Signal,
    meaning=Meaning(
        code="read_only",
        kind=Kind.POLICY_DENY,
        canonical=Canonical.STATE_VIOLATION,
        domain="POLICY.READ_ONLY",
        origin=Origin.CORE,
        exit=Exit.ERROR,
        http=403,
        grpc="PERMISSION_DENIED",
        retry=Retry.PERMANENT,
    ),
    message="refused under `--read-only`: {operation}",
    hint="repeat without `--read-only`",
):
    """A write was asked for while writing is switched off.

    `operation` is what would have written.

    Example: `kebab ingest notes --read-only`.

    What to do: repeat the command without `--read-only`.
    """

    operation: str


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
        retry=Retry.PERMANENT,
        severity=Severity.CRITICAL,
    ),
    message="damaged store: {path}: {cause}",
    hint="kebab doctor",
):
    """An integrity check failed.

    The database or the vector table cannot be read as written. Your own files are untouched.

    Example: a synchronising program has put an older or a cut-off copy in place of
    `kebab.sqlite`.

    What to do: `kebab doctor` says what is damaged; `kebab reset` followed by `kebab ingest`
    builds everything again from your files.
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
        exit=Exit.ERROR,
        http=415,
        grpc="INVALID_ARGUMENT",
        retry=Retry.PERMANENT,
    ),
    message="no parser takes this file: {path}: {media}",
):
    """A single file was named that no parser takes.

    Within a folder such files are left out and counted.

    Example: `kebab ingest photo.jpg`.

    What to do: name a file of another kind; `kebab schema` lists the active parsers.
    """

    path: str
    media: str


class ParseFailed(
    Signal,
    meaning=Meaning(
        code="parse_failed",
        kind=Kind.SERIALIZATION,
        canonical=Canonical.ADAPTER_VALIDATION,
        domain="INGEST.PARSE_FAILED",
        origin=Origin.ADAPTER,
        exit=Exit.ERROR,
        http=422,
        grpc="INVALID_ARGUMENT",
        retry=Retry.PERMANENT,
    ),
    message="cannot parse {path}: {cause}",
):
    """A parser refused a file.

    Within a folder such a file is an item of the report with its own error, and the run goes on.

    Example: `kebab ingest notes.md` when that file holds binary data and no text.

    What to do: open the file and mend what `cause` names, or leave it out with
    `ingest.exclude`.
    """

    path: str
    parser: str
    cause: str


class TooLarge(
    Signal,
    meaning=Meaning(
        code="too_large",
        kind=Kind.QUOTA,
        canonical=Canonical.INVALID_INPUT,
        domain="LIMIT.TOO_LARGE",
        origin=Origin.CORE,
        exit=Exit.ERROR,
        http=413,
        grpc="RESOURCE_EXHAUSTED",
        retry=Retry.PERMANENT,
    ),
    message="too large: {what}: {size} bytes, limit {limit}",
):
    """A file, a request body or a batch is above its limit.

    `what` names it; sizes are in bytes.

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
        exit=Exit.ERROR,
        http=401,
        grpc="UNAUTHENTICATED",
        retry=Retry.PERMANENT,
        reserved=True,
    ),
    message="the token of the server is missing or wrong",
    hint="send it as a header: `Authorization: Bearer TOKEN`",
):
    """The token of the HTTP server is missing or wrong.

    The row is reserved: this build has no HTTP server, and nothing raises it.

    Example: a request to the server without the header `Authorization`.

    What to do: send the token that the server was started with.
    """


class DependencyMissing(
    Signal,
    meaning=Meaning(
        code="dependency_missing",
        kind=Kind.PRECONDITION,
        canonical=Canonical.STATE_VIOLATION,
        domain="RUNTIME.DEPENDENCY_MISSING",
        origin=Origin.ADAPTER,
        exit=Exit.ERROR,
        http=501,
        grpc="UNIMPLEMENTED",
        retry=Retry.PERMANENT,
    ),
    message="cannot load the library that this needs: {feature}",
    hint="{install}",
):
    """A library or program that the feature needs is not installed, or cannot be loaded.

    There may be no build of it for this machine, or the installed one is broken. Where words
    alone will do, as in a search, kebab goes on without the feature and says so.

    Example: `kebab search bread --mode vector` where `onnxruntime` cannot be imported.

    What to do: run the command that `install` gives, in the environment of kebab; the log has the
    words of the import.
    """

    feature: str
    install: str


class ConfirmationRequired(
    Signal,
    meaning=Meaning(
        code="confirmation_required",
        kind=Kind.PRECONDITION,
        canonical=Canonical.STATE_VIOLATION,
        domain="POLICY.CONFIRMATION_REQUIRED",
        origin=Origin.CORE,
        exit=Exit.ERROR,
        http=428,
        grpc="FAILED_PRECONDITION",
        retry=Retry.PERMANENT,
        severity=Severity.WARN,
    ),
    message="`{operation}` needs a confirmation",
    hint="kebab {operation} --yes",
):
    """A destructive command was called without a terminal to ask at.

    Nothing was deleted.

    Example: `kebab reset` in a script, or with `--json`.

    What to do: repeat it with `--yes` when you mean it.
    """

    operation: str


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
    """The user interrupted before anything could be reported.

    Work that was already committed is kept.

    Example: Ctrl-C during `kebab search`, or `n` when `kebab reset` asks.

    What to do: nothing; repeat the command to go on.
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
        exit=Exit.ERROR,
        http=500,
        grpc="INTERNAL",
        retry=Retry.NONE,
        severity=Severity.CRITICAL,
        public=False,
    ),
    message="something unexpected went wrong",
    hint="kebab doctor",
):
    """A fault that kebab does not know.

    This is a bug, and nothing that you did wrong. The message stays neutral, because nobody
    checked what the fault may reveal.

    Example: an exception of a library that no table of kebab names yet.

    What to do: look up the `correlation_id` in the log under the state directory, which holds
    the trace, and report it; `--verbose` adds the chain of causes to `details`.
    """

    chain: list[str] | None = None


def build_catalog() -> dict[str, type[Signal]]:
    """Return the rows of the catalogue in order of declaration."""
    rows = [row for row in globals().values() if isinstance(row, type)]
    return {row.meaning.code: row for row in rows if issubclass(row, Signal) and row is not Signal}

// Generated from kebab/errors/catalog.py by `python -m tools.publish`; do not edit.
//
// Branch on `code` only, and treat an unknown code as failure.

export const KINDS = [
  "auth",
  "quota",
  "schema",
  "policy_deny",
  "sandbox",
  "provider",
  "storage",
  "timeout",
  "conflict",
  "not_found",
  "precondition",
  "serialization",
  "network",
  "rate_limit",
  "qos_budget_exceeded",
  "tool_error",
  "llm_error",
  "a2a_error",
  "unknown",
] as const;

export type Kind = (typeof KINDS)[number];

export const CANONICALS = [
  "E_CORE_INVALID_INPUT",
  "E_CORE_STATE_VIOLATION",
  "E_CORE_INVARIANT_BROKEN",
  "E_CONTRACT_MISMATCH",
  "E_ADAPTER_VALIDATION",
  "E_INTERNAL_ERROR",
] as const;

export type Canonical = (typeof CANONICALS)[number];

export const ORIGINS = ["core", "adapter", "surface"] as const;

export type Origin = (typeof ORIGINS)[number];

export const RETRIES = ["none", "transient", "permanent"] as const;

export type Retry = (typeof RETRIES)[number];

export const SEVERITIES = ["info", "warn", "error", "critical"] as const;

export type Severity = (typeof SEVERITIES)[number];

/** How long to wait before trying again: a suggestion, which may change. */
export interface Backoff {
  readonly firstMs: number;
  readonly factor: number;
  readonly ceilingMs: number;
  readonly attempts: number;
}

/** What callers may rely on of one code. */
export interface ErrorRow {
  readonly kind: Kind;
  readonly canonical: Canonical;
  readonly domain: string;
  readonly origin: Origin;
  readonly exit: number;
  readonly http: number;
  readonly grpc: string;
  readonly retry: Retry;
  readonly retryable: boolean;
  readonly backoff: Backoff | null;
  readonly severity: Severity;
  readonly public: boolean;
  readonly retired: boolean;
  readonly reserved: boolean;
}

/** Every code with its row. */
export const ERRORS = {
  config_invalid: {
    kind: "schema",
    canonical: "E_CORE_INVALID_INPUT",
    domain: "CONFIG.INVALID",
    origin: "core",
    exit: 2,
    http: 400,
    grpc: "INVALID_ARGUMENT",
    retry: "permanent",
    retryable: false,
    backoff: null,
    severity: "error",
    public: true,
    retired: false,
    reserved: false,
  },
  usage_invalid: {
    kind: "schema",
    canonical: "E_CORE_INVALID_INPUT",
    domain: "CLI.USAGE",
    origin: "surface",
    exit: 2,
    http: 400,
    grpc: "INVALID_ARGUMENT",
    retry: "permanent",
    retryable: false,
    backoff: null,
    severity: "error",
    public: true,
    retired: false,
    reserved: false,
  },
  invalid_input: {
    kind: "schema",
    canonical: "E_CORE_INVALID_INPUT",
    domain: "SCHEMA.VALIDATION_FAILED",
    origin: "core",
    exit: 2,
    http: 422,
    grpc: "INVALID_ARGUMENT",
    retry: "permanent",
    retryable: false,
    backoff: null,
    severity: "error",
    public: true,
    retired: false,
    reserved: false,
  },
  invalid_cursor: {
    kind: "schema",
    canonical: "E_CORE_INVALID_INPUT",
    domain: "SEARCH.CURSOR_INVALID",
    origin: "core",
    exit: 2,
    http: 400,
    grpc: "INVALID_ARGUMENT",
    retry: "permanent",
    retryable: false,
    backoff: null,
    severity: "error",
    public: true,
    retired: false,
    reserved: false,
  },
  stale_cursor: {
    kind: "conflict",
    canonical: "E_CORE_STATE_VIOLATION",
    domain: "SEARCH.CURSOR_STALE",
    origin: "core",
    exit: 2,
    http: 409,
    grpc: "ABORTED",
    retry: "transient",
    retryable: true,
    backoff: { firstMs: 0, factor: 1, ceilingMs: 0, attempts: 2 },
    severity: "warn",
    public: true,
    retired: false,
    reserved: false,
  },
  not_indexed: {
    kind: "precondition",
    canonical: "E_CORE_STATE_VIOLATION",
    domain: "STORAGE.NOT_INDEXED",
    origin: "adapter",
    exit: 3,
    http: 409,
    grpc: "FAILED_PRECONDITION",
    retry: "permanent",
    retryable: false,
    backoff: null,
    severity: "error",
    public: true,
    retired: false,
    reserved: false,
  },
  model_unreachable: {
    kind: "network",
    canonical: "E_ADAPTER_VALIDATION",
    domain: "LLM.UNREACHABLE",
    origin: "adapter",
    exit: 2,
    http: 503,
    grpc: "UNAVAILABLE",
    retry: "transient",
    retryable: true,
    backoff: { firstMs: 1000, factor: 2, ceilingMs: 10000, attempts: 4 },
    severity: "error",
    public: true,
    retired: false,
    reserved: false,
  },
  model_not_pulled: {
    kind: "llm_error",
    canonical: "E_CORE_STATE_VIOLATION",
    domain: "LLM.MODEL_MISSING",
    origin: "adapter",
    exit: 2,
    http: 424,
    grpc: "FAILED_PRECONDITION",
    retry: "permanent",
    retryable: false,
    backoff: null,
    severity: "error",
    public: true,
    retired: false,
    reserved: false,
  },
  model_rejected: {
    kind: "llm_error",
    canonical: "E_ADAPTER_VALIDATION",
    domain: "LLM.REJECTED",
    origin: "adapter",
    exit: 2,
    http: 502,
    grpc: "FAILED_PRECONDITION",
    retry: "permanent",
    retryable: false,
    backoff: null,
    severity: "error",
    public: true,
    retired: false,
    reserved: false,
  },
  model_busy: {
    kind: "rate_limit",
    canonical: "E_CORE_STATE_VIOLATION",
    domain: "LLM.BUSY",
    origin: "adapter",
    exit: 2,
    http: 503,
    grpc: "RESOURCE_EXHAUSTED",
    retry: "transient",
    retryable: true,
    backoff: { firstMs: 2000, factor: 2, ceilingMs: 60000, attempts: 6 },
    severity: "warn",
    public: true,
    retired: false,
    reserved: false,
  },
  model_protocol: {
    kind: "llm_error",
    canonical: "E_CONTRACT_MISMATCH",
    domain: "LLM.PROTOCOL",
    origin: "adapter",
    exit: 2,
    http: 502,
    grpc: "INTERNAL",
    retry: "transient",
    retryable: true,
    backoff: { firstMs: 1000, factor: 2, ceilingMs: 10000, attempts: 2 },
    severity: "error",
    public: true,
    retired: false,
    reserved: false,
  },
  context_overflow: {
    kind: "llm_error",
    canonical: "E_CORE_INVALID_INPUT",
    domain: "LLM.CONTEXT_OVERFLOW",
    origin: "adapter",
    exit: 2,
    http: 413,
    grpc: "OUT_OF_RANGE",
    retry: "permanent",
    retryable: false,
    backoff: null,
    severity: "error",
    public: true,
    retired: false,
    reserved: false,
  },
  embedding_unavailable: {
    kind: "provider",
    canonical: "E_ADAPTER_VALIDATION",
    domain: "EMBEDDING.UNAVAILABLE",
    origin: "adapter",
    exit: 2,
    http: 503,
    grpc: "UNAVAILABLE",
    retry: "transient",
    retryable: true,
    backoff: { firstMs: 30000, factor: 2, ceilingMs: 600000, attempts: 3 },
    severity: "error",
    public: true,
    retired: false,
    reserved: false,
  },
  embedding_mismatch: {
    kind: "conflict",
    canonical: "E_CORE_STATE_VIOLATION",
    domain: "EMBEDDING.MISMATCH",
    origin: "core",
    exit: 2,
    http: 409,
    grpc: "FAILED_PRECONDITION",
    retry: "permanent",
    retryable: false,
    backoff: null,
    severity: "error",
    public: true,
    retired: false,
    reserved: false,
  },
  timeout: {
    kind: "timeout",
    canonical: "E_ADAPTER_VALIDATION",
    domain: "CORE.TIMEOUT",
    origin: "adapter",
    exit: 2,
    http: 504,
    grpc: "DEADLINE_EXCEEDED",
    retry: "transient",
    retryable: true,
    backoff: { firstMs: 1000, factor: 2, ceilingMs: 10000, attempts: 2 },
    severity: "error",
    public: true,
    retired: false,
    reserved: false,
  },
  io_error: {
    kind: "storage",
    canonical: "E_ADAPTER_VALIDATION",
    domain: "STORAGE.IO",
    origin: "adapter",
    exit: 2,
    http: 500,
    grpc: "INTERNAL",
    retry: "transient",
    retryable: true,
    backoff: { firstMs: 1000, factor: 2, ceilingMs: 10000, attempts: 4 },
    severity: "error",
    public: true,
    retired: false,
    reserved: false,
  },
  locked: {
    kind: "conflict",
    canonical: "E_CORE_STATE_VIOLATION",
    domain: "STORAGE.LOCKED",
    origin: "adapter",
    exit: 2,
    http: 409,
    grpc: "ABORTED",
    retry: "transient",
    retryable: true,
    backoff: { firstMs: 1000, factor: 2, ceilingMs: 60000, attempts: 8 },
    severity: "warn",
    public: true,
    retired: false,
    reserved: false,
  },
  client_config_invalid: {
    kind: "serialization",
    canonical: "E_ADAPTER_VALIDATION",
    domain: "CONFIG.CLIENT_INVALID",
    origin: "surface",
    exit: 2,
    http: 422,
    grpc: "FAILED_PRECONDITION",
    retry: "permanent",
    retryable: false,
    backoff: null,
    severity: "error",
    public: true,
    retired: false,
    reserved: false,
  },
  read_only: {
    kind: "policy_deny",
    canonical: "E_CORE_STATE_VIOLATION",
    domain: "POLICY.READ_ONLY",
    origin: "core",
    exit: 2,
    http: 403,
    grpc: "PERMISSION_DENIED",
    retry: "permanent",
    retryable: false,
    backoff: null,
    severity: "error",
    public: true,
    retired: false,
    reserved: false,
  },
  store_corrupt: {
    kind: "storage",
    canonical: "E_CORE_INVARIANT_BROKEN",
    domain: "STORAGE.CORRUPT",
    origin: "adapter",
    exit: 3,
    http: 500,
    grpc: "DATA_LOSS",
    retry: "permanent",
    retryable: false,
    backoff: null,
    severity: "critical",
    public: true,
    retired: false,
    reserved: false,
  },
  unsupported_media: {
    kind: "schema",
    canonical: "E_CORE_INVALID_INPUT",
    domain: "INGEST.UNSUPPORTED_MEDIA",
    origin: "core",
    exit: 2,
    http: 415,
    grpc: "INVALID_ARGUMENT",
    retry: "permanent",
    retryable: false,
    backoff: null,
    severity: "error",
    public: true,
    retired: false,
    reserved: false,
  },
  secret_file: {
    kind: "policy_deny",
    canonical: "E_CORE_INVALID_INPUT",
    domain: "INGEST.SECRET_FILE",
    origin: "core",
    exit: 2,
    http: 403,
    grpc: "PERMISSION_DENIED",
    retry: "permanent",
    retryable: false,
    backoff: null,
    severity: "error",
    public: true,
    retired: false,
    reserved: false,
  },
  parse_failed: {
    kind: "serialization",
    canonical: "E_ADAPTER_VALIDATION",
    domain: "INGEST.PARSE_FAILED",
    origin: "adapter",
    exit: 2,
    http: 422,
    grpc: "INVALID_ARGUMENT",
    retry: "permanent",
    retryable: false,
    backoff: null,
    severity: "error",
    public: true,
    retired: false,
    reserved: false,
  },
  too_large: {
    kind: "quota",
    canonical: "E_CORE_INVALID_INPUT",
    domain: "LIMIT.TOO_LARGE",
    origin: "core",
    exit: 2,
    http: 413,
    grpc: "RESOURCE_EXHAUSTED",
    retry: "permanent",
    retryable: false,
    backoff: null,
    severity: "error",
    public: true,
    retired: false,
    reserved: false,
  },
  unauthorized: {
    kind: "auth",
    canonical: "E_CORE_INVALID_INPUT",
    domain: "AUTH.UNAUTHORIZED",
    origin: "surface",
    exit: 2,
    http: 401,
    grpc: "UNAUTHENTICATED",
    retry: "permanent",
    retryable: false,
    backoff: null,
    severity: "error",
    public: true,
    retired: false,
    reserved: false,
  },
  server_busy: {
    kind: "rate_limit",
    canonical: "E_CORE_STATE_VIOLATION",
    domain: "SERVER.BUSY",
    origin: "surface",
    exit: 2,
    http: 503,
    grpc: "RESOURCE_EXHAUSTED",
    retry: "transient",
    retryable: true,
    backoff: { firstMs: 1000, factor: 2, ceilingMs: 30000, attempts: 6 },
    severity: "warn",
    public: true,
    retired: false,
    reserved: false,
  },
  dependency_missing: {
    kind: "precondition",
    canonical: "E_CORE_STATE_VIOLATION",
    domain: "RUNTIME.DEPENDENCY_MISSING",
    origin: "adapter",
    exit: 2,
    http: 501,
    grpc: "UNIMPLEMENTED",
    retry: "permanent",
    retryable: false,
    backoff: null,
    severity: "error",
    public: true,
    retired: false,
    reserved: false,
  },
  cluster_unreachable: {
    kind: "network",
    canonical: "E_ADAPTER_VALIDATION",
    domain: "CLUSTER.UNREACHABLE",
    origin: "adapter",
    exit: 2,
    http: 503,
    grpc: "UNAVAILABLE",
    retry: "transient",
    retryable: true,
    backoff: { firstMs: 5000, factor: 2, ceilingMs: 60000, attempts: 4 },
    severity: "error",
    public: true,
    retired: false,
    reserved: false,
  },
  confirmation_required: {
    kind: "precondition",
    canonical: "E_CORE_STATE_VIOLATION",
    domain: "POLICY.CONFIRMATION_REQUIRED",
    origin: "core",
    exit: 2,
    http: 428,
    grpc: "FAILED_PRECONDITION",
    retry: "permanent",
    retryable: false,
    backoff: null,
    severity: "warn",
    public: true,
    retired: false,
    reserved: false,
  },
  out_of_memory: {
    kind: "quota",
    canonical: "E_ADAPTER_VALIDATION",
    domain: "RUNTIME.OUT_OF_MEMORY",
    origin: "adapter",
    exit: 2,
    http: 507,
    grpc: "RESOURCE_EXHAUSTED",
    retry: "transient",
    retryable: true,
    backoff: { firstMs: 30000, factor: 2, ceilingMs: 300000, attempts: 2 },
    severity: "error",
    public: true,
    retired: false,
    reserved: false,
  },
  cancelled: {
    kind: "unknown",
    canonical: "E_CORE_STATE_VIOLATION",
    domain: "CORE.CANCELLED",
    origin: "core",
    exit: 130,
    http: 499,
    grpc: "CANCELLED",
    retry: "transient",
    retryable: true,
    backoff: { firstMs: 0, factor: 1, ceilingMs: 0, attempts: 1 },
    severity: "info",
    public: true,
    retired: false,
    reserved: false,
  },
  generic: {
    kind: "unknown",
    canonical: "E_INTERNAL_ERROR",
    domain: "UNKNOWN.INTERNAL",
    origin: "surface",
    exit: 2,
    http: 500,
    grpc: "INTERNAL",
    retry: "none",
    retryable: false,
    backoff: null,
    severity: "critical",
    public: false,
    retired: false,
    reserved: false,
  },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERRORS;

/** The details of `config_invalid`. The configuration cannot be used. */
export interface ConfigInvalidDetails {
  readonly path: string;
  readonly cause: string;
}

/** The details of `usage_invalid`. The command line cannot be understood. */
export interface UsageInvalidDetails {
  readonly option: string;
  readonly cause: string;
}

/** The details of `invalid_input`. A request does not match its schema. */
export interface InvalidInputDetails {
  readonly field: string;
  readonly cause: string;
}

/** The details of `invalid_cursor`. The cursor is damaged, or belongs to another query. */
export interface InvalidCursorDetails {
  readonly cause: string;
}

/** The details of `stale_cursor`. The index, or a document under review, has changed between two pages. */
export interface StaleCursorDetails {
  readonly issued_revision: number;
  readonly current_revision: number;
  readonly path?: string | null;
}

/** The details of `not_indexed`. There is no database that this build can read. */
export interface NotIndexedDetails {
  readonly data_dir: string;
  readonly expected: number;
  readonly found: number | null;
  readonly file?: string | null;
}

/** The details of `model_unreachable`. The model server did not answer. */
export interface ModelUnreachableDetails {
  readonly endpoint: string;
  readonly operation: string;
  readonly cause: string;
  readonly provider?: string | null;
  readonly setting?: string | null;
  readonly reason?: string | null;
}

/** The details of `model_not_pulled`. Ollama is running but does not have the model. */
export interface ModelNotPulledDetails {
  readonly model: string;
  readonly endpoint: string;
  readonly operation: string;
  readonly models?: readonly string[] | null;
}

/** The details of `model_rejected`. The server refuses to answer with this model. */
export interface ModelRejectedDetails {
  readonly model: string;
  readonly endpoint: string;
  readonly operation: string;
  readonly cause: string;
  readonly reason?: string | null;
  readonly setting?: string | null;
  readonly models?: readonly string[] | null;
}

/** The details of `model_busy`. The server's queue is full, the server limits the rate of requests, or it loads its model. */
export interface ModelBusyDetails {
  readonly endpoint: string;
  readonly operation: string;
  readonly reason?: string | null;
}

/** The details of `model_protocol`. The response does not come from a model server, it is incomplete, or the server failed. */
export interface ModelProtocolDetails {
  readonly endpoint: string;
  readonly operation: string;
  readonly cause: string;
  readonly setting?: string | null;
}

/** The details of `context_overflow`. The question and its passages do not fit the model's window. */
export interface ContextOverflowDetails {
  readonly prompt_tokens: number;
  readonly context_tokens: number;
  readonly operation?: string | null;
}

/** The details of `embedding_unavailable`. The embedding model is not on this machine and cannot be downloaded. */
export interface EmbeddingUnavailableDetails {
  readonly model: string;
  readonly tried: readonly string[];
  readonly cause: string;
}

/** The details of `embedding_mismatch`. The configured embedding model is not the one that the index was built with. */
export interface EmbeddingMismatchDetails {
  readonly expected: string;
  readonly found: string;
}

/** The details of `timeout`. An operation took longer than its time limit. */
export interface TimeoutDetails {
  readonly operation: string;
  readonly elapsed_ms: number;
  readonly deadline_ms: number;
  readonly setting?: string | null;
  readonly path?: string | null;
  readonly endpoint?: string | null;
}

/** The details of `io_error`. A file or folder cannot be read, written or created. */
export interface IoErrorDetails {
  readonly path: string;
  readonly op: "read" | "write" | "create";
  readonly cause: string;
}

/** The details of `locked`. Another process is writing. */
export interface LockedDetails {
  readonly path: string;
  readonly holder_pid: number | null;
}

/** The details of `client_config_invalid`. A settings file of another program cannot be changed safely. */
export interface ClientConfigInvalidDetails {
  readonly client: string;
  readonly path: string;
  readonly cause: string;
}

/** The details of `read_only`. The command writes, and `--read-only` forbids it. */
export interface ReadOnlyDetails {
  readonly operation: string;
  readonly needs?: string | null;
  readonly published?: boolean;
}

/** The details of `store_corrupt`. The database or the vector table is damaged. */
export interface StoreCorruptDetails {
  readonly path: string;
  readonly cause: string;
  readonly archive?: string | null;
  readonly published?: boolean;
}

/** The details of `unsupported_media`. There is no parser for the file that was named. */
export interface UnsupportedMediaDetails {
  readonly path: string;
  readonly media: string;
  readonly setting?: string | null;
}

/** The details of `secret_file`. The file that was named usually holds keys or passwords, by its name or its content, so kebab does not read it. */
export interface SecretFileDetails {
  readonly path: string;
  readonly setting: string;
}

/** The details of `parse_failed`. A file cannot be parsed. */
export interface ParseFailedDetails {
  readonly path: string;
  readonly parser: string;
  readonly cause: string;
  readonly setting?: string | null;
}

/** The details of `too_large`. A file, a request body or a batch is larger than its limit. */
export interface TooLargeDetails {
  readonly what: string;
  readonly size: number;
  readonly limit: number;
}

/** The details of `unauthorized`. The token of the HTTP server is missing or wrong. */
export type UnauthorizedDetails = Record<string, never>;

/** The details of `server_busy`. Too many requests are waiting for the HTTP server. */
export interface ServerBusyDetails {
  readonly waiting: number;
}

/** The details of `dependency_missing`. A library or a program that the feature needs is not installed, or cannot be loaded. */
export interface DependencyMissingDetails {
  readonly feature: string;
  readonly install: string;
  readonly program?: string | null;
  readonly cause?: string | null;
}

/** The details of `cluster_unreachable`. `kebab ingest --ray ADDRESS` cannot use the Ray cluster. */
export interface ClusterUnreachableDetails {
  readonly address: string;
  readonly cause: string;
  readonly reason?: string | null;
}

/** The details of `confirmation_required`. A destructive command needs a confirmation, and there is no terminal to ask for it. */
export interface ConfirmationRequiredDetails {
  readonly operation: string;
}

/** The details of `out_of_memory`. The system gives the process no more memory. */
export interface OutOfMemoryDetails {
  readonly operation: string;
  readonly limit_bytes?: number | null;
}

/** The details of `cancelled`. The user interrupted the command. */
export interface CancelledDetails {
  readonly operation: string;
}

/** The details of `generic`. An unexpected error occurred. */
export interface GenericDetails {
  readonly chain?: readonly string[] | null;
}

/** `error.v1` of one code. */
export interface ErrorOf<Code extends ErrorCode, Details> {
  readonly schema_version: "error.v1";
  /** The command that replies; at the top level only. */
  readonly command?: string;
  /** The time of the reply, RFC 3339 in UTC with `Z`; at the top level only. */
  readonly timestamp?: string;
  /** The exit status of the process, null while it is not known; at the top level only. */
  readonly exit_code?: number | null;
  /** Always `json`; at the top level only. */
  readonly output_format?: "json";
  /** True when keys or passwords are masked in this reply; absent otherwise. */
  readonly masked?: boolean;
  /** The code of the error in the catalogue. */
  readonly code: Code;
  /** One sentence for a person. */
  readonly message: string;
  /** The typed details of this code. */
  readonly details: Details;
  /** A command or a step that may solve the problem. */
  readonly hint: string | null;
  /** The family of the error. */
  readonly kind: (typeof ERRORS)[Code]["kind"];
  /** The operation that failed. */
  readonly operation: string;
  /** The object of the operation: a path, a model or an id. */
  readonly target: string | null;
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;
  /** Whether to try again: `transient` yes, `permanent` only after a change, `none` no. */
  readonly retry: "none" | "transient" | "permanent";
  /** The suggested wait before the next attempt, in milliseconds; null where none makes sense. */
  readonly retry_after_ms?: number | null;
  /** The severity of the error. */
  readonly severity: "info" | "warn" | "error" | "critical";
  /** The id of the error in the log, which holds more details. */
  readonly correlation_id: string;
  /** The `traceparent` that the caller gave, in the format of W3C Trace Context. */
  readonly trace?: string;
}

/** `error.v1`: `code` tells the type of `details`. */
export type KebabError =
  | ErrorOf<"config_invalid", ConfigInvalidDetails>
  | ErrorOf<"usage_invalid", UsageInvalidDetails>
  | ErrorOf<"invalid_input", InvalidInputDetails>
  | ErrorOf<"invalid_cursor", InvalidCursorDetails>
  | ErrorOf<"stale_cursor", StaleCursorDetails>
  | ErrorOf<"not_indexed", NotIndexedDetails>
  | ErrorOf<"model_unreachable", ModelUnreachableDetails>
  | ErrorOf<"model_not_pulled", ModelNotPulledDetails>
  | ErrorOf<"model_rejected", ModelRejectedDetails>
  | ErrorOf<"model_busy", ModelBusyDetails>
  | ErrorOf<"model_protocol", ModelProtocolDetails>
  | ErrorOf<"context_overflow", ContextOverflowDetails>
  | ErrorOf<"embedding_unavailable", EmbeddingUnavailableDetails>
  | ErrorOf<"embedding_mismatch", EmbeddingMismatchDetails>
  | ErrorOf<"timeout", TimeoutDetails>
  | ErrorOf<"io_error", IoErrorDetails>
  | ErrorOf<"locked", LockedDetails>
  | ErrorOf<"client_config_invalid", ClientConfigInvalidDetails>
  | ErrorOf<"read_only", ReadOnlyDetails>
  | ErrorOf<"store_corrupt", StoreCorruptDetails>
  | ErrorOf<"unsupported_media", UnsupportedMediaDetails>
  | ErrorOf<"secret_file", SecretFileDetails>
  | ErrorOf<"parse_failed", ParseFailedDetails>
  | ErrorOf<"too_large", TooLargeDetails>
  | ErrorOf<"unauthorized", UnauthorizedDetails>
  | ErrorOf<"server_busy", ServerBusyDetails>
  | ErrorOf<"dependency_missing", DependencyMissingDetails>
  | ErrorOf<"cluster_unreachable", ClusterUnreachableDetails>
  | ErrorOf<"confirmation_required", ConfirmationRequiredDetails>
  | ErrorOf<"out_of_memory", OutOfMemoryDetails>
  | ErrorOf<"cancelled", CancelledDetails>
  | ErrorOf<"generic", GenericDetails>;

/** Returns whether this build of the table knows a code. */
export function isErrorCode(code: string): code is ErrorCode {
  return Object.prototype.hasOwnProperty.call(ERRORS, code);
}

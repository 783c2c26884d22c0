// Generated from kebab/errors/catalog.py by `python -m tools.publish`; do not edit.

package kebab;

import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The catalogue of errors that kebab reports as {@code error.v1}.
 *
 * <p>Branch on the code only, and treat an unknown code as failure.
 */
public final class Errors {
  private Errors() {}

  /** The family of an error. */
  public enum Kind {
    AUTH("auth"),
    QUOTA("quota"),
    SCHEMA("schema"),
    POLICY_DENY("policy_deny"),
    SANDBOX("sandbox"),
    PROVIDER("provider"),
    STORAGE("storage"),
    TIMEOUT("timeout"),
    CONFLICT("conflict"),
    NOT_FOUND("not_found"),
    PRECONDITION("precondition"),
    SERIALIZATION("serialization"),
    NETWORK("network"),
    RATE_LIMIT("rate_limit"),
    QOS_BUDGET_EXCEEDED("qos_budget_exceeded"),
    TOOL_ERROR("tool_error"),
    LLM_ERROR("llm_error"),
    A2A_ERROR("a2a_error"),
    UNKNOWN("unknown");

    private final String id;

    Kind(String id) {
      this.id = id;
    }

    /** Returns the name as it stands in JSON. */
    public String id() {
      return id;
    }
  }

  /** One of the six canonical codes. */
  public enum Canonical {
    E_CORE_INVALID_INPUT("E_CORE_INVALID_INPUT"),
    E_CORE_STATE_VIOLATION("E_CORE_STATE_VIOLATION"),
    E_CORE_INVARIANT_BROKEN("E_CORE_INVARIANT_BROKEN"),
    E_CONTRACT_MISMATCH("E_CONTRACT_MISMATCH"),
    E_ADAPTER_VALIDATION("E_ADAPTER_VALIDATION"),
    E_INTERNAL_ERROR("E_INTERNAL_ERROR");

    private final String id;

    Canonical(String id) {
      this.id = id;
    }

    /** Returns the name as it stands in JSON. */
    public String id() {
      return id;
    }
  }

  /** The layer that raises an error. */
  public enum Origin {
    CORE("core"),
    ADAPTER("adapter"),
    SURFACE("surface");

    private final String id;

    Origin(String id) {
      this.id = id;
    }

    /** Returns the name as it stands in JSON. */
    public String id() {
      return id;
    }
  }

  /** Whether the same call may succeed later. */
  public enum Retry {
    NONE("none"),
    TRANSIENT("transient"),
    PERMANENT("permanent");

    private final String id;

    Retry(String id) {
      this.id = id;
    }

    /** Returns the name as it stands in JSON. */
    public String id() {
      return id;
    }
  }

  /** How bad an error is. */
  public enum Severity {
    INFO("info"),
    WARN("warn"),
    ERROR("error"),
    CRITICAL("critical");

    private final String id;

    Severity(String id) {
      this.id = id;
    }

    /** Returns the name as it stands in JSON. */
    public String id() {
      return id;
    }
  }

  /** How long to wait before trying again: a suggestion, which may change. */
  public record Backoff(int firstMs, double factor, int ceilingMs, int attempts) {}

  /** What callers may rely on of one code; no backoff where trying again makes no sense. */
  public record Row(
      Kind kind,
      Canonical canonical,
      String domain,
      Origin origin,
      int exit,
      int http,
      String grpc,
      Retry retry,
      boolean retryable,
      Optional<Backoff> backoff,
      Severity severity,
      boolean isPublic,
      boolean retired,
      boolean reserved) {}

  /** Every code. */
  public enum Code {
    /** The configuration cannot be used. */
    CONFIG_INVALID(
        "config_invalid",
        new Row(
            Kind.SCHEMA,
            Canonical.E_CORE_INVALID_INPUT,
            "CONFIG.INVALID",
            Origin.CORE,
            /* exit= */ 2,
            /* http= */ 400,
            "INVALID_ARGUMENT",
            Retry.PERMANENT,
            /* retryable= */ false,
            Optional.empty(),
            Severity.ERROR,
            /* isPublic= */ true,
            /* retired= */ false,
            /* reserved= */ false)),
    /** The command line cannot be understood. */
    USAGE_INVALID(
        "usage_invalid",
        new Row(
            Kind.SCHEMA,
            Canonical.E_CORE_INVALID_INPUT,
            "CLI.USAGE",
            Origin.SURFACE,
            /* exit= */ 2,
            /* http= */ 400,
            "INVALID_ARGUMENT",
            Retry.PERMANENT,
            /* retryable= */ false,
            Optional.empty(),
            Severity.ERROR,
            /* isPublic= */ true,
            /* retired= */ false,
            /* reserved= */ false)),
    /** A request does not match its schema. */
    INVALID_INPUT(
        "invalid_input",
        new Row(
            Kind.SCHEMA,
            Canonical.E_CORE_INVALID_INPUT,
            "SCHEMA.VALIDATION_FAILED",
            Origin.CORE,
            /* exit= */ 2,
            /* http= */ 422,
            "INVALID_ARGUMENT",
            Retry.PERMANENT,
            /* retryable= */ false,
            Optional.empty(),
            Severity.ERROR,
            /* isPublic= */ true,
            /* retired= */ false,
            /* reserved= */ false)),
    /** The cursor is damaged, or belongs to another query. */
    INVALID_CURSOR(
        "invalid_cursor",
        new Row(
            Kind.SCHEMA,
            Canonical.E_CORE_INVALID_INPUT,
            "SEARCH.CURSOR_INVALID",
            Origin.CORE,
            /* exit= */ 2,
            /* http= */ 400,
            "INVALID_ARGUMENT",
            Retry.PERMANENT,
            /* retryable= */ false,
            Optional.empty(),
            Severity.ERROR,
            /* isPublic= */ true,
            /* retired= */ false,
            /* reserved= */ false)),
    /** The index, or a document under review, has changed between two pages. */
    STALE_CURSOR(
        "stale_cursor",
        new Row(
            Kind.CONFLICT,
            Canonical.E_CORE_STATE_VIOLATION,
            "SEARCH.CURSOR_STALE",
            Origin.CORE,
            /* exit= */ 2,
            /* http= */ 409,
            "ABORTED",
            Retry.TRANSIENT,
            /* retryable= */ true,
            Optional.of(new Backoff(0, 1.0, 0, 2)),
            Severity.WARN,
            /* isPublic= */ true,
            /* retired= */ false,
            /* reserved= */ false)),
    /** There is no database that this build can read. */
    NOT_INDEXED(
        "not_indexed",
        new Row(
            Kind.PRECONDITION,
            Canonical.E_CORE_STATE_VIOLATION,
            "STORAGE.NOT_INDEXED",
            Origin.ADAPTER,
            /* exit= */ 3,
            /* http= */ 409,
            "FAILED_PRECONDITION",
            Retry.PERMANENT,
            /* retryable= */ false,
            Optional.empty(),
            Severity.ERROR,
            /* isPublic= */ true,
            /* retired= */ false,
            /* reserved= */ false)),
    /** The model server did not answer. */
    MODEL_UNREACHABLE(
        "model_unreachable",
        new Row(
            Kind.NETWORK,
            Canonical.E_ADAPTER_VALIDATION,
            "LLM.UNREACHABLE",
            Origin.ADAPTER,
            /* exit= */ 2,
            /* http= */ 503,
            "UNAVAILABLE",
            Retry.TRANSIENT,
            /* retryable= */ true,
            Optional.of(new Backoff(1000, 2.0, 10000, 4)),
            Severity.ERROR,
            /* isPublic= */ true,
            /* retired= */ false,
            /* reserved= */ false)),
    /** Ollama is running but does not have the model. */
    MODEL_NOT_PULLED(
        "model_not_pulled",
        new Row(
            Kind.LLM_ERROR,
            Canonical.E_CORE_STATE_VIOLATION,
            "LLM.MODEL_MISSING",
            Origin.ADAPTER,
            /* exit= */ 2,
            /* http= */ 424,
            "FAILED_PRECONDITION",
            Retry.PERMANENT,
            /* retryable= */ false,
            Optional.empty(),
            Severity.ERROR,
            /* isPublic= */ true,
            /* retired= */ false,
            /* reserved= */ false)),
    /** The server refuses to answer with this model. */
    MODEL_REJECTED(
        "model_rejected",
        new Row(
            Kind.LLM_ERROR,
            Canonical.E_ADAPTER_VALIDATION,
            "LLM.REJECTED",
            Origin.ADAPTER,
            /* exit= */ 2,
            /* http= */ 502,
            "FAILED_PRECONDITION",
            Retry.PERMANENT,
            /* retryable= */ false,
            Optional.empty(),
            Severity.ERROR,
            /* isPublic= */ true,
            /* retired= */ false,
            /* reserved= */ false)),
    /** The server's queue is full, the server limits the rate of requests, or it loads its model. */
    MODEL_BUSY(
        "model_busy",
        new Row(
            Kind.RATE_LIMIT,
            Canonical.E_CORE_STATE_VIOLATION,
            "LLM.BUSY",
            Origin.ADAPTER,
            /* exit= */ 2,
            /* http= */ 503,
            "RESOURCE_EXHAUSTED",
            Retry.TRANSIENT,
            /* retryable= */ true,
            Optional.of(new Backoff(2000, 2.0, 60000, 6)),
            Severity.WARN,
            /* isPublic= */ true,
            /* retired= */ false,
            /* reserved= */ false)),
    /** The response does not come from a model server, it is incomplete, or the server failed. */
    MODEL_PROTOCOL(
        "model_protocol",
        new Row(
            Kind.LLM_ERROR,
            Canonical.E_CONTRACT_MISMATCH,
            "LLM.PROTOCOL",
            Origin.ADAPTER,
            /* exit= */ 2,
            /* http= */ 502,
            "INTERNAL",
            Retry.TRANSIENT,
            /* retryable= */ true,
            Optional.of(new Backoff(1000, 2.0, 10000, 2)),
            Severity.ERROR,
            /* isPublic= */ true,
            /* retired= */ false,
            /* reserved= */ false)),
    /** The question and its passages do not fit the model's window. */
    CONTEXT_OVERFLOW(
        "context_overflow",
        new Row(
            Kind.LLM_ERROR,
            Canonical.E_CORE_INVALID_INPUT,
            "LLM.CONTEXT_OVERFLOW",
            Origin.ADAPTER,
            /* exit= */ 2,
            /* http= */ 413,
            "OUT_OF_RANGE",
            Retry.PERMANENT,
            /* retryable= */ false,
            Optional.empty(),
            Severity.ERROR,
            /* isPublic= */ true,
            /* retired= */ false,
            /* reserved= */ false)),
    /** The embedding model is not on this machine and cannot be downloaded. */
    EMBEDDING_UNAVAILABLE(
        "embedding_unavailable",
        new Row(
            Kind.PROVIDER,
            Canonical.E_ADAPTER_VALIDATION,
            "EMBEDDING.UNAVAILABLE",
            Origin.ADAPTER,
            /* exit= */ 2,
            /* http= */ 503,
            "UNAVAILABLE",
            Retry.TRANSIENT,
            /* retryable= */ true,
            Optional.of(new Backoff(30000, 2.0, 600000, 3)),
            Severity.ERROR,
            /* isPublic= */ true,
            /* retired= */ false,
            /* reserved= */ false)),
    /** The configured embedding model is not the one that the index was built with. */
    EMBEDDING_MISMATCH(
        "embedding_mismatch",
        new Row(
            Kind.CONFLICT,
            Canonical.E_CORE_STATE_VIOLATION,
            "EMBEDDING.MISMATCH",
            Origin.CORE,
            /* exit= */ 2,
            /* http= */ 409,
            "FAILED_PRECONDITION",
            Retry.PERMANENT,
            /* retryable= */ false,
            Optional.empty(),
            Severity.ERROR,
            /* isPublic= */ true,
            /* retired= */ false,
            /* reserved= */ false)),
    /** An operation took longer than its time limit. */
    TIMEOUT(
        "timeout",
        new Row(
            Kind.TIMEOUT,
            Canonical.E_ADAPTER_VALIDATION,
            "CORE.TIMEOUT",
            Origin.ADAPTER,
            /* exit= */ 2,
            /* http= */ 504,
            "DEADLINE_EXCEEDED",
            Retry.TRANSIENT,
            /* retryable= */ true,
            Optional.of(new Backoff(1000, 2.0, 10000, 2)),
            Severity.ERROR,
            /* isPublic= */ true,
            /* retired= */ false,
            /* reserved= */ false)),
    /** A file or folder cannot be read, written or created. */
    IO_ERROR(
        "io_error",
        new Row(
            Kind.STORAGE,
            Canonical.E_ADAPTER_VALIDATION,
            "STORAGE.IO",
            Origin.ADAPTER,
            /* exit= */ 2,
            /* http= */ 500,
            "INTERNAL",
            Retry.TRANSIENT,
            /* retryable= */ true,
            Optional.of(new Backoff(1000, 2.0, 10000, 4)),
            Severity.ERROR,
            /* isPublic= */ true,
            /* retired= */ false,
            /* reserved= */ false)),
    /** Another process is writing. */
    LOCKED(
        "locked",
        new Row(
            Kind.CONFLICT,
            Canonical.E_CORE_STATE_VIOLATION,
            "STORAGE.LOCKED",
            Origin.ADAPTER,
            /* exit= */ 2,
            /* http= */ 409,
            "ABORTED",
            Retry.TRANSIENT,
            /* retryable= */ true,
            Optional.of(new Backoff(1000, 2.0, 60000, 8)),
            Severity.WARN,
            /* isPublic= */ true,
            /* retired= */ false,
            /* reserved= */ false)),
    /** A settings file of another program cannot be changed safely. */
    CLIENT_CONFIG_INVALID(
        "client_config_invalid",
        new Row(
            Kind.SERIALIZATION,
            Canonical.E_ADAPTER_VALIDATION,
            "CONFIG.CLIENT_INVALID",
            Origin.SURFACE,
            /* exit= */ 2,
            /* http= */ 422,
            "FAILED_PRECONDITION",
            Retry.PERMANENT,
            /* retryable= */ false,
            Optional.empty(),
            Severity.ERROR,
            /* isPublic= */ true,
            /* retired= */ false,
            /* reserved= */ false)),
    /** The command writes, and `--read-only` forbids it. */
    READ_ONLY(
        "read_only",
        new Row(
            Kind.POLICY_DENY,
            Canonical.E_CORE_STATE_VIOLATION,
            "POLICY.READ_ONLY",
            Origin.CORE,
            /* exit= */ 2,
            /* http= */ 403,
            "PERMISSION_DENIED",
            Retry.PERMANENT,
            /* retryable= */ false,
            Optional.empty(),
            Severity.ERROR,
            /* isPublic= */ true,
            /* retired= */ false,
            /* reserved= */ false)),
    /** The database or the vector table is damaged. */
    STORE_CORRUPT(
        "store_corrupt",
        new Row(
            Kind.STORAGE,
            Canonical.E_CORE_INVARIANT_BROKEN,
            "STORAGE.CORRUPT",
            Origin.ADAPTER,
            /* exit= */ 3,
            /* http= */ 500,
            "DATA_LOSS",
            Retry.PERMANENT,
            /* retryable= */ false,
            Optional.empty(),
            Severity.CRITICAL,
            /* isPublic= */ true,
            /* retired= */ false,
            /* reserved= */ false)),
    /** There is no parser for the file that was named. */
    UNSUPPORTED_MEDIA(
        "unsupported_media",
        new Row(
            Kind.SCHEMA,
            Canonical.E_CORE_INVALID_INPUT,
            "INGEST.UNSUPPORTED_MEDIA",
            Origin.CORE,
            /* exit= */ 2,
            /* http= */ 415,
            "INVALID_ARGUMENT",
            Retry.PERMANENT,
            /* retryable= */ false,
            Optional.empty(),
            Severity.ERROR,
            /* isPublic= */ true,
            /* retired= */ false,
            /* reserved= */ false)),
    /** The file that was named usually holds keys or passwords, by its name or its content, so kebab does not read it. */
    SECRET_FILE(
        "secret_file",
        new Row(
            Kind.POLICY_DENY,
            Canonical.E_CORE_INVALID_INPUT,
            "INGEST.SECRET_FILE",
            Origin.CORE,
            /* exit= */ 2,
            /* http= */ 403,
            "PERMISSION_DENIED",
            Retry.PERMANENT,
            /* retryable= */ false,
            Optional.empty(),
            Severity.ERROR,
            /* isPublic= */ true,
            /* retired= */ false,
            /* reserved= */ false)),
    /** A file cannot be parsed. */
    PARSE_FAILED(
        "parse_failed",
        new Row(
            Kind.SERIALIZATION,
            Canonical.E_ADAPTER_VALIDATION,
            "INGEST.PARSE_FAILED",
            Origin.ADAPTER,
            /* exit= */ 2,
            /* http= */ 422,
            "INVALID_ARGUMENT",
            Retry.PERMANENT,
            /* retryable= */ false,
            Optional.empty(),
            Severity.ERROR,
            /* isPublic= */ true,
            /* retired= */ false,
            /* reserved= */ false)),
    /** A file, a request body or a batch is larger than its limit. */
    TOO_LARGE(
        "too_large",
        new Row(
            Kind.QUOTA,
            Canonical.E_CORE_INVALID_INPUT,
            "LIMIT.TOO_LARGE",
            Origin.CORE,
            /* exit= */ 2,
            /* http= */ 413,
            "RESOURCE_EXHAUSTED",
            Retry.PERMANENT,
            /* retryable= */ false,
            Optional.empty(),
            Severity.ERROR,
            /* isPublic= */ true,
            /* retired= */ false,
            /* reserved= */ false)),
    /** The token of the HTTP server is missing or wrong. */
    UNAUTHORIZED(
        "unauthorized",
        new Row(
            Kind.AUTH,
            Canonical.E_CORE_INVALID_INPUT,
            "AUTH.UNAUTHORIZED",
            Origin.SURFACE,
            /* exit= */ 2,
            /* http= */ 401,
            "UNAUTHENTICATED",
            Retry.PERMANENT,
            /* retryable= */ false,
            Optional.empty(),
            Severity.ERROR,
            /* isPublic= */ true,
            /* retired= */ false,
            /* reserved= */ false)),
    /** Too many requests are waiting for the HTTP server. */
    SERVER_BUSY(
        "server_busy",
        new Row(
            Kind.RATE_LIMIT,
            Canonical.E_CORE_STATE_VIOLATION,
            "SERVER.BUSY",
            Origin.SURFACE,
            /* exit= */ 2,
            /* http= */ 503,
            "RESOURCE_EXHAUSTED",
            Retry.TRANSIENT,
            /* retryable= */ true,
            Optional.of(new Backoff(1000, 2.0, 30000, 6)),
            Severity.WARN,
            /* isPublic= */ true,
            /* retired= */ false,
            /* reserved= */ false)),
    /** A library or a program that the feature needs is not installed, or cannot be loaded. */
    DEPENDENCY_MISSING(
        "dependency_missing",
        new Row(
            Kind.PRECONDITION,
            Canonical.E_CORE_STATE_VIOLATION,
            "RUNTIME.DEPENDENCY_MISSING",
            Origin.ADAPTER,
            /* exit= */ 2,
            /* http= */ 501,
            "UNIMPLEMENTED",
            Retry.PERMANENT,
            /* retryable= */ false,
            Optional.empty(),
            Severity.ERROR,
            /* isPublic= */ true,
            /* retired= */ false,
            /* reserved= */ false)),
    /** `kebab ingest --ray ADDRESS` cannot use the Ray cluster. */
    CLUSTER_UNREACHABLE(
        "cluster_unreachable",
        new Row(
            Kind.NETWORK,
            Canonical.E_ADAPTER_VALIDATION,
            "CLUSTER.UNREACHABLE",
            Origin.ADAPTER,
            /* exit= */ 2,
            /* http= */ 503,
            "UNAVAILABLE",
            Retry.TRANSIENT,
            /* retryable= */ true,
            Optional.of(new Backoff(5000, 2.0, 60000, 4)),
            Severity.ERROR,
            /* isPublic= */ true,
            /* retired= */ false,
            /* reserved= */ false)),
    /** A destructive command needs a confirmation, and there is no terminal to ask for it. */
    CONFIRMATION_REQUIRED(
        "confirmation_required",
        new Row(
            Kind.PRECONDITION,
            Canonical.E_CORE_STATE_VIOLATION,
            "POLICY.CONFIRMATION_REQUIRED",
            Origin.CORE,
            /* exit= */ 2,
            /* http= */ 428,
            "FAILED_PRECONDITION",
            Retry.PERMANENT,
            /* retryable= */ false,
            Optional.empty(),
            Severity.WARN,
            /* isPublic= */ true,
            /* retired= */ false,
            /* reserved= */ false)),
    /** The system gives the process no more memory. */
    OUT_OF_MEMORY(
        "out_of_memory",
        new Row(
            Kind.QUOTA,
            Canonical.E_ADAPTER_VALIDATION,
            "RUNTIME.OUT_OF_MEMORY",
            Origin.ADAPTER,
            /* exit= */ 2,
            /* http= */ 507,
            "RESOURCE_EXHAUSTED",
            Retry.TRANSIENT,
            /* retryable= */ true,
            Optional.of(new Backoff(30000, 2.0, 300000, 2)),
            Severity.ERROR,
            /* isPublic= */ true,
            /* retired= */ false,
            /* reserved= */ false)),
    /** The user interrupted the command. */
    CANCELLED(
        "cancelled",
        new Row(
            Kind.UNKNOWN,
            Canonical.E_CORE_STATE_VIOLATION,
            "CORE.CANCELLED",
            Origin.CORE,
            /* exit= */ 130,
            /* http= */ 499,
            "CANCELLED",
            Retry.TRANSIENT,
            /* retryable= */ true,
            Optional.of(new Backoff(0, 1.0, 0, 1)),
            Severity.INFO,
            /* isPublic= */ true,
            /* retired= */ false,
            /* reserved= */ false)),
    /** An unexpected error occurred. */
    GENERIC(
        "generic",
        new Row(
            Kind.UNKNOWN,
            Canonical.E_INTERNAL_ERROR,
            "UNKNOWN.INTERNAL",
            Origin.SURFACE,
            /* exit= */ 2,
            /* http= */ 500,
            "INTERNAL",
            Retry.NONE,
            /* retryable= */ false,
            Optional.empty(),
            Severity.CRITICAL,
            /* isPublic= */ false,
            /* retired= */ false,
            /* reserved= */ false));

    private static final Map<String, Code> BY_ID =
        Arrays.stream(values())
            .collect(Collectors.toUnmodifiableMap(Code::id, Function.identity()));

    private final String id;
    private final Row row;

    Code(String id, Row row) {
      this.id = id;
      this.row = row;
    }

    /** Returns the code as it stands in JSON. */
    public String id() {
      return id;
    }

    /** Returns what callers may rely on. */
    public Row row() {
      return row;
    }

    /** Returns the code that stands in JSON; empty when this build of the table lacks it. */
    public static Optional<Code> of(String id) {
      return Optional.ofNullable(BY_ID.get(id));
    }
  }
}

// Code generated from kebab/errors/catalog.py by python -m tools.publish. DO NOT EDIT.

// Package kebab holds the catalogue of errors that kebab reports as error.v1.
//
// Branch on the code only, and treat an unknown code as failure.
package kebab

// Code names a row of the catalogue.
type Code string

// Every Code.
const (
	CodeConfigInvalid        Code = "config_invalid"
	CodeUsageInvalid         Code = "usage_invalid"
	CodeInvalidInput         Code = "invalid_input"
	CodeInvalidCursor        Code = "invalid_cursor"
	CodeStaleCursor          Code = "stale_cursor"
	CodeNotIndexed           Code = "not_indexed"
	CodeModelUnreachable     Code = "model_unreachable"
	CodeModelNotPulled       Code = "model_not_pulled"
	CodeModelRejected        Code = "model_rejected"
	CodeModelBusy            Code = "model_busy"
	CodeModelProtocol        Code = "model_protocol"
	CodeContextOverflow      Code = "context_overflow"
	CodeEmbeddingUnavailable Code = "embedding_unavailable"
	CodeEmbeddingMismatch    Code = "embedding_mismatch"
	CodeTimeout              Code = "timeout"
	CodeIoError              Code = "io_error"
	CodeLocked               Code = "locked"
	CodeClientConfigInvalid  Code = "client_config_invalid"
	CodeReadOnly             Code = "read_only"
	CodeStoreCorrupt         Code = "store_corrupt"
	CodeUnsupportedMedia     Code = "unsupported_media"
	CodeSecretFile           Code = "secret_file"
	CodeParseFailed          Code = "parse_failed"
	CodeTooLarge             Code = "too_large"
	CodeUnauthorized         Code = "unauthorized"
	CodeServerBusy           Code = "server_busy"
	CodeDependencyMissing    Code = "dependency_missing"
	CodeClusterUnreachable   Code = "cluster_unreachable"
	CodeConfirmationRequired Code = "confirmation_required"
	CodeOutOfMemory          Code = "out_of_memory"
	CodeCancelled            Code = "cancelled"
	CodeGeneric              Code = "generic"
)

// Kind is the family of an error.
type Kind string

// Every Kind.
const (
	KindAuth              Kind = "auth"
	KindQuota             Kind = "quota"
	KindSchema            Kind = "schema"
	KindPolicyDeny        Kind = "policy_deny"
	KindSandbox           Kind = "sandbox"
	KindProvider          Kind = "provider"
	KindStorage           Kind = "storage"
	KindTimeout           Kind = "timeout"
	KindConflict          Kind = "conflict"
	KindNotFound          Kind = "not_found"
	KindPrecondition      Kind = "precondition"
	KindSerialization     Kind = "serialization"
	KindNetwork           Kind = "network"
	KindRateLimit         Kind = "rate_limit"
	KindQosBudgetExceeded Kind = "qos_budget_exceeded"
	KindToolError         Kind = "tool_error"
	KindLlmError          Kind = "llm_error"
	KindA2aError          Kind = "a2a_error"
	KindUnknown           Kind = "unknown"
)

// Canonical is one of the six canonical codes.
type Canonical string

// Every Canonical.
const (
	CanonicalECoreInvalidInput    Canonical = "E_CORE_INVALID_INPUT"
	CanonicalECoreStateViolation  Canonical = "E_CORE_STATE_VIOLATION"
	CanonicalECoreInvariantBroken Canonical = "E_CORE_INVARIANT_BROKEN"
	CanonicalEContractMismatch    Canonical = "E_CONTRACT_MISMATCH"
	CanonicalEAdapterValidation   Canonical = "E_ADAPTER_VALIDATION"
	CanonicalEInternalError       Canonical = "E_INTERNAL_ERROR"
)

// Origin is the layer that raises an error.
type Origin string

// Every Origin.
const (
	OriginCore    Origin = "core"
	OriginAdapter Origin = "adapter"
	OriginSurface Origin = "surface"
)

// Retry tells whether the same call may succeed later.
type Retry string

// Every Retry.
const (
	RetryNone      Retry = "none"
	RetryTransient Retry = "transient"
	RetryPermanent Retry = "permanent"
)

// Severity tells how bad an error is.
type Severity string

// Every Severity.
const (
	SeverityInfo     Severity = "info"
	SeverityWarn     Severity = "warn"
	SeverityError    Severity = "error"
	SeverityCritical Severity = "critical"
)

// Backoff tells how long to wait before trying again: a suggestion, which may change.
type Backoff struct {
	FirstMS   int
	Factor    float64
	CeilingMS int
	Attempts  int
}

// Row is what callers may rely on of one code. Backoff is nil where trying again makes no sense.
type Row struct {
	Kind      Kind
	Canonical Canonical
	Domain    string
	Origin    Origin
	Exit      int
	HTTP      int
	GRPC      string
	Retry     Retry
	Retryable bool
	Backoff   *Backoff
	Severity  Severity
	Public    bool
	Retired   bool
	Reserved  bool
}

// Rows holds every row by its code.
var Rows = map[Code]Row{
	CodeConfigInvalid: {
		Kind:      KindSchema,
		Canonical: CanonicalECoreInvalidInput,
		Domain:    "CONFIG.INVALID",
		Origin:    OriginCore,
		Exit:      2,
		HTTP:      400,
		GRPC:      "INVALID_ARGUMENT",
		Retry:     RetryPermanent,
		Retryable: false,
		Severity:  SeverityError,
		Public:    true,
		Retired:   false,
		Reserved:  false,
	},
	CodeUsageInvalid: {
		Kind:      KindSchema,
		Canonical: CanonicalECoreInvalidInput,
		Domain:    "CLI.USAGE",
		Origin:    OriginSurface,
		Exit:      2,
		HTTP:      400,
		GRPC:      "INVALID_ARGUMENT",
		Retry:     RetryPermanent,
		Retryable: false,
		Severity:  SeverityError,
		Public:    true,
		Retired:   false,
		Reserved:  false,
	},
	CodeInvalidInput: {
		Kind:      KindSchema,
		Canonical: CanonicalECoreInvalidInput,
		Domain:    "SCHEMA.VALIDATION_FAILED",
		Origin:    OriginCore,
		Exit:      2,
		HTTP:      422,
		GRPC:      "INVALID_ARGUMENT",
		Retry:     RetryPermanent,
		Retryable: false,
		Severity:  SeverityError,
		Public:    true,
		Retired:   false,
		Reserved:  false,
	},
	CodeInvalidCursor: {
		Kind:      KindSchema,
		Canonical: CanonicalECoreInvalidInput,
		Domain:    "SEARCH.CURSOR_INVALID",
		Origin:    OriginCore,
		Exit:      2,
		HTTP:      400,
		GRPC:      "INVALID_ARGUMENT",
		Retry:     RetryPermanent,
		Retryable: false,
		Severity:  SeverityError,
		Public:    true,
		Retired:   false,
		Reserved:  false,
	},
	CodeStaleCursor: {
		Kind:      KindConflict,
		Canonical: CanonicalECoreStateViolation,
		Domain:    "SEARCH.CURSOR_STALE",
		Origin:    OriginCore,
		Exit:      2,
		HTTP:      409,
		GRPC:      "ABORTED",
		Retry:     RetryTransient,
		Retryable: true,
		Backoff:   &Backoff{FirstMS: 0, Factor: 1, CeilingMS: 0, Attempts: 2},
		Severity:  SeverityWarn,
		Public:    true,
		Retired:   false,
		Reserved:  false,
	},
	CodeNotIndexed: {
		Kind:      KindPrecondition,
		Canonical: CanonicalECoreStateViolation,
		Domain:    "STORAGE.NOT_INDEXED",
		Origin:    OriginAdapter,
		Exit:      3,
		HTTP:      409,
		GRPC:      "FAILED_PRECONDITION",
		Retry:     RetryPermanent,
		Retryable: false,
		Severity:  SeverityError,
		Public:    true,
		Retired:   false,
		Reserved:  false,
	},
	CodeModelUnreachable: {
		Kind:      KindNetwork,
		Canonical: CanonicalEAdapterValidation,
		Domain:    "LLM.UNREACHABLE",
		Origin:    OriginAdapter,
		Exit:      2,
		HTTP:      503,
		GRPC:      "UNAVAILABLE",
		Retry:     RetryTransient,
		Retryable: true,
		Backoff:   &Backoff{FirstMS: 1000, Factor: 2, CeilingMS: 10000, Attempts: 4},
		Severity:  SeverityError,
		Public:    true,
		Retired:   false,
		Reserved:  false,
	},
	CodeModelNotPulled: {
		Kind:      KindLlmError,
		Canonical: CanonicalECoreStateViolation,
		Domain:    "LLM.MODEL_MISSING",
		Origin:    OriginAdapter,
		Exit:      2,
		HTTP:      424,
		GRPC:      "FAILED_PRECONDITION",
		Retry:     RetryPermanent,
		Retryable: false,
		Severity:  SeverityError,
		Public:    true,
		Retired:   false,
		Reserved:  false,
	},
	CodeModelRejected: {
		Kind:      KindLlmError,
		Canonical: CanonicalEAdapterValidation,
		Domain:    "LLM.REJECTED",
		Origin:    OriginAdapter,
		Exit:      2,
		HTTP:      502,
		GRPC:      "FAILED_PRECONDITION",
		Retry:     RetryPermanent,
		Retryable: false,
		Severity:  SeverityError,
		Public:    true,
		Retired:   false,
		Reserved:  false,
	},
	CodeModelBusy: {
		Kind:      KindRateLimit,
		Canonical: CanonicalECoreStateViolation,
		Domain:    "LLM.BUSY",
		Origin:    OriginAdapter,
		Exit:      2,
		HTTP:      503,
		GRPC:      "RESOURCE_EXHAUSTED",
		Retry:     RetryTransient,
		Retryable: true,
		Backoff:   &Backoff{FirstMS: 2000, Factor: 2, CeilingMS: 60000, Attempts: 6},
		Severity:  SeverityWarn,
		Public:    true,
		Retired:   false,
		Reserved:  false,
	},
	CodeModelProtocol: {
		Kind:      KindLlmError,
		Canonical: CanonicalEContractMismatch,
		Domain:    "LLM.PROTOCOL",
		Origin:    OriginAdapter,
		Exit:      2,
		HTTP:      502,
		GRPC:      "INTERNAL",
		Retry:     RetryTransient,
		Retryable: true,
		Backoff:   &Backoff{FirstMS: 1000, Factor: 2, CeilingMS: 10000, Attempts: 2},
		Severity:  SeverityError,
		Public:    true,
		Retired:   false,
		Reserved:  false,
	},
	CodeContextOverflow: {
		Kind:      KindLlmError,
		Canonical: CanonicalECoreInvalidInput,
		Domain:    "LLM.CONTEXT_OVERFLOW",
		Origin:    OriginAdapter,
		Exit:      2,
		HTTP:      413,
		GRPC:      "OUT_OF_RANGE",
		Retry:     RetryPermanent,
		Retryable: false,
		Severity:  SeverityError,
		Public:    true,
		Retired:   false,
		Reserved:  false,
	},
	CodeEmbeddingUnavailable: {
		Kind:      KindProvider,
		Canonical: CanonicalEAdapterValidation,
		Domain:    "EMBEDDING.UNAVAILABLE",
		Origin:    OriginAdapter,
		Exit:      2,
		HTTP:      503,
		GRPC:      "UNAVAILABLE",
		Retry:     RetryTransient,
		Retryable: true,
		Backoff:   &Backoff{FirstMS: 30000, Factor: 2, CeilingMS: 600000, Attempts: 3},
		Severity:  SeverityError,
		Public:    true,
		Retired:   false,
		Reserved:  false,
	},
	CodeEmbeddingMismatch: {
		Kind:      KindConflict,
		Canonical: CanonicalECoreStateViolation,
		Domain:    "EMBEDDING.MISMATCH",
		Origin:    OriginCore,
		Exit:      2,
		HTTP:      409,
		GRPC:      "FAILED_PRECONDITION",
		Retry:     RetryPermanent,
		Retryable: false,
		Severity:  SeverityError,
		Public:    true,
		Retired:   false,
		Reserved:  false,
	},
	CodeTimeout: {
		Kind:      KindTimeout,
		Canonical: CanonicalEAdapterValidation,
		Domain:    "CORE.TIMEOUT",
		Origin:    OriginAdapter,
		Exit:      2,
		HTTP:      504,
		GRPC:      "DEADLINE_EXCEEDED",
		Retry:     RetryTransient,
		Retryable: true,
		Backoff:   &Backoff{FirstMS: 1000, Factor: 2, CeilingMS: 10000, Attempts: 2},
		Severity:  SeverityError,
		Public:    true,
		Retired:   false,
		Reserved:  false,
	},
	CodeIoError: {
		Kind:      KindStorage,
		Canonical: CanonicalEAdapterValidation,
		Domain:    "STORAGE.IO",
		Origin:    OriginAdapter,
		Exit:      2,
		HTTP:      500,
		GRPC:      "INTERNAL",
		Retry:     RetryTransient,
		Retryable: true,
		Backoff:   &Backoff{FirstMS: 1000, Factor: 2, CeilingMS: 10000, Attempts: 4},
		Severity:  SeverityError,
		Public:    true,
		Retired:   false,
		Reserved:  false,
	},
	CodeLocked: {
		Kind:      KindConflict,
		Canonical: CanonicalECoreStateViolation,
		Domain:    "STORAGE.LOCKED",
		Origin:    OriginAdapter,
		Exit:      2,
		HTTP:      409,
		GRPC:      "ABORTED",
		Retry:     RetryTransient,
		Retryable: true,
		Backoff:   &Backoff{FirstMS: 1000, Factor: 2, CeilingMS: 60000, Attempts: 8},
		Severity:  SeverityWarn,
		Public:    true,
		Retired:   false,
		Reserved:  false,
	},
	CodeClientConfigInvalid: {
		Kind:      KindSerialization,
		Canonical: CanonicalEAdapterValidation,
		Domain:    "CONFIG.CLIENT_INVALID",
		Origin:    OriginSurface,
		Exit:      2,
		HTTP:      422,
		GRPC:      "FAILED_PRECONDITION",
		Retry:     RetryPermanent,
		Retryable: false,
		Severity:  SeverityError,
		Public:    true,
		Retired:   false,
		Reserved:  false,
	},
	CodeReadOnly: {
		Kind:      KindPolicyDeny,
		Canonical: CanonicalECoreStateViolation,
		Domain:    "POLICY.READ_ONLY",
		Origin:    OriginCore,
		Exit:      2,
		HTTP:      403,
		GRPC:      "PERMISSION_DENIED",
		Retry:     RetryPermanent,
		Retryable: false,
		Severity:  SeverityError,
		Public:    true,
		Retired:   false,
		Reserved:  false,
	},
	CodeStoreCorrupt: {
		Kind:      KindStorage,
		Canonical: CanonicalECoreInvariantBroken,
		Domain:    "STORAGE.CORRUPT",
		Origin:    OriginAdapter,
		Exit:      3,
		HTTP:      500,
		GRPC:      "DATA_LOSS",
		Retry:     RetryPermanent,
		Retryable: false,
		Severity:  SeverityCritical,
		Public:    true,
		Retired:   false,
		Reserved:  false,
	},
	CodeUnsupportedMedia: {
		Kind:      KindSchema,
		Canonical: CanonicalECoreInvalidInput,
		Domain:    "INGEST.UNSUPPORTED_MEDIA",
		Origin:    OriginCore,
		Exit:      2,
		HTTP:      415,
		GRPC:      "INVALID_ARGUMENT",
		Retry:     RetryPermanent,
		Retryable: false,
		Severity:  SeverityError,
		Public:    true,
		Retired:   false,
		Reserved:  false,
	},
	CodeSecretFile: {
		Kind:      KindPolicyDeny,
		Canonical: CanonicalECoreInvalidInput,
		Domain:    "INGEST.SECRET_FILE",
		Origin:    OriginCore,
		Exit:      2,
		HTTP:      403,
		GRPC:      "PERMISSION_DENIED",
		Retry:     RetryPermanent,
		Retryable: false,
		Severity:  SeverityError,
		Public:    true,
		Retired:   false,
		Reserved:  false,
	},
	CodeParseFailed: {
		Kind:      KindSerialization,
		Canonical: CanonicalEAdapterValidation,
		Domain:    "INGEST.PARSE_FAILED",
		Origin:    OriginAdapter,
		Exit:      2,
		HTTP:      422,
		GRPC:      "INVALID_ARGUMENT",
		Retry:     RetryPermanent,
		Retryable: false,
		Severity:  SeverityError,
		Public:    true,
		Retired:   false,
		Reserved:  false,
	},
	CodeTooLarge: {
		Kind:      KindQuota,
		Canonical: CanonicalECoreInvalidInput,
		Domain:    "LIMIT.TOO_LARGE",
		Origin:    OriginCore,
		Exit:      2,
		HTTP:      413,
		GRPC:      "RESOURCE_EXHAUSTED",
		Retry:     RetryPermanent,
		Retryable: false,
		Severity:  SeverityError,
		Public:    true,
		Retired:   false,
		Reserved:  false,
	},
	CodeUnauthorized: {
		Kind:      KindAuth,
		Canonical: CanonicalECoreInvalidInput,
		Domain:    "AUTH.UNAUTHORIZED",
		Origin:    OriginSurface,
		Exit:      2,
		HTTP:      401,
		GRPC:      "UNAUTHENTICATED",
		Retry:     RetryPermanent,
		Retryable: false,
		Severity:  SeverityError,
		Public:    true,
		Retired:   false,
		Reserved:  false,
	},
	CodeServerBusy: {
		Kind:      KindRateLimit,
		Canonical: CanonicalECoreStateViolation,
		Domain:    "SERVER.BUSY",
		Origin:    OriginSurface,
		Exit:      2,
		HTTP:      503,
		GRPC:      "RESOURCE_EXHAUSTED",
		Retry:     RetryTransient,
		Retryable: true,
		Backoff:   &Backoff{FirstMS: 1000, Factor: 2, CeilingMS: 30000, Attempts: 6},
		Severity:  SeverityWarn,
		Public:    true,
		Retired:   false,
		Reserved:  false,
	},
	CodeDependencyMissing: {
		Kind:      KindPrecondition,
		Canonical: CanonicalECoreStateViolation,
		Domain:    "RUNTIME.DEPENDENCY_MISSING",
		Origin:    OriginAdapter,
		Exit:      2,
		HTTP:      501,
		GRPC:      "UNIMPLEMENTED",
		Retry:     RetryPermanent,
		Retryable: false,
		Severity:  SeverityError,
		Public:    true,
		Retired:   false,
		Reserved:  false,
	},
	CodeClusterUnreachable: {
		Kind:      KindNetwork,
		Canonical: CanonicalEAdapterValidation,
		Domain:    "CLUSTER.UNREACHABLE",
		Origin:    OriginAdapter,
		Exit:      2,
		HTTP:      503,
		GRPC:      "UNAVAILABLE",
		Retry:     RetryTransient,
		Retryable: true,
		Backoff:   &Backoff{FirstMS: 5000, Factor: 2, CeilingMS: 60000, Attempts: 4},
		Severity:  SeverityError,
		Public:    true,
		Retired:   false,
		Reserved:  false,
	},
	CodeConfirmationRequired: {
		Kind:      KindPrecondition,
		Canonical: CanonicalECoreStateViolation,
		Domain:    "POLICY.CONFIRMATION_REQUIRED",
		Origin:    OriginCore,
		Exit:      2,
		HTTP:      428,
		GRPC:      "FAILED_PRECONDITION",
		Retry:     RetryPermanent,
		Retryable: false,
		Severity:  SeverityWarn,
		Public:    true,
		Retired:   false,
		Reserved:  false,
	},
	CodeOutOfMemory: {
		Kind:      KindQuota,
		Canonical: CanonicalEAdapterValidation,
		Domain:    "RUNTIME.OUT_OF_MEMORY",
		Origin:    OriginAdapter,
		Exit:      2,
		HTTP:      507,
		GRPC:      "RESOURCE_EXHAUSTED",
		Retry:     RetryTransient,
		Retryable: true,
		Backoff:   &Backoff{FirstMS: 30000, Factor: 2, CeilingMS: 300000, Attempts: 2},
		Severity:  SeverityError,
		Public:    true,
		Retired:   false,
		Reserved:  false,
	},
	CodeCancelled: {
		Kind:      KindUnknown,
		Canonical: CanonicalECoreStateViolation,
		Domain:    "CORE.CANCELLED",
		Origin:    OriginCore,
		Exit:      130,
		HTTP:      499,
		GRPC:      "CANCELLED",
		Retry:     RetryTransient,
		Retryable: true,
		Backoff:   &Backoff{FirstMS: 0, Factor: 1, CeilingMS: 0, Attempts: 1},
		Severity:  SeverityInfo,
		Public:    true,
		Retired:   false,
		Reserved:  false,
	},
	CodeGeneric: {
		Kind:      KindUnknown,
		Canonical: CanonicalEInternalError,
		Domain:    "UNKNOWN.INTERNAL",
		Origin:    OriginSurface,
		Exit:      2,
		HTTP:      500,
		GRPC:      "INTERNAL",
		Retry:     RetryNone,
		Retryable: false,
		Severity:  SeverityCritical,
		Public:    false,
		Retired:   false,
		Reserved:  false,
	},
}

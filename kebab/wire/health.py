"""Health: what doctor found, what init wrote, and what reset deleted."""

from typing import Literal

from msgspec import Struct

from kebab.wire.record import Reply

CheckStatus = Literal["ok", "warn", "fail", "skip"]


class DoctorCheck(Struct, frozen=True, kw_only=True):
    """One thing that was looked at."""

    name: str
    """What."""
    status: CheckStatus
    """How it is: only `fail` is unhealthy."""
    summary: str
    """One sentence for a person."""
    fix: str | None
    """The command that mends it."""
    duration_ms: float
    """How long looking took."""


class Doctor(Reply, frozen=True, kw_only=True, tag="doctor.v1"):
    """The health of the knowledge base and of what it needs."""

    ok: bool
    """Whether nothing failed."""
    kebab_version: str
    """This build."""
    checks: list[DoctorCheck]
    """Everything that was looked at."""


class InitReport(Reply, frozen=True, kw_only=True, tag="init_report.v1"):
    """What `init` made."""

    config_path: str
    """The settings file."""
    written: bool
    """Whether it was written now; false when it was there already."""
    data_dir: str
    """Where the knowledge base lies."""
    workspace: str | None
    """The folder that a bare `kebab ingest` reads."""


class ResetReport(Reply, frozen=True, kw_only=True, tag="reset_report.v1"):
    """What `reset` deleted: only what kebab made."""

    data_dir: str
    """Where the knowledge base lies."""
    removed: list[str]
    """Deleted files and folders."""
    kept: list[str]
    """What lies in the data directory and is not ours."""
    bytes_freed: int
    """How much space came back."""
    models_removed: bool
    """Whether model weights were deleted too."""

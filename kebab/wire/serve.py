"""Declares the status of the warm process, and the start of the HTTP server."""

from msgspec import Struct, field

from kebab.wire.record import Reply


class WarmWorker(Struct, frozen=True, kw_only=True):
    """A process that runs calls."""

    pid: int
    """Its process id."""
    busy: bool
    """Whether it runs a call now."""
    calls: int
    """The number of calls that it took."""
    memory_bytes: int
    """Its memory with its share of shared pages, on Linux; else its resident memory. 0 when
    unknown."""


class WarmWatcher(Struct, frozen=True, kw_only=True):
    """A process that keeps the index of one knowledge base current (`watch.auto`)."""

    data_dir: str
    """The folder of the knowledge base."""
    pid: int | None
    """Its process id; null while it does not run."""
    memory_bytes: int
    """Its memory, counted as that of a worker; 0 when unknown."""
    error: str | None
    """The code of the error that ended it; null when it runs, or was asked to end."""


class ServeStatus(Reply, frozen=True, kw_only=True, tag="serve_status.v1"):
    """The warm process, which runs calls of the command line for this user and installation."""

    running: bool
    """Whether it runs."""
    socket: str | None
    """The path of its socket; null where the system lacks the means, so that every call runs
    cold."""
    pid: int | None = None
    """The id of the process that owns the socket; null when it does not run."""
    version: str | None = None
    """The version of kebab that it runs."""
    uptime_s: float | None = None
    """The seconds since it started."""
    idle_s: float | None = None
    """The seconds since it was last busy."""
    calls: int | None = None
    """The number of calls that its workers took."""
    memory_bytes: int | None = None
    """The memory of the owner of the socket, counted as that of a worker; 0 when unknown."""
    workers: list[WarmWorker] = field(default_factory=list)
    """The processes that run calls."""
    watchers: list[WarmWatcher] = field(default_factory=list)
    """The processes that keep indexes current."""


class HttpServerStarted(Reply, frozen=True, kw_only=True, tag="http_server_started.v1"):
    """The HTTP server accepts requests from now on; `kebab serve --http` writes it to stderr."""

    url: str
    """Its address."""
    token_path: str
    """The file of the token that requests must have."""
    pid: int
    """Its process id."""
    allow_write: bool
    """Whether operations may write and delete."""

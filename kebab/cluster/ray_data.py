"""Runs work on the nodes of a Ray cluster, as tasks of Ray.

Ray has a process of its own here, a worker of `kebab.limits.worker`: it writes to the channels of
its process, handles its signals, and ends it when the cluster goes away. Ray gives each batch to a
process of a node, which keeps the handler for the next one, and gives it to another one when a
process or a node ends. Everything that crosses a machine is pickled, so the caller trusts the
cluster, and the cluster the caller.
"""

import os
import pickle
import re
import socket
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache, partial
from itertools import chain, repeat
from pathlib import Path
from typing import Any, NamedTuple

import kebab
from kebab.config.settings import Settings, resolve_paths
from kebab.errors.catalog import ClusterUnreachable
from kebab.errors.signal import Signal
from kebab.errors.system import translate_import_errors
from kebab.limits.worker import WorkerProcess

LOCAL = "local"
"""The address of a cluster that this run starts and ends."""

_PROBE_S = 5.0
_START_S = 90.0
"""The longest time until Ray is connected; it waits for several minutes itself."""

_POLL_S = 0.2

_MOST_WAITING = 128
"""How many batches the cluster has at once; the next one is sent when the first is done."""

_ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",  # a cluster started here reports to nobody
    "RAY_worker_niceness": "0",  # and its processes get the share of time that worker processes get
}


class Work(NamedTuple):
    """What makes the handler of batches, for the kebab of which version."""

    address: str
    version: str
    made: bytes
    folder: str | None


class RayCluster:
    """Implements `kebab.core.ports.Cluster`; it connects on first use."""

    def __init__(self, address: str, announce: Callable[[str], None]) -> None:
        self._address = address
        self._announce = announce
        self._worker: WorkerProcess | None = None

    def map_batches(
        self,
        make_handler: Callable[[str | None], Callable[[Any], Any]],
        batches: Iterable[Any],
        should_stop: Callable[[], bool],
        *,
        folder: str | None = None,
    ) -> Generator[Any, None, None]:
        """Yield the result of each batch in their order, None for a lost one.

        Raises:
            ClusterUnreachable: There is no cluster at the address, or it went away.
            DependencyMissing: Ray is not installed.
            Signal: A handler raised it.
        """
        if self._worker is None:
            self._probe()
            self._worker = WorkerProcess(RayDriver(self._address), 0)
        ask = partial(self._ask, self._worker, should_stop)
        work = Work(self._address, kebab.__version__, pickle.dumps(make_handler), folder)
        if size := ask("start", work, limit=_START_S):
            self._announce(f"the Ray cluster at {self._address} works for this run: {size}")
        for batch in chain(map(pickle.dumps, batches), repeat(None)):
            found = () if should_stop() else ask("exchange", batch)
            for data in found:
                result = data and pickle.loads(data)  # noqa: S301 - the cluster is trusted
                if isinstance(result, Signal):
                    raise result
                yield result
            if not found and (batch is None or should_stop()):
                return

    def close(self) -> None:
        """End the process, and with it its tasks and a cluster that was started here."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.close()

    def _probe(self) -> None:
        """Connect to the port, because Ray itself waits for minutes where nobody listens."""
        host, _, port = self._address.rpartition(":")
        if not host or "/" in host or not port.isdigit():
            return
        try:
            socket.create_connection((host.strip("[]"), int(port)), _PROBE_S).close()
        except (OSError, OverflowError) as fault:
            cause = getattr(fault, "strerror", None) or str(fault)
            raise ClusterUnreachable(address=self._address, cause=cause) from fault

    def _ask(
        self, worker: WorkerProcess, should_stop: Callable[[], bool], *task: Any, limit: float = 0.0
    ) -> Any:
        """Return the answer of the process to a task; nothing when the caller stops."""
        worker.restart_clock()
        worker.send(task)
        while not should_stop():
            if worker.poll(_POLL_S):
                was_ready = worker.is_ready
                reply = worker.receive()
                if reply is None or reply.fault:
                    cause = reply.fault if reply else "the connection to the cluster is lost"
                    raise self._give_up(cause, "failed")
                if isinstance(reply.result, Signal):
                    raise reply.result
                if was_ready:
                    return reply.result
            elif limit and worker.read_elapsed().clock > limit:
                raise self._give_up(f"no connection within {limit:g} seconds")
        self.close()
        return ()

    def _give_up(self, cause: str, reason: str | None = None) -> ClusterUnreachable:
        self.close()
        return ClusterUnreachable(address=self._address, cause=cause, reason=reason)


_DIFFERS = re.compile(r"No module named|ersion mismatch")
_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])")


@contextmanager
def translate_ray_errors(address: str, *, connects: bool = False) -> Iterator[None]:
    """Turn the exceptions of Ray into `ClusterUnreachable`.

    The class of an exception says what happened, such as `OutOfMemoryError`. The general ones say
    it in the first line of their text, and those of a task in the last one.
    """
    from ray.exceptions import RayError, RayTaskError

    try:
        yield
    except (RayError, ConnectionError, RuntimeError, ValueError) as fault:
        lines = [line.strip() for line in str(fault).splitlines() if line.strip()] or [""]
        different = [line for line in lines if _DIFFERS.search(line)]
        is_remote, name = isinstance(fault, RayTaskError), type(fault).__name__
        cause = (different or lines)[-1 if is_remote else 0]
        if not is_remote and isinstance(fault, RayError) and name != "RayError":
            words = _WORDS.sub(" ", name.removesuffix("Error")).lower()
            cause = f"{words}: {cause}" if cause else words
        reason = "version" if different else None if connects else "failed"
        raise ClusterUnreachable(address=address, cause=cause or name, reason=reason) from fault


class RayDriver:
    """Answers the tasks of `RayCluster` in the process of Ray; it is pickled before the first."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._run: Callable[[bytes], Any]
        self._waiting: deque[Any] = deque()

    def __call__(self, task: tuple[Any, ...]) -> Any:
        """Run the method of a task; a signal is its answer."""
        name, *arguments = task
        try:
            with translate_import_errors("ingest on a Ray cluster", "kebab", "ray"):
                import ray
            is_new = not ray.is_initialized()
            with translate_ray_errors(self._address, connects=is_new):
                return getattr(self, name)(*arguments)
        except Signal as signal:
            return signal

    def start(self, work: Work) -> str:
        """Let the batches that follow be handled by what `work` makes, once in each process.

        Join the cluster before, and return its numbers of machines, cores and GPUs; later nothing.
        """
        import ray

        size = ""
        if not ray.is_initialized():
            os.environ.update(_ENVIRONMENT)
            options = {"include_dashboard": False} if self._address == LOCAL else {}
            ray.init(self._address, log_to_driver=False, **options)
            nodes = sum(node["Alive"] for node in ray.nodes())
            found = ray.cluster_resources()
            if not found.get("CPU"):
                raise ClusterUnreachable(address=self._address, cause="its nodes have no cores")
            size = f"nodes: {nodes}, cores: {found['CPU']:.0f}, GPUs: {found.get('GPU', 0):.0f}"
        shared = ray.put(work)
        task = ray.remote(run_batch)  # on one core, and three times again when its process dies
        self._run = lambda batch: task.remote(shared, batch)
        self._waiting.clear()
        return size

    def exchange(self, batch: bytes | None) -> list[bytes | None]:
        """Send a batch; return the next result when many wait, or without a batch.

        The result is None if its batch is lost.

        Raises:
            RayError: A node cannot run the batch at all.
        """
        import ray
        from ray.exceptions import RayError, RayTaskError

        if batch is not None:
            self._waiting.append(self._run(batch))
        if len(self._waiting) < (1 if batch is None else _MOST_WAITING):
            return []
        try:
            return [ray.get(self._waiting.popleft())]
        except RayTaskError:
            raise  # `run_batch` raises nothing
        except RayError:
            return [None]


def run_batch(work: Work, batch: bytes) -> bytes | None:
    """Return the pickled result of a batch in a process of a node; None of one that fails.

    A signal is a result. The handler stays for the next batch.
    """
    with suppress(Exception):
        try:
            result = _make_handler(work)(pickle.loads(batch))  # noqa: S301 - from our own driver
        except Signal as signal:
            result = signal
        return pickle.dumps(result)
    return None


@lru_cache(maxsize=1)
def _make_handler(work: Work) -> Callable[[Any], Any]:
    """Return the handler of this process; it stays until other work comes.

    Raises:
        ClusterUnreachable: This node has another version of kebab, or lacks the model.
    """
    if kebab.__version__ != work.version:
        cause = f"{socket.gethostname()} has kebab {kebab.__version__}, not {work.version}"
        raise ClusterUnreachable(address=work.address, cause=cause, reason="version")
    folder = work.folder
    if folder is not None:  # of a model: it is at the same path, or beside the other models here
        name = Path(folder).name
        here = [Path(folder), resolve_paths(Settings()).models / name]
        folder = next((str(path) for path in here if path.is_dir()), None)
        if folder is None:
            cause = f"{socket.gethostname()} lacks the model: run `kebab model pull` there"
            raise ClusterUnreachable(address=work.address, cause=cause, reason="failed")
    handler: Callable[[Any], Any] = pickle.loads(work.made)(folder)  # noqa: S301 - from our own driver
    return handler

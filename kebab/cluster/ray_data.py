"""Runs work on the nodes of a Ray cluster, as tasks of Ray.

Ray has a process of its own here, a worker of `kebab.limits.worker`: it writes to the channels of
its process, handles its signals, and ends it when the cluster goes away. Ray gives each batch to a
process of a node, which keeps the handler for the next one, and gives it to another one when a
process or a node ends. Everything that crosses a machine is pickled, so the caller trusts the
cluster, and the cluster the caller.
"""

import contextlib
import os
import pickle
import re
import socket
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
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

_HOST_AND_PORT = re.compile(r"(?P<host>[A-Za-z0-9._-]+|\[[0-9A-Fa-f:]+\]):(?P<port>[0-9]{1,5})")
_FEATURE, _EXTRA = "ingest on a Ray cluster", "ray"

_PROBE_S = 5.0
_CONNECT_S = 90.0
"""The longest time until Ray is connected; it waits for several minutes itself."""

_POLL_S = 0.2
_CLOSE_S = 10.0
"""The longest time to leave the cluster; afterwards the process is killed."""

_TASK_RETRIES = 3
"""How often a batch is tried again after its process died, before it is lost."""

_ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",  # a cluster started here reports to nobody
    "RAY_worker_niceness": "0",  # and its processes get the share of time that worker processes get
}


class _Failure(NamedTuple):
    """What the process of Ray, or a node, answers instead of a result."""

    signal: Signal


class _Work(NamedTuple):
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

    def _connect(self, should_stop: Callable[[], bool]) -> None:
        """Join the cluster, unless that is done."""
        if self._worker is not None:
            return
        self._probe()
        self._worker = WorkerProcess(RayDriver(self._address), 0)
        size = self._ask("connect", should_stop=should_stop, limit=_CONNECT_S)
        if size is not None:
            self._announce(f"the Ray cluster at {self._address} works for this run: {size}")

    def map_batches(
        self,
        make_handler: Callable[[str | None], Callable[[Any], Any]],
        batches: Iterable[Any],
        should_stop: Callable[[], bool],
        *,
        folder: str | None = None,
    ) -> Generator[tuple[int, Any], None, None]:
        """Yield the number and the result of each batch in their order.

        Raises:
            ClusterUnreachable: There is no cluster at the address, or it went away.
            DependencyMissing: Ray is not installed.
            Signal: A handler raised it.
        """
        self._connect(should_stop)
        is_done = False
        try:
            made = pickle.dumps(make_handler)
            self._ask("start", made, folder, should_stop=should_stop)
            for batch in batches:
                self._ask("add", pickle.dumps(batch), should_stop=should_stop)
            while (found := self._ask("receive", should_stop=should_stop)) is not None:
                number, data = found
                if data is None:  # a lost batch costs itself; the caller does its work
                    continue
                result = pickle.loads(data)  # noqa: S301 - the cluster is trusted
                if isinstance(result, _Failure):
                    raise result.signal
                yield number, result
            is_done = True
        finally:
            if not is_done:  # the tasks of this work end with the process
                self._abandon()

    def close(self) -> None:
        """Leave the cluster; one that was started here ends."""
        worker, self._worker = self._worker, None
        if worker is not None:
            if worker.is_idle and worker.send(("close",)):
                worker.poll(_CLOSE_S)
            worker.close()

    def _probe(self) -> None:
        """Connect to the port, because Ray itself waits for minutes where nobody listens."""
        if not (found := _HOST_AND_PORT.fullmatch(self._address)):
            return
        target = (found["host"].strip("[]"), min(int(found["port"]), 65_535))
        try:
            socket.create_connection(target, _PROBE_S).close()
        except OSError as fault:
            cause = fault.strerror or str(fault)
            raise ClusterUnreachable(address=self._address, cause=cause) from fault

    def _ask(self, *task: Any, should_stop: Callable[[], bool], limit: float = 0.0) -> Any:
        """Return the answer of the process to a task; None when the caller stops."""
        if (worker := self._worker) is None:
            return None
        worker.restart_clock()
        worker.send(task)
        while True:
            if worker.poll(_POLL_S):
                was_ready = worker.is_ready
                reply = worker.receive()
                if reply is None or reply.fault:
                    cause = reply.fault if reply else "the connection to the cluster is lost"
                    raise self._give_up(cause, "failed")
                if was_ready:
                    if isinstance(reply.result, _Failure):
                        raise reply.result.signal
                    return reply.result
            if should_stop():
                self._abandon()
                return None
            if limit and worker.read_elapsed().clock > limit:
                raise self._give_up(f"no connection within {limit:g} seconds")

    def _give_up(self, cause: str, reason: str | None = None) -> ClusterUnreachable:
        self._abandon()
        return ClusterUnreachable(address=self._address, cause=cause, reason=reason)

    def _abandon(self) -> None:
        """End the process at once; the cluster ends its tasks."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.close()


CAUSES = {
    "AuthenticationError": "the cluster refuses the token of `RAY_AUTH_TOKEN`",
    "GetTimeoutError": "the cluster does not answer in time",
    "LocalRayletDiedError": "the part of Ray on this machine has ended",
    "NodeDiedError": "a node has ended",
    "ObjectFetchTimedOutError": "a node does not send its data",
    "ObjectLostError": "data of a node that has ended is lost",
    "ObjectReconstructionFailedError": "data of a node that has ended is lost",
    "ObjectStoreFullError": "the object store is full",
    "OutOfDiskError": "a disk of the cluster is full",
    "OutOfMemoryError": "a node has too little memory",
    "OwnerDiedError": "data of a process that has ended is lost",
    "RaySystemError": "Ray failed",
    "RayTaskError": "a process of a node failed",
    "RpcError": "the connection to the cluster is lost",
    "RuntimeEnvSetupError": "a node cannot set up the environment of the job",
    "TaskUnschedulableError": "no node has room for the work",
    "WorkerCrashedError": "a process of a node has crashed",
}
"""The plain message for each exception of Ray, by its name; others have that of `RayError`."""

_MISSING = re.compile(r"No module named '([\w.]+)'")


@contextlib.contextmanager
def translate_ray_errors(address: str, *, connects: bool = False) -> Iterator[None]:
    """Turn the exceptions of Ray into `ClusterUnreachable`."""
    from ray.exceptions import RayError

    try:
        yield
    except (RayError, ConnectionError, RuntimeError, ValueError) as fault:
        missing = _MISSING.search(str(fault))
        names = [kind.__name__ for kind in type(fault).__mro__]
        cause = next((CAUSES[name] for name in names if name in CAUSES), "")
        reason = None if connects else "failed"
        if missing:
            cause, reason = f"a node lacks the library {missing[1]}", "version"
        elif not cause or "RayTaskError" in names:
            lines = [line.strip() for line in str(fault).splitlines() if line.strip()]
            cause = lines[-1 if "RayTaskError" in names else 0] if lines else type(fault).__name__
            reason = "version" if "ersion mismatch" in str(fault) else reason
        raise ClusterUnreachable(address=address, cause=cause, reason=reason) from fault


class RayDriver:
    """Answers the tasks of `RayCluster` in the process of Ray; it is pickled before the first."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._run: Callable[[bytes], Any]
        self._started = 0
        self._waiting: deque[Any] = deque()

    def __call__(self, task: tuple[Any, ...]) -> Any:
        """Run the method of a task; a signal is its answer."""
        name, *arguments = task
        try:
            with translate_import_errors(_FEATURE, "kebab", _EXTRA):
                import ray  # noqa: F401 - needed by every task
            with translate_ray_errors(self._address, connects=name == "connect"):
                return getattr(self, name)(*arguments)
        except Signal as signal:
            return _Failure(signal)

    def connect(self) -> str:
        """Join the cluster, and return its numbers of machines, cores and GPUs."""
        import ray

        os.environ.update(_ENVIRONMENT)
        options = {"include_dashboard": False} if self._address == LOCAL else {}
        ray.init(self._address, log_to_driver=False, **options)
        nodes = sum(node["Alive"] for node in ray.nodes())
        found = ray.cluster_resources()
        if not found.get("CPU"):
            raise ClusterUnreachable(address=self._address, cause="its nodes have no cores")
        return f"nodes: {nodes}, cores: {found['CPU']:.0f}, GPUs: {found.get('GPU', 0):.0f}"

    def start(self, made: bytes, folder: str | None) -> None:
        """Let the batches that follow be handled by what `made` makes, once in each process."""
        import ray

        shared = ray.put(_Work(self._address, kebab.__version__, made, folder))
        task = ray.remote(num_cpus=1, max_retries=_TASK_RETRIES)(run_batch)
        self._run = lambda batch: task.remote(shared, batch)
        self._started = 0
        self._waiting.clear()

    def add(self, batch: bytes) -> None:
        """Send a batch to the cluster."""
        self._waiting.append(self._run(batch))
        self._started += 1

    def receive(self) -> tuple[int, bytes | None] | None:
        """Return the number and the result of the next batch, none if it is lost; None at the end.

        Raises:
            RayError: A node cannot run the batch at all.
        """
        import ray
        from ray.exceptions import RayError, RayTaskError

        if not self._waiting:
            return None
        number = self._started - len(self._waiting)
        try:
            return number, ray.get(self._waiting.popleft())
        except RayTaskError:
            raise  # `run_batch` raises nothing
        except RayError:
            return number, None

    def close(self) -> None:
        """Leave the cluster."""
        import ray

        ray.shutdown()


def run_batch(work: _Work, batch: bytes) -> bytes | None:
    """Return the pickled result of a batch in a process of a node; None of one that fails.

    A signal is a result. The handler stays for the next batch.
    """
    with contextlib.suppress(Exception):
        try:
            result = _obtain_handler(work)(pickle.loads(batch))  # noqa: S301 - from our own driver
        except Signal as signal:
            result = _Failure(signal)
        return pickle.dumps(result)
    return None


_handlers: dict[tuple[bytes, str | None], Callable[[Any], Any]] = {}
"""The last handler of this process, by what makes it and the folder of its model."""


def _obtain_handler(work: _Work) -> Callable[[Any], Any]:
    key = (work.made, work.folder)
    if key not in _handlers:
        if kebab.__version__ != work.version:
            cause = f"{socket.gethostname()} has kebab {kebab.__version__}, not {work.version}"
            raise ClusterUnreachable(address=work.address, cause=cause, reason="version")
        _handlers.clear()
        made = pickle.loads(work.made)  # noqa: S301 - from our own driver
        _handlers[key] = made(find_folder(work))
    return _handlers[key]


def find_folder(work: _Work) -> str | None:
    """Return the folder of a model on this node: at the same path, or beside its other models.

    Raises:
        ClusterUnreachable: The node does not have the model.
    """
    if work.folder is None:
        return None
    path = Path(work.folder)
    for here in (path, resolve_paths(Settings()).models / path.name):
        if here.is_dir():
            return str(here)
    cause = f"{socket.gethostname()} lacks the model: run `kebab model pull` there"
    raise ClusterUnreachable(address=work.address, cause=cause, reason="failed")

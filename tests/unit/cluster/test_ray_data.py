import pickle
import socket
import sys
from pathlib import Path

import pytest

from kebab import __version__
from kebab.cluster import ray_data
from kebab.cluster.ray_data import CAUSES, NodeActor, RayCluster, translate_ray_errors
from kebab.errors.catalog import ClusterUnreachable, DependencyMissing, ParseFailed

pytest.importorskip("ray", reason="needs Ray: pip install 'kebab[ray]'")

IN_GENERAL = {
    # Kinds of failures whose own words say what happened.
    "RayError",
    "RayActorError",
    "CrossLanguageError",
    "TaskCancelledError",
    "UserCodeException",
    "PlasmaObjectNotAvailable",
    "AsyncioActorExit",
    "TaskPlacementGroupRemoved",
    "ActorPlacementGroupRemoved",
    "PendingCallsLimitExceeded",
    "ObjectRefStreamEndOfStreamError",
    "OufOfBandObjectRefSerializationException",
    "UnserializableException",
    "ActorAlreadyExistsError",
    "ActorHandleNotFoundError",
}


@pytest.fixture(scope="module")
def exceptions():
    from ray import exceptions

    found = [one for one in vars(exceptions).values() if isinstance(one, type)]
    return {one.__name__: one for one in found if issubclass(one, exceptions.RayError)}


def test_every_exception_of_ray_has_a_cause_or_is_a_kind_of_failure(exceptions):
    known = CAUSES.keys() | IN_GENERAL
    unknown = [
        name
        for name, kind in exceptions.items()
        if not known & {one.__name__ for one in kind.__mro__} - {"RayError"} and name != "RayError"
    ]

    assert unknown == []
    assert CAUSES.keys() <= exceptions.keys()


@pytest.mark.parametrize(
    ("name", "reason", "cause"),
    [
        ("NodeDiedError", "failed", CAUSES["NodeDiedError"]),
        ("OutOfMemoryError", "failed", CAUSES["OutOfMemoryError"]),
        ("RayError: No module named 'kebab'", "version", "a node lacks the library kebab"),
        ("RayError: first line\nsecond", "failed", "first line"),
    ],
)
def test_an_exception_of_ray_becomes_an_error_with_its_cause(exceptions, name, reason, cause):
    kind, _, text = name.partition(": ")

    own = {"__init__": lambda _: None, "__str__": lambda _: text}
    fault = type("Fault", (exceptions[kind],), own)

    with pytest.raises(ClusterUnreachable) as caught, translate_ray_errors("a:1"):
        raise fault

    assert (caught.value.reason, caught.value.cause) == (reason, cause)


def test_versions_that_differ_are_told_as_such():
    fault = RuntimeError("Version mismatch: The cluster was started with:\n Ray: 2.1")

    with (
        pytest.raises(ClusterUnreachable) as caught,
        translate_ray_errors("a:1", connects=True),
    ):
        raise fault

    assert caught.value.reason == "version"


def test_a_port_where_nobody_listens_is_told_at_once():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    cluster = RayCluster(address, lambda _: None)

    with pytest.raises(ClusterUnreachable) as caught:
        list(cluster.map_batches(Handlers, ["a"], lambda: False))

    assert (caught.value.address, caught.value.reason) == (address, None)
    cluster.close()


class Handlers:
    """Makes a handler that says the folder, or fails as its batch says."""

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, batch):
        if batch == "signal":
            raise ParseFailed(path="a", parser="p", cause="c")
        if batch == "bug":
            raise KeyError(batch)
        return (self.folder, batch)


def run_actor(*batches, version=__version__, folder=None):
    import pyarrow as pa

    actor = NodeActor("a:1", version, pickle.dumps(Handlers), folder)
    data = [pickle.dumps(batch) for batch in batches]
    table = actor(pa.table({"number": range(len(batches)), "data": data}))
    results = [pickle.loads(one) for one in table["data"].to_pylist()]
    return dict(zip(table["number"].to_pylist(), results, strict=True))


def test_an_actor_returns_results_and_signals_and_leaves_out_bugs():
    found = run_actor("a", "bug", "signal", "b")

    assert found.keys() == {0, 2, 3}
    assert (found[0], found[3]) == ((None, "a"), (None, "b"))
    assert isinstance(found[2].signal, ParseFailed)


def test_a_node_with_another_version_of_kebab_is_refused():
    found = run_actor("a", version="0.0.1")

    assert found[0].signal.reason == "version"


@pytest.fixture
def model(tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "manifest.json").write_text("{}")
    (folder / "weights").write_bytes(b"1" * 200_000)
    return folder


def describe(folder):
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    return ray_data._Folder(str(folder), ray_data.stamp_folder(folder), files)


def test_a_node_that_has_the_folder_of_the_driver_uses_it(model):
    assert run_actor("a", folder=describe(model))[0] == (str(model), "a")


@pytest.mark.parametrize("change", ["gone", "manifest", "size"])
def test_a_node_without_these_files_gets_a_copy(model, monkeypatch, tmp_path, change):
    folder = describe(model)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("ray.get", lambda reference: reference)
    if change == "gone":
        model.rename(tmp_path / "elsewhere")
    elif change == "manifest":
        (model / "manifest.json").write_text("[]")
    else:
        (model / "weights").write_bytes(b"1")

    path = run_actor("a", folder=folder)[0][0]

    assert path != str(model)
    assert (tmp_path / "cache") in Path(path).parents
    assert Path(path, "weights").read_bytes() == b"1" * 200_000
    (Path(path) / "weights").write_bytes(b"")
    assert run_actor("a", folder=folder)[0][0] == path
    assert Path(path, "weights").stat().st_size == 200_000


def test_without_ray_its_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray.data", None)

    failure = ray_data.RayDriver("local")(("connect",))

    assert isinstance(failure.signal, DependencyMissing)
    assert "kebab[ray]" in failure.signal.install

import pickle
import socket
import sys

import pytest

from kebab import __version__
from kebab.cluster import ray_data
from kebab.cluster.ray_data import RayCluster, translate_ray_errors
from kebab.config.settings import Settings, resolve_paths
from kebab.errors.catalog import ClusterUnreachable, DependencyMissing, ParseFailed

pytest.importorskip("ray", reason="needs Ray: pip install 'kebab[ray]'")


@pytest.fixture(scope="module")
def exceptions():
    from ray import exceptions

    found = [one for one in vars(exceptions).values() if isinstance(one, type)]
    return {one.__name__: one for one in found if issubclass(one, exceptions.RayError)}


def translate(kind, text):
    own = {"__init__": lambda _: None, "__str__": lambda _: text}
    with pytest.raises(ClusterUnreachable) as caught, translate_ray_errors("a:1"):
        raise type(kind.__name__, (kind,), own)
    return caught.value.reason, caught.value.cause


def test_every_exception_of_ray_becomes_an_error_with_its_cause(exceptions):
    assert len(exceptions) > 30
    assert all(translate(kind, "line")[1].endswith("line") for kind in exceptions.values())
    assert all(translate(kind, "")[1] for kind in exceptions.values())


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("NodeDiedError", "", ("failed", "node died")),
        ("OutOfMemoryError", "at a\nb", ("failed", "out of memory: at a")),
        ("RayTaskError", "Traceback\nit is lost", ("failed", "it is lost")),
        ("RayError", "No module named 'kebab'", ("version", "No module named 'kebab'")),
        ("RayError", "first line\nsecond", ("failed", "first line")),
    ],
)
def test_an_exception_of_ray_is_told_in_words(exceptions, name, text, expected):
    assert translate(exceptions[name], text) == expected


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


def run(batch, version=__version__, folder=None):
    ray_data._make_handler.cache_clear()
    work = ray_data.Work("a:1", version, pickle.dumps(Handlers), folder)
    found = ray_data.run_batch(work, pickle.dumps(batch))
    return None if found is None else pickle.loads(found)


def test_a_node_returns_results_and_signals_and_leaves_out_bugs():
    assert run("a") == (None, "a")
    assert run("bug") is None
    assert isinstance(run("signal"), ParseFailed)


def test_a_node_with_another_version_of_kebab_is_refused():
    assert run("a", version="0.0.1").reason == "version"


def test_a_node_uses_its_own_copy_of_the_model(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    model, own = tmp_path / "model", resolve_paths(Settings()).models / "model"
    assert "lacks the model" in run("a", folder=str(model)).cause

    own.mkdir(parents=True)
    assert run("a", folder=str(model)) == (str(own), "a")

    model.mkdir()
    assert run("a", folder=str(model)) == (str(model), "a")


def test_without_ray_its_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)

    failure = ray_data.RayDriver("local")(("start", None))

    assert isinstance(failure, DependencyMissing)
    assert "kebab[ray]" in failure.install

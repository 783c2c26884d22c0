import os
import subprocess
import sys
from contextlib import nullcontext

import numpy as np
import pytest
from msgspec.structs import replace

from kebab.embed import install
from kebab.embed.onnx_embedder import InferenceSession, normalise
from kebab.embed.registry import MINILM
from kebab.errors.catalog import DependencyMissing, EmbeddingUnavailable, TimedOut
from tests.fakes import tiny_model

SEQUENCES = [[2, 5, 3], [2, 7, 8, 9, 3], [2, 3]]


def vectors(session, sequences):
    return session.wait_for_vectors(session.start_run(sequences))


@pytest.fixture
def directory(tmp_path):
    return tiny_model.install_model(MINILM, tmp_path)


def test_the_deadline_of_a_slow_run_is_a_timeout(directory):
    slow = [[2, *([5] * 500), 3]] * 400

    with pytest.raises(TimedOut) as caught:
        vectors(InferenceSession(directory, MINILM, 2, 30), slow)

    assert caught.value.operation == "embedding a batch"
    assert caught.value.deadline_ms == 30
    assert caught.value.elapsed_ms >= 30


@pytest.fixture
def opened(monkeypatch):
    """Let the runtime offer CUDA, and return the providers of each session that was opened."""
    import onnxruntime

    calls = []
    real = onnxruntime.InferenceSession
    offered = ["CUDAExecutionProvider", "CPUExecutionProvider"]
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: offered)

    def stand_in(path, options, providers):
        calls.append(providers)
        session = real(path, options, providers=["CPUExecutionProvider"])
        session.get_providers = lambda: providers
        return session

    monkeypatch.setattr(onnxruntime, "InferenceSession", stand_in)
    return calls


@pytest.mark.parametrize(
    ("setting", "measured", "provider"),
    [
        ("auto", "cpu", None),
        ("auto", "cuda", "CUDAExecutionProvider"),
        ("auto", "coreml", None),
        ("cpu", "cuda", None),
        ("cuda", "cpu", "CUDAExecutionProvider"),
    ],
)
def test_the_provider_is_the_measured_or_the_named_one(
    directory, opened, setting, measured, provider
):
    manifest = install.read_manifest(directory)
    assert manifest is not None
    install.write_manifest(directory, replace(manifest, provider=measured))

    InferenceSession(directory, MINILM, 1, 0, setting).load()

    assert opened == [[*filter(None, [provider]), "CPUExecutionProvider"]]


def test_a_named_provider_that_is_not_offered_is_a_signal(directory, opened):
    with pytest.raises(DependencyMissing) as caught:
        InferenceSession(directory, MINILM, 1, 0, "openvino").load()

    assert caught.value.install == "pip install onnxruntime-openvino"
    assert opened == []


@pytest.mark.parametrize("setting", ["auto", "cuda"])
def test_a_provider_whose_libraries_cannot_be_loaded_is_used_only_when_nobody_named_it(
    directory, opened, monkeypatch, setting
):
    import onnxruntime

    open_session = onnxruntime.InferenceSession

    def open_on_processor(*arguments, **options):
        session = open_session(*arguments, **options)
        session.get_providers = lambda: ["CPUExecutionProvider"]
        return session

    monkeypatch.setattr(onnxruntime, "InferenceSession", open_on_processor)
    manifest = install.read_manifest(directory)
    assert manifest is not None
    install.write_manifest(directory, replace(manifest, provider="cuda"))
    named = pytest.raises(DependencyMissing) if setting == "cuda" else nullcontext()

    with named:
        InferenceSession(directory, MINILM, 1, 0, setting).load()


def test_a_cut_model_is_a_signal(directory):
    path = directory / install.MODEL_FILE
    path.write_bytes(path.read_bytes()[:100])

    with pytest.raises(EmbeddingUnavailable, match="missing or incomplete"):
        InferenceSession(directory, MINILM, 1, 0).load()


def test_a_damaged_model_is_a_signal(directory):
    path = directory / install.MODEL_FILE
    path.write_bytes(b"\xff" * path.stat().st_size)

    with pytest.raises(EmbeddingUnavailable, match="the model file is damaged"):
        InferenceSession(directory, MINILM, 1, 0).load()


@pytest.mark.parametrize("value", [0.0, float("nan"), float("inf")])
def test_a_vector_without_direction_is_refused(value):
    with np.errstate(invalid="ignore"), pytest.raises(FloatingPointError, match="no direction"):
        normalise(np.full(3, value))


def test_a_model_that_gives_no_direction_is_a_signal(directory, monkeypatch):
    monkeypatch.setattr("kebab.embed.onnx_embedder.normalise", lambda _: normalise(np.zeros(3)))

    with pytest.raises(EmbeddingUnavailable, match="no direction"):
        vectors(InferenceSession(directory, MINILM, 1, 0), SEQUENCES)


def test_the_runtime_writes_no_telemetry(tmp_path):
    program = "import kebab.embed.onnx_embedder, onnxruntime"
    environment = {
        name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"
    }
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    subprocess.run([sys.executable, "-c", program], env=environment | home, check=True)

    assert list(tmp_path.rglob("*onnxruntime*")) == []


def test_an_error_while_preparing_is_raised_at_the_first_use_of_the_model(directory):
    path = directory / install.MODEL_FILE
    path.write_bytes(b"\xff" * path.stat().st_size)
    session = InferenceSession(directory, MINILM, 1, 0)
    session.prepare()

    with pytest.raises(EmbeddingUnavailable, match="the model file is damaged"):
        vectors(session, SEQUENCES)

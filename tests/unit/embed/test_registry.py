import re

import numpy as np
import pytest

from kebab.core.chunks import remove_language
from kebab.embed.onnx_embedder import OnnxEmbedder
from kebab.embed.registry import E5_SMALL, MINILM, MODELS, find_model, measure_probe
from kebab.errors.catalog import InvalidInput
from tests.fakes import tiny_model


@pytest.mark.parametrize(
    "name",
    [
        "sentence-transformers/all-MiniLM-L6-v2",
        "all-minilm-l6-v2",
        "all-MiniLM-L6-v2",
        "MiniLM-L6-v2",
        " fastembed-minilml6-384-v1 ",
    ],
)
def test_a_model_goes_by_its_name_key_version_and_ending(name):
    assert find_model(name) is MINILM


@pytest.mark.parametrize("name", ["", "all"])
def test_an_unknown_name_is_refused_with_the_known_ones(name):
    with pytest.raises(InvalidInput) as caught:
        find_model(name)

    assert caught.value.field == "$.name"
    assert all(model.key in caught.value.cause for model in MODELS)


def test_the_hub_repository_is_the_one_that_fastembed_knows():
    from fastembed import TextEmbedding

    listed = {entry["model"]: entry for entry in TextEmbedding.list_supported_models()}
    known = listed[MINILM.name]

    assert known["sources"]["hf"] == MINILM.repo
    assert known["model_file"] == MINILM.file
    assert known["dim"] == MINILM.dimension


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.key)
def test_packages_are_pinned_by_version_and_hash(model):
    if model.package is not None:
        assert "==" in model.package.requirement
        names = {path.rsplit("/", 1)[1] for path in model.package.sha256}
        assert names == {"model.safetensors", "tokenizer.json"} or len(names) == 1
        assert all(re.fullmatch("[0-9a-f]{64}", one) for one in model.package.sha256.values())


def test_the_probe_is_the_cosine_of_the_probe_pair(tmp_path):
    embedder = OnnxEmbedder(tiny_model.install_model(MINILM, tmp_path), MINILM)
    probe = MINILM.probe

    cosine = embedder.embed_query(probe.first) @ embedder.embed_query(probe.second)

    assert measure_probe(embedder) == pytest.approx(float(cosine))


def test_language_axes_are_orthonormal_and_leave_unit_vectors():
    axes = E5_SMALL.load_language_axes()
    assert axes is not None
    left = remove_language(np.eye(E5_SMALL.dimension, dtype=np.float32)[:3], axes)

    assert np.allclose(axes @ axes.T, np.eye(len(axes)), atol=1e-3)
    assert np.allclose(left @ axes.T, 0, atol=1e-3)
    assert np.allclose(np.linalg.norm(left, axis=1), 1)
    assert MINILM.load_language_axes() is None

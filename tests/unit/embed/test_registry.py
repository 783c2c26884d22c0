import math
import re

import pytest

from kebab.embed.registry import E5_SMALL, MINILM, MODELS, find_model
from kebab.errors.catalog import InvalidInput
from kebab.text.language import is_written_in


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


def test_the_multilingual_model_is_found_by_its_key():
    assert find_model("multilingual-e5-small") is E5_SMALL


@pytest.mark.parametrize("name", ["", "bert", "v2x", "all"])
def test_an_unknown_name_is_refused_with_the_known_ones(name):
    with pytest.raises(InvalidInput) as caught:
        find_model(name)

    assert caught.value.field == "$.name"
    assert all(model.key in caught.value.cause for model in MODELS)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.key)
def test_the_window_leaves_room_for_special_tokens_and_prefix(model):
    room = model.positions - model.window

    assert room >= 2 + (4 if model.passage_prefix else 0)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.key)
def test_the_version_names_the_dimension(model):
    assert f"-{model.dimension}-" in model.version


def test_keys_names_and_versions_are_unique():
    names = [name for model in MODELS for name in (model.key, model.name.lower(), model.version)]

    assert len(set(names)) == len(names)


def test_the_hub_repository_is_the_one_that_fastembed_knows():
    from fastembed import TextEmbedding

    listed = {entry["model"]: entry for entry in TextEmbedding.list_supported_models()}
    known = listed[MINILM.name]

    assert known["sources"]["hf"] == MINILM.hub.repo
    assert (known["model_file"],) == MINILM.hub.files
    assert known["dim"] == MINILM.dimension


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.key)
def test_the_scripts_of_a_model_are_distinguishable(model):
    assert is_written_in("12:30", model.scripts)
    assert model.scripts is None or not is_written_in("데이터", model.scripts)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.key)
def test_packages_are_pinned_by_version_and_hash(model):
    if model.package is not None:
        assert "==" in model.package.requirement
        names = {path.rsplit("/", 1)[1] for path in model.package.sha256}
        assert names == {"model.safetensors", "tokenizer.json"} or len(names) == 1
        assert all(re.fullmatch("[0-9a-f]{64}", one) for one in model.package.sha256.values())


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.key)
def test_facts_stay_within_their_ranges(model):
    scale, trust = model.cosine_scale, model.language_trust

    assert -1 <= scale.low < scale.high <= 1
    assert 0 <= trust.other <= trust.english <= 1
    assert "int8" in model.precisions
    assert model.licence


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.key)
def test_vectors_of_unknown_words_convince_only_when_they_are_very_near(model):
    curve = model.answerability.absent

    usual, near = (1 / (1 + math.exp(-curve.start - curve.cosine * part)) for part in (0.25, 0.8))

    assert usual < 0.2
    assert near > 0.8

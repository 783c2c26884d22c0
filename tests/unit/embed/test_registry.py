import re

import numpy as np
import pytest

from kebab.core.chunks import remove_language
from kebab.embed.onnx_embedder import OnnxEmbedder
from kebab.embed.registry import (
    E5_SMALL,
    MINILM,
    MODELS,
    choose_models,
    describe_better_model,
    find_model,
    measure_probe,
)
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


@pytest.mark.parametrize(
    ("languages", "locale", "models", "reason"),
    [
        ({"en": 100}, None, [MINILM, E5_SMALL], "your notes are English"),
        ({"en": 100}, "en", [MINILM, E5_SMALL], "your notes are English"),
        ({"en": 97, "ko": 3}, None, [MINILM, E5_SMALL], "your notes are English"),
        (
            {"en": 100},
            "ko",
            [E5_SMALL, MINILM],
            "this computer is set to Korean, so questions may not be English",
        ),
        ({"ko": 83, "en": 17}, None, [E5_SMALL], "83 % of your notes are Korean"),
        ({"en": 90, "de": 10}, "en", [E5_SMALL, MINILM], "10 % of your notes are German"),
        (
            {"en": 10, "de": 30, "fr": 30, "it": 20, "es": 10},
            None,
            [E5_SMALL],
            "90 % of your notes are German, French, Italian",
        ),
        (
            {"": 90, "en": 10},
            None,
            [E5_SMALL, MINILM],
            "the language of most of your notes is unknown",
        ),
        ({"": 40, "en": 60}, None, [MINILM, E5_SMALL], "your notes are English"),
        ({}, None, [MINILM, E5_SMALL], "there is no text yet"),
    ],
)
def test_languages_and_locale_choose(languages, locale, models, reason):
    choice = choose_models(languages, locale)

    assert list(choice.models) == models
    assert choice.reason == reason
    assert choice.explain(choice.models[0]) == reason


def test_a_second_choice_is_explained():
    english = choose_models({"en": 1}, None)
    german = choose_models({"en": 70, "de": 30}, None)

    assert english.explain(E5_SMALL) == ("all-minilm-l6-v2 cannot be had")
    assert german.explain(MINILM) == (
        "multilingual-e5-small cannot be had; other languages are found by words only"
    )


def test_another_model_is_advised_when_the_text_changes():
    assert describe_better_model(MINILM.version, {"en": 100, "ko": 2}) is None
    assert describe_better_model(E5_SMALL.version, {"ko": 100}) is None
    assert describe_better_model("unknown", {"ko": 100}) is None
    assert describe_better_model(MINILM.version, {"en": 60, "ko": 40}) == (
        "40 % of your notes are Korean, which all-minilm-l6-v2 does not know",
        "kebab model use multilingual-e5-small",
    )

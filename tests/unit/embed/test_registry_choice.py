from dataclasses import replace

import pytest

from kebab.embed import registry
from kebab.embed.registry import E5_SMALL, MINILM, choose_models, describe_better_model


@pytest.mark.parametrize(
    ("languages", "locale", "models", "fallbacks", "reason"),
    [
        ({"en": 100}, None, [MINILM, E5_SMALL], [], "the text is English"),
        ({"en": 100}, "en", [MINILM, E5_SMALL], [], "the text is English"),
        ({"en": 97, "ko": 3}, None, [MINILM, E5_SMALL], [], "the text is English"),
        (
            {"en": 100},
            "ko",
            [E5_SMALL, MINILM],
            [],
            "the locale is Korean, so questions may not be English",
        ),
        ({"ko": 83, "en": 17}, None, [E5_SMALL], [], "83 % of the text is Korean"),
        ({"en": 90, "de": 10}, "en", [E5_SMALL], [MINILM], "10 % of the text is German"),
        (
            {"en": 10, "de": 30, "fr": 30, "it": 20, "es": 10},
            None,
            [E5_SMALL],
            [],
            "90 % of the text is German, French, Italian",
        ),
        (
            {"": 90, "en": 10},
            None,
            [E5_SMALL, MINILM],
            [],
            "the language of most of the text is unknown",
        ),
        ({"": 40, "en": 60}, None, [MINILM, E5_SMALL], [], "the text is English"),
        ({}, None, [MINILM, E5_SMALL], [], "there is no text yet"),
    ],
)
def test_languages_and_locale_choose(languages, locale, models, fallbacks, reason):
    choice = choose_models(languages, locale)

    assert list(choice.models) == models
    assert list(choice.fallbacks) == fallbacks
    assert choice.reason == reason
    assert choice.explain(choice.models[0]) == reason


def test_a_second_choice_is_explained():
    english = choose_models({"en": 1}, None)
    german = choose_models({"en": 70, "de": 30}, None)

    assert english.explain(E5_SMALL) == (
        "all-minilm-l6-v2 is not installed, and both serve the text (the text is English)"
    )
    assert german.explain(MINILM) == (
        "multilingual-e5-small cannot be had; passages in other languages have no vector"
    )


def test_another_model_is_advised_when_the_text_changes():
    assert describe_better_model(MINILM.version, {"en": 100, "ko": 2}) is None
    assert describe_better_model(E5_SMALL.version, {"ko": 100}) is None
    assert describe_better_model("unknown", {"ko": 100}) is None
    assert describe_better_model(MINILM.version, {"en": 60, "ko": 40}) == (
        "40 % of the text is Korean, which all-minilm-l6-v2 does not know",
        "kebab model use multilingual-e5-small",
    )


def test_models_are_told_apart_by_their_row_alone(monkeypatch):
    other = replace(E5_SMALL, key="other", name="x/other", version="other-384-v1")
    monkeypatch.setattr(registry, "MODELS", (other,))

    assert choose_models({"en": 1}, None).models == (other,)

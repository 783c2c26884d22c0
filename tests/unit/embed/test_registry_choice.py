import pytest

from kebab.embed.registry import E5_SMALL, MINILM, choose_models, describe_better_model


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

"""Chooses the embedding model of a knowledge base by its languages and the locale.

A multilingual model finds passages across languages. A model for English embeds English text in
about half of the time; which one ranks English text better depends on the text
(`docs/search-quality.md`). So it serves English notes of people whose locale is English too.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from kebab.embed import registry
from kebab.embed.registry import EmbeddingModel
from kebab.text.language import get_language_name

ENGLISH = "en"

OTHER_SHARE = 0.05
"""The least share of other languages in the text of known language that asks for them."""

ENGLISH_SHARE = 0.5
"""The least share of English with which a model for English is better than none."""

_LEADING_SHARE = 0.8
"""The share of the other languages with which one is named alone."""


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """Models in the order of preference, and the reason for the first.

    Of `models` an installed one is preferred to a download, because each serves the text. One of
    `fallbacks` serves a part of the text; it is taken when none of `models` can be had.
    """

    models: tuple[EmbeddingModel, ...]
    fallbacks: tuple[EmbeddingModel, ...]
    reason: str

    def explain(self, chosen: EmbeddingModel) -> str:
        """Return why this model was chosen."""
        if chosen == self.models[0]:
            return self.reason
        if chosen in self.models:
            return f"{self.models[0].key} is not installed, and both serve the text ({self.reason})"
        return f"{self.models[0].key} cannot be had; passages in other languages have no vector"


def choose_models(languages: Mapping[str, int], locale: str | None) -> ModelChoice:
    """Return the models for text in these languages.

    `languages` has bytes by ISO 639 code, under an empty string those of unknown language.
    `locale` is the language of the person; None stands for the locale C.
    """
    multilingual = _list_models(multilingual=True)
    specialised = _list_models(multilingual=False)
    total, english = sum(languages.values()), languages.get(ENGLISH, 0)
    if (other := describe_other_languages(languages)) is not None:
        serves = english >= ENGLISH_SHARE * total
        return ModelChoice(multilingual, specialised if serves else (), other)
    both = (*multilingual, *specialised)
    if english < ENGLISH_SHARE * total:
        return ModelChoice(both, (), "the language of most of the text is unknown")
    if locale not in {None, ENGLISH}:
        name = get_language_name(locale or "")
        return ModelChoice(both, (), f"the locale is {name}, so questions may not be English")
    reason = "the text is English" if total else "there is no text yet"
    return ModelChoice((*specialised, *multilingual), (), reason)


def _list_models(*, multilingual: bool) -> tuple[EmbeddingModel, ...]:
    return tuple(model for model in registry.MODELS if model.is_multilingual == multilingual)


def describe_other_languages(languages: Mapping[str, int]) -> str | None:
    """Return the share of the text that is not English as a sentence; None when it is small."""
    known = {code: size for code, size in languages.items() if code}
    others = {code: size for code, size in known.items() if code != ENGLISH}
    total, share = sum(known.values()), sum(others.values())
    if not share or share < OTHER_SHARE * total:
        return None
    names = [get_language_name(code) for code in sorted(others, key=lambda code: -others[code])]
    leads = others[max(others, key=lambda code: others[code])] >= _LEADING_SHARE * share
    listed = names[:1] if leads else names[:3]
    return f"{100 * share / total:.0f} % of the text is {', '.join(listed)}"


def describe_better_model(version: str, languages: Mapping[str, int]) -> tuple[str, str] | None:
    """Return why another model fits the text better, and the command that changes to it.

    It is None for most knowledge bases, and for a version that this build does not know.
    """
    model = registry.find_version(version)
    other = describe_other_languages(languages)
    if model is None or model.is_multilingual or other is None:
        return None
    better = _list_models(multilingual=True)[0]
    return f"{other}, which {model.key} does not know", f"kebab model use {better.key}"

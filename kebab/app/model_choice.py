"""Chooses the embedding model that fits the languages of the notes and of the person.

A multilingual model finds passages across languages. A model for English embeds English text in
about half of the time; which one ranks English text better depends on the text
(`docs/notes/search-quality.md`). So it serves English notes of people whose locale is English too.
"""

from collections.abc import Mapping

from msgspec import Struct

from kebab.embed import registry
from kebab.embed.registry import EmbeddingModel
from kebab.text.language import get_language_name

ENGLISH = "en"

OTHER_SHARE = 0.05
"""The least share of other languages in the text of known language that asks for them."""

ENGLISH_SHARE = 0.5
"""The least share of English with which a model for English is better than none."""


class ModelChoice(Struct, frozen=True):
    """Models in the order of preference, and the reason for the first."""

    models: tuple[EmbeddingModel, ...]
    reason: str

    def explain(self, chosen: EmbeddingModel) -> str:
        """Return why this model was chosen."""
        if chosen == self.models[0]:
            return self.reason
        loss = "" if chosen.is_multilingual else "; other languages are found by words only"
        return f"{self.models[0].key} cannot be had{loss}"


def choose_models(languages: Mapping[str, int], locale: str | None) -> ModelChoice:
    """Return the models for text in these languages.

    `languages` has bytes by ISO 639 code, under an empty string those of unknown language.
    `locale` is the language of the person; None stands for the locale C.
    """
    multilingual = _list_models(multilingual=True)
    specialised = _list_models(multilingual=False)
    both = (*multilingual, *specialised)
    total, english = sum(languages.values()), languages.get(ENGLISH, 0)
    if (other := describe_other_languages(languages)) is not None:
        return ModelChoice(both if english >= ENGLISH_SHARE * total else multilingual, other)
    if english < ENGLISH_SHARE * total:
        return ModelChoice(both, "the language of most of your notes is unknown")
    if locale not in {None, ENGLISH}:
        name = get_language_name(locale or "")
        reason = f"this computer is set to {name}, so questions may not be English"
        return ModelChoice(both, reason)
    reason = "your notes are English" if total else "there is no text yet"
    return ModelChoice((*specialised, *multilingual), reason)


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
    return f"{100 * share / total:.0f} % of your notes are {', '.join(names[:3])}"


def describe_better_model(version: str, languages: Mapping[str, int]) -> tuple[str, str] | None:
    """Return why another model fits the text better, and the command that changes to it.

    It is None for most knowledge bases, and for a version that this build does not know.
    """
    model = registry.find_named(version, registry.MODELS)
    other = describe_other_languages(languages)
    if model is None or model.is_multilingual or other is None:
        return None
    better = _list_models(multilingual=True)[0]
    return f"{other}, which {model.key} does not know", f"kebab model use {better.key}"

"""Builds the tokenizer of a SentencePiece unigram vocabulary, as XLM-RoBERTa uses it."""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class UnigramVocabulary:
    """Pieces with their log probabilities, the special pieces, and the normalisation.

    `replacements` says what the normalisation makes of a character; an empty text drops it.
    """

    pieces: Sequence[tuple[str, float]]
    start: str
    end: str
    unknown: str
    replacements: Mapping[str, str]


def build_tokenizer(vocabulary: UnigramVocabulary) -> Any:
    """Return a `tokenizers.Tokenizer` that frames a text in the start and end pieces.

    Raises:
        ValueError: The normalisation does more than NFKC, dropping characters, and spaces.
    """
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    ids = {piece: number for number, (piece, _) in enumerate(vocabulary.pieces)}
    unknown = ids[vocabulary.unknown]
    tokenizer = Tokenizer(models.Unigram(list(vocabulary.pieces), unknown))
    tokenizer.normalizer = _build_normalizer(vocabulary.replacements)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{vocabulary.start} $A {vocabulary.end}",
        special_tokens=[(piece, ids[piece]) for piece in (vocabulary.start, vocabulary.end)],
    )
    return tokenizer


def _build_normalizer(replacements: Mapping[str, str]) -> Any:
    """Return the normalisation as steps of the library; runs of spaces become one space."""
    from tokenizers import Regex, normalizers

    special = {
        character: text
        for character, text in replacements.items()
        if text != unicodedata.normalize("NFKC", character)
    }
    if not set(special.values()) <= {"", " "}:
        raise ValueError("the normalisation of the model file is not NFKC")
    steps = [
        normalizers.Replace(Regex(_build_class(characters)), text)
        for text in ("", " ")
        if (characters := [one for one, by in special.items() if by == text])
    ]
    spaces = normalizers.Replace(Regex(" {2,}"), " ")
    return normalizers.Sequence([*steps, normalizers.NFKC(), spaces, normalizers.Strip()])


def _build_class(characters: Iterable[str]) -> str:
    """Return a regular expression that matches any of these characters."""
    return "[" + "".join(f"\\x{{{ord(character):x}}}" for character in sorted(characters)) + "]"

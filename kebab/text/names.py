"""Makes the names of documents comparable: their titles, file names, aliases and folders."""

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import PurePosixPath
from typing import NamedTuple

from kebab.text.language import is_dense, split_units
from kebab.text.normalize import normalize_for_index, split_names
from kebab.text.tokenizer import tokenize_unit

_VAGUE_STEMS = split_names("readme index _index")
"""Stems of files that are named by their folder."""

_TITLE_WEIGHT, _FOLDER_WEIGHT, _VAGUE_WEIGHT = 0.97, 0.94, 0.94
"""The weights of names beside the file name, which a person types most often.

They are those of titles and aliases, of the file name behind its folder, and of `README`.
"""

TITLE_RULE = "titles-v2"
"""The version of how titles are chosen; documents with those of another are parsed again."""

_JOINT = re.compile(r"(?<=[^\W\d_])[-_]+(?=\w)|(?<=\w)[-_]+(?=[^\W\d_])")
"""Marks between words instead of a blank; those between two digits belong to a date."""

_EXPORT_ID = re.compile(r"\s[0-9a-f]{32}\Z")
"""The id behind the names of notes that Notion exports."""


def read_file_name(path: str) -> str:
    """Return the name of a file as words, without suffix; a vague one with its folder."""
    file = PurePosixPath(path)
    name = _EXPORT_ID.sub("", file.stem)
    name = name if " " in name else separate_words(name).strip("_")
    folder = file.parent.name
    return f"{folder}/{name}" if folder and is_vague(path) else name


def separate_words(name: str) -> str:
    """Return a name with blanks instead of the marks between its words."""
    return _JOINT.sub(" ", name)


def is_vague(path: str) -> bool:
    """Return whether a file is named by its folder, as `README.md` is."""
    return PurePosixPath(path).stem.lower() in _VAGUE_STEMS


@lru_cache(maxsize=1 << 12)
def join_name(name: str) -> str:
    """Return the letters and digits of a name in lower case: `CardsView` is `Cards view`."""
    return "".join(filter(str.isalnum, normalize_for_index(name).casefold()))


class NameWord(NamedTuple):
    """A word of a name: its tokens, the whole word last, and the word in lower case."""

    tokens: tuple[str, ...]
    text: str

    def cover(self, held: frozenset[str]) -> float:
        """Return how far some tokens hold the word, from 0 to 1.

        A compound is held as a whole or by its parts. Of a word in a script without blanks it is
        the share of its bigrams.
        """
        if not is_dense(self.text):
            *parts, whole = self.tokens
            return float(whole in held or bool(parts and held.issuperset(parts)))
        grams = self.tokens[:-1] or self.tokens
        return sum(gram in held for gram in grams) / len(grams)


@lru_cache(maxsize=1 << 12)
def split_name(name: str) -> tuple[NameWord, ...]:
    """Return the words of a name."""
    units = split_units(normalize_for_index(name))
    return tuple(
        NameWord(tokens, unit.lower()) for unit in units if (tokens := tokenize_unit(unit))
    )


def list_names(path: str, title: str, aliases: Sequence[str]) -> dict[str, float]:
    """Return what a document may be called, each with its weight up to 1.

    The file name has the highest. A vague one has less than the name of its folder.
    """
    names = dict.fromkeys((title, *aliases), _TITLE_WEIGHT)
    if is_vague(path):
        file = PurePosixPath(path)
        return {file.stem: _VAGUE_WEIGHT, **names, read_file_name(file.parent.name): _TITLE_WEIGHT}
    return names | {read_file_name(path): 1.0}


def rate_name(joined: str, path: str, title: str, aliases: Sequence[str]) -> float:
    """Return the weight of a joined name of a document; 0 if the document has no such name.

    The folder may stand before the name of the file, and the suffix behind it.
    """
    file = PurePosixPath(path)
    names = {f"{file.parent.name} {file.stem}": _FOLDER_WEIGHT, path: 1.0, file.name: 1.0}
    named = (names | list_names(path, title, aliases)).items()
    return max((weight for name, weight in named if join_name(name) == joined), default=0.0)


def list_index_words(path: str, title: str, aliases: Sequence[str]) -> dict[str, str]:
    """Return the tokens by which a document is found by name, each with the word it is made of.

    They are those of its names, of each name in one word, and of its folders.
    """
    found: dict[str, str] = {}
    names = list_names(path, title, aliases)
    for name in (*names, *map(separate_words, names)):
        for tokens, text in split_name(name):
            found |= dict.fromkeys(tokens, "") | ({tokens[-1]: text} if text.isalnum() else {})
        found.setdefault(join_name(name), "")
    for folder in PurePosixPath(path).parts[:-1]:
        for word in split_name(read_file_name(folder)):
            found = dict.fromkeys(word.tokens, "") | found
    found.pop("", None)
    return found

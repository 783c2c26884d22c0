"""Makes the names of documents comparable: their titles, file names, aliases and folders."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from kebab.text.dates import find_date_in_path
from kebab.text.language import is_dense, split_units
from kebab.text.normalize import normalize_for_index, split_names
from kebab.text.tokenizer import tokenize_unit

_VAGUE_STEMS = split_names("readme index _index")
"""Stems of files that are named by their folder."""

_TITLE_WEIGHT, _FOLDER_WEIGHT, _VAGUE_WEIGHT = 0.97, 0.94, 0.94
"""The weights of names beside the file name, which a person types most often.

They are those of titles and aliases, of the file name behind its folder, and of `README`.
"""

TITLE_RULE = "titles-v3"
"""The version of how titles are chosen; documents with those of another are parsed again."""

_JOINT = re.compile(r"(?<=[^\W\d_])[-_]{1,40}+(?=\w)|(?<=\w)[-_]{1,40}+(?=[^\W\d_])")
"""Marks between words instead of a blank; those between two digits belong to a date."""

_EXPORT_ID = re.compile(r"\s[0-9a-f]{32}\Z")
"""The id behind the names of notes that Notion exports."""


def read_file_name(path: str) -> str:
    """Return the name of a file as words, without suffix; a vague one with its folder.

    Logseq writes the slashes of a page as `___` or `%2F`. The text of a TextBundle is named by the
    bundle.
    """
    folders, stem = split_path(path)
    if folders and folders[-1].endswith(".textbundle"):
        folders, stem = folders[:-1], folders[-1].removesuffix(".textbundle")
    name = _EXPORT_ID.sub("", stem).replace("___", "/").replace("%2F", "/")
    name = name if " " in name else separate_words(name).strip("_")
    return f"{folders[-1]}/{name}" if folders and is_vague(stem) else name


def split_path(path: str) -> tuple[list[str], str]:
    """Return the folders of a path, and the stem of its file; `pathlib` is five times slower."""
    *folders, name = path.split("/")
    dot = name.rfind(".")
    return [folder for folder in folders if folder], name[:dot] if dot > 0 else name


def separate_words(name: str) -> str:
    """Return a name with blanks instead of the marks between its words."""
    return _JOINT.sub(" ", name)


def is_vague(stem: str) -> bool:
    """Return whether a file with this stem is named by its folder, as `README.md` is."""
    return stem.lower() in _VAGUE_STEMS


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


class Names(NamedTuple):
    """What a document may be called, by weight up to 1, with the tokens of each name and of all.

    `joined` also has the path, the file with its suffix, and the file behind its folder.
    """

    weights: Mapping[str, float]
    tokens: Mapping[str, frozenset[str]]
    all_tokens: frozenset[str]
    joined: Mapping[str, float]


@lru_cache(maxsize=1 << 10)
def read_names(path: str, title: str, aliases: tuple[str, ...]) -> Names:
    """Return the names of a document.

    The file name has the highest weight. A vague one has less than the name of its folder.
    """
    folders, stem = split_path(path)
    folder = folders[-1] if folders else ""
    weights = dict.fromkeys((title, *aliases), _TITLE_WEIGHT)
    if is_vague(stem):
        weights = {stem: _VAGUE_WEIGHT} | weights | {separate_words(folder): _TITLE_WEIGHT}
    else:
        weights[read_file_name(path)] = 1.0
    weights.pop("", None)
    tokens = {name: _collect_tokens(name) for name in weights}
    written = {f"{folder} {stem}": _FOLDER_WEIGHT, path: 1.0, path.rpartition("/")[2]: 1.0}
    joined: dict[str, float] = {}
    for name, weight in (*written.items(), *weights.items()):
        joined[join_name(name)] = max(weight, joined.get(join_name(name), 0.0))
    joined.pop("", None)
    above = (_collect_tokens(separate_words(one)) for one in folders)
    return Names(weights, tokens, frozenset().union(*tokens.values(), *above), joined)


def list_title_texts(title: str, path: str) -> tuple[str, ...]:
    """Return the texts whose words all passages of a document have: its title and its date."""
    return title, find_date_in_path(path) or ""


def _collect_tokens(name: str) -> frozenset[str]:
    return frozenset(token for word in split_name(name) for token in word.tokens)


def list_index_words(path: str, title: str, aliases: tuple[str, ...]) -> dict[str, str]:
    """Return the tokens by which a document is found by name, each with the word it is made of.

    They are those of its names, of each name in one word, and of its folders.
    """
    names = read_names(path, title, aliases)
    found = dict.fromkeys((*names.all_tokens, *map(join_name, names.weights)), "")
    for name in names.weights:
        for word in split_name(separate_words(name)):
            # The last token of a dense word is its last character only.
            token = word.text if is_dense(word.text) else word.tokens[-1]
            found[token] = word.text if word.text.isalnum() else ""
    found.pop("", None)
    return found

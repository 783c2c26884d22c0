"""Makes the names of documents comparable, and resolves the links between documents.

Note programs link by name (`[[Weekly review]]`), other Markdown by path (`../plans/q3.md`). A link
is compared with paths first, then with titles, aliases and the names of pages, and as a date last.
Suffixes may be left out.
"""

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote

from kebab.core.chunks import DocId
from kebab.core.documents import Link, LinkTarget
from kebab.core.files import get_suffix
from kebab.core.media import detect_media_type
from kebab.text.dates import find_date_in_path, parse_period
from kebab.text.language import is_dense, split_units
from kebab.text.normalize import fold_name, normalize_for_index, split_names
from kebab.text.tokenizer import tokenize_unit

_VAGUE_STEMS = split_names("readme index _index")
"""Stems of files that are named by their folder."""

_TITLE_WEIGHT, _FOLDER_WEIGHT, _VAGUE_WEIGHT = 0.97, 0.94, 0.94
"""The weights of names beside the file name, which a person types most often.

They are those of titles and aliases, of the file name behind its folder, and of `README`.
"""

TITLE_RULE = "titles-v4"
"""The version of how titles are chosen; documents with those of another are parsed again."""

_JOINT = re.compile(r"(?<=[^\W\d_])[-_]{1,40}+(?=\w)|(?<=\w)[-_]{1,40}+(?=[^\W\d_])")
"""Marks between words instead of a blank; those between two digits belong to a date."""

_find_joined = re.compile(r"[^\W_]|\+\+(?!\w)|(?<=\w)#(?!\w)").findall

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


def has_export_id(path: str) -> bool:
    """Return whether the name of a file ends with an id of Notion."""
    return _EXPORT_ID.search(split_path(path)[1]) is not None


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
    """Return the letters and digits of a name in lower case: `CardsView` is `Cards view`.

    The signs of `C++` and `C#` stay.
    """
    return "".join(_find_joined(normalize_for_index(name).casefold()))


class NameWord(NamedTuple):
    """A word of a name: its tokens, the whole word last, and the word in lower case."""

    tokens: tuple[str, ...]
    text: str

    @property
    def grams(self) -> tuple[str, ...]:
        """The tokens by which it is known: its bigrams in a script without blanks."""
        return (is_dense(self.text) and self.tokens[:-1]) or self.tokens

    def cover(self, held: frozenset[str]) -> float:
        """Return how far some tokens hold the word, from 0 to 1.

        A compound is held as a whole or by its parts. Of a word in a script without blanks it is
        the share of its bigrams.
        """
        if not is_dense(self.text):
            *parts, whole = self.tokens
            by_parts = parts and self.text[-1] not in "+#" and held.issuperset(parts)
            return float(whole in held or bool(by_parts))
        return sum(gram in held for gram in self.grams) / len(self.grams)


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
    """Return the texts whose words all passages of a document have.

    They are its title, the words of its file name that the title lacks, and its date.
    """
    name = "" if is_vague(split_path(path)[1]) else read_file_name(path)
    units, known = split_units(normalize_for_index(name)), _collect_tokens(title)
    others = [unit for unit in units if not known.issuperset(tokenize_unit(unit))]
    return title, " ".join(others), find_date_in_path(path) or ""


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


def compute_link_key(target: str) -> str:
    """Return the folded name of the file that a link names, without its folder and suffix.

    The name of a day is its date.
    """
    name = _strip_suffix(fold_name(target).rstrip("/").rpartition("/")[2])
    return parse_period(target) or parse_period(name) or name


def list_link_keys(document: LinkTarget) -> list[str]:
    """Return the keys of all links that may mean a document."""
    return list(dict.fromkeys(map(compute_link_key, (document.path, *_list_names(document)))))


def _list_names(document: LinkTarget) -> list[str]:
    """Return the names of a document; Logseq writes the slashes of a page as `___` or `%2F`."""
    stem = _strip_suffix(document.path.rpartition("/")[2])
    return [document.title, *document.aliases, unquote(stem.replace("___", "/"))]


def _strip_suffix(path: str) -> str:
    """Return a path without the suffix of a format that kebab reads."""
    return path.removesuffix(get_suffix(path)) if detect_media_type(path) else path


class LinkResolver:
    """Finds the documents that links name, each below the source of its own document."""

    def __init__(self, documents: Iterable[LinkTarget]) -> None:
        self._by_path: dict[tuple[str, str], DocId] = {}
        self._by_name: dict[tuple[str, str], DocId] = {}
        self._by_key: defaultdict[tuple[str, str], list[tuple[str, DocId]]] = defaultdict(list)
        ordered = sorted(documents, key=lambda one: (len(one.path), one.path))
        for one in ordered:
            path = fold_name(one.path)
            plain = _strip_suffix(path)
            self._by_key[one.source, plain.rpartition("/")[2]].append((plain, one.doc_id))
            for form in (path, plain):
                self._by_path.setdefault((one.source, form), one.doc_id)
            names = _list_names(one)
            for name in (*map(fold_name, names), *filter(None, map(parse_period, names))):
                self._by_name.setdefault((one.source, name), one.doc_id)

    def resolve(self, link: Link) -> DocId | None:
        """Return the document that a link names, None when there is none.

        Among several documents of one name, the one with the shortest path wins.
        """
        target = fold_name(link.target)
        folder = posixpath.dirname(fold_name(link.path))
        for base in (folder, ""):
            path = posixpath.normpath(posixpath.join(base, target.lstrip("/")))
            for form in (path, _strip_suffix(path)):
                if found := self._by_path.get((link.source, form)):
                    return found
        end = _strip_suffix(posixpath.normpath(target)).lstrip("/")
        candidates = self._by_key.get((link.source, end.rpartition("/")[2]), [])
        for path, doc_id in candidates:
            if f"/{path}".endswith(f"/{end}"):
                return doc_id
        dated = parse_period(link.target) or ""
        by_name = self._by_name
        return by_name.get((link.source, target)) or by_name.get((link.source, dated))

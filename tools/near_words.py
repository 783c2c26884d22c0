"""Makes the list of words that a review adds to the dictionaries of `pyspellchecker`.

It has words that are frequent in documentation, and right words that would be taken for a slip:
rare words, terms of programming with their forms, and words of other languages. The words are those
of Debian's packages `wamerican-huge` and `wbritish-huge` (SCOWL), the terms those of the packages
`@cspell/dict-*` of npm that are licensed under MIT; compressed lists end with `.gz`.

    python -m tools.near_words --words FILE … --terms FILE … --documentation FOLDER …
"""

import argparse
import gzip
import re
import sys
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from kebab.review.rules.near_words import LONGEST, SHORTEST, find_meant, load_dictionary
from kebab.review.rules.spelling import MISSPELLINGS

LIST = Path(__file__).resolve().parents[1] / "kebab/review/rules/words.z"

_SUFFIXES = (".md", ".mdx", ".markdown", ".rst")
_IN_PROSE = re.compile(r"(?<![\w/.\-:@#`])[a-z]{4,20}(?![\w/\-:@`(])")
_IN_LIST = re.compile(r"[A-Za-zà-ÿ]+")
_FOREIGN = ("de", "es", "fr", "it", "nl", "pt")
_LEAST_COUNT = 100
_FEW_FOLDERS, _LONGEST_STEM = 6, 7
_ENDINGS = ("", "s", "ed", "d", "ing", "er", "ers", "able", "ization", "ize", "ized")

_RIGHT = (  # noqa: SIM905 - one list of words
    "alignof aliqua aliquam aliquip automagic automagically codings comms conds confs constexpr"
    " crufty cupidatat decltype decodings deopt deopts deserunt dolore eiusmod evals excepteur"
    " facto fileid firewalld flattr flickr franca glytch incididunt initializer inlined inlining"
    " invokable labore laborum memoization memoize memoized memoizes memoizing mollit noexcept"
    " nosign nostop nostrud noteable nullptr officia procps proident quotea reprehenderit rport"
    " serdes serializer sizeof snated snats statting struct structs tempor testling tokenized"
    " tween tweens typeid typename ullamco upsert upserted upserts userns velit voluptate"
).split()
"""Words that the lists lack."""

_WRONG = frozenset({"envirionment", "equipments", "recieve"})
"""Words of the lists that are misspellings."""


def read_list(file: Path) -> Iterator[str]:
    """Yield the words of a list in lower case, also the parts of names in camel case."""
    data = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    for line in data.decode("utf-8", "replace").splitlines():
        text = line.partition("#")[0]
        if not line.startswith("!"):
            parts = re.findall("[A-Z]?[a-z]+", text)
            yield from (word.lower() for word in (*_IN_LIST.findall(text), *parts))


def count_folders(folders: Iterable[Path]) -> Counter[str]:
    """Return in how many folders of documentation each word stands."""
    counts: Counter[str] = Counter()
    for folder in folders:
        files = (file for file in folder.rglob("*") if file.suffix in _SUFFIXES and file.is_file())
        texts = (file.read_text("utf-8", "replace") for file in files)
        counts.update({word for text in texts for word in _IN_PROSE.findall(text)})
    return counts


def select_frequent(counts: Counter[str], known: Collection[str]) -> list[str]:
    """Return the known words that several folders use."""
    wrong = {word.decode() for word in MISSPELLINGS.words}
    return sorted(
        word
        for word, count in counts.items()
        if count >= _FEW_FOLDERS and word in known and word not in wrong
    )


def select_right(words: Collection[str], stems: Collection[str]) -> list[str]:
    """Return the words, and the forms of stems, that a review would take for a slip."""
    dictionary = load_dictionary("en")
    if dictionary is None:
        raise SystemExit("pyspellchecker is not installed")
    forms = {stem + ending for stem in stems for ending in _ENDINGS}
    targets = {word for word, count in dictionary.frequencies.items() if count >= _LEAST_COUNT}
    near = targets.union(*map(_list_shorter, targets))
    return sorted(
        word
        for word in forms.union(words) - _WRONG
        if SHORTEST <= len(word) <= LONGEST
        and word.encode() not in dictionary.words
        and word.encode() not in MISSPELLINGS.words
        and (word in near or not near.isdisjoint(_list_shorter(word)))  # which is fast
        and find_meant(word, "en")
    )


def _list_shorter(word: str) -> list[str]:
    """Return a word without each of its letters; those of words that are one edit apart overlap."""
    return [word[:at] + word[at + 1 :] for at in range(len(word))]


def write_list(frequent: Sequence[str], right: Sequence[str]) -> None:
    """Write the compressed list: a line of each kind."""
    lines = "\n".join((" ".join(frequent), " ".join(right)))
    LIST.write_bytes(zlib.compress(lines.encode(), 9))
    load_dictionary.cache_clear()
    find_meant.cache_clear()


def main(arguments: Sequence[str]) -> int:
    """Write the list, and print how many words it has."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--words", type=Path, nargs="*", default=(), help="lists of words")
    parser.add_argument("--terms", type=Path, nargs="*", default=(), help="lists of terms")
    parser.add_argument("--documentation", type=Path, nargs="*", default=(), help="one per project")
    given = parser.parse_args(arguments)
    words, terms = (
        {word for file in files for word in read_list(file)} for files in (given.words, given.terms)
    )
    terms.update(_RIGHT)
    write_list((), ())
    english = load_dictionary("en")
    known = words | terms | set(english.frequencies if english else ())
    frequent = select_frequent(count_folders(given.documentation), known)
    write_list(frequent, ())
    foreign = {
        word
        for dictionary in map(load_dictionary, _FOREIGN)
        if dictionary is not None
        for word, count in dictionary.frequencies.items()
        if count >= _LEAST_COUNT
    }
    short = {word for word in words if len(word) <= _LONGEST_STEM}
    right = select_right(words | foreign, short | terms)
    write_list(frequent, right)
    sys.stdout.write(
        f"{len(frequent):,} frequent and {len(right):,} right words,"
        f" {LIST.stat().st_size:,} bytes\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

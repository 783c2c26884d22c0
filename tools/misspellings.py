"""Makes the list of common misspellings that a review uses, from the one of `typos`.

The source is `crates/typos-dict/src/word_codegen.rs` of the source distribution of `typos`, which
is licensed under MIT or Apache-2.0 (`LICENSES.txt` beside the list). Rare words and names that a
large word list of English has are left out, because they are right more often than they are meant
to be another word. Such lists are in the packages `wamerican-large` and `wbritish-large` of Debian,
and the rare words in those that end with `-huge`.

    python -m tools.misspellings WORD_CODEGEN [--words FILE …] [--rare FILE …]
"""

import argparse
import re
import sys
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path

LIST = Path(__file__).resolve().parents[1] / "kebab/review/rules/misspellings.z"

_ENTRY = re.compile(r'InsensitiveStr::Ascii\("([a-z]+)"\),\s*&\[([^\]]*)\]')
_SHORTEST, _LONGEST_RARE = 4, 5
_MOST_CORRECTIONS = 4
_SHORT = frozenset({"teh", "hte", "adn", "taht", "yuo", "wich", "ment", "ahve"})
"""Misspellings that are too short for the list, or are rare words, and still always wrong."""

_WRONG = frozenset(
    {
        *("calfs", "cheeper", "dateset", "dependancy", "diaster", "equipments", "fouth", "frist"),
        *("goup", "hightest", "knifes", "mutch", "payed", "rasing", "sematic", "swith", "verry"),
        *("waring", "wether", "whish", "withing", "yeld", "accidently", "guage", "colum", "tuscon"),
        *("massachusets", "pavillion", "pharoah", "sargeant", "casette", "supercede", "fand"),
    }
)
"""Words of the large lists that are misspellings in nearly every text."""

_OWN = {
    **{
        word.replace("'", ""): [word]
        for word in (
            *("aren't", "couldn't", "didn't", "doesn't", "don't", "hadn't", "hasn't", "haven't"),
            *("isn't", "shouldn't", "that's", "they're", "wasn't", "weren't", "wouldn't", "you're"),
            *("you've", "they've", "we've"),
        )
    },
    **{word.replace(" ", ""): [word] for word in ("a lot", "at least", "as well", "in case")},
    "seach": ["search"],
}
"""Pairs that the source lacks."""

_RIGHT = frozenset(
    {
        *("anser", "arange", "braket", "enumerables", "expresso", "funktion", "moreso", "numer"),
        *(
            "compilability",
            "configurables",
            "discernable",
            "invokable",
            "optin",
            "scaleable",
            "strat",
            "unparseable",
            "vertx",
        ),
    }
)
"""Names and terms of software that are misspellings in the source."""


def read_pairs(text: str) -> dict[str, list[str]]:
    """Return the corrections of each misspelling of the source."""
    return {found[1]: re.findall(r'"([^"]+)"', found[2]) for found in _ENTRY.finditer(text)}


def select_pairs(
    pairs: dict[str, list[str]], words: Iterable[str], rare: Iterable[str]
) -> dict[str, list[str]]:
    """Return the pairs that are certain enough; `words` are English words and names.

    Of the `rare` ones only the short ones are right.
    """
    english = {word.lower() for word in words}
    english.update(word.lower() for word in rare if len(word) <= _LONGEST_RARE)
    return {
        wrong: right
        for wrong, right in pairs.items()
        if wrong not in _RIGHT
        and (len(wrong) >= _SHORTEST or wrong in _SHORT)
        and len(right) <= _MOST_CORRECTIONS
        and (wrong not in english or wrong in _WRONG or wrong in _SHORT)
    }


def pack_pairs(pairs: dict[str, list[str]]) -> bytes:
    """Return the compressed list: a line of misspellings, and one of their corrections."""
    wrong = sorted(pairs)
    lines = " ".join(wrong), " ".join(",".join(pairs[word]).replace(" ", "_") for word in wrong)
    return zlib.compress("\n".join(lines).encode(), 9)


def main(arguments: Sequence[str]) -> int:
    """Write the list, and print how many pairs it has."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("source", type=Path)
    parser.add_argument("--words", type=Path, nargs="*", default=(), help="lists of words")
    parser.add_argument("--rare", type=Path, nargs="*", default=(), help="lists with rare words")
    given = parser.parse_args(arguments)
    words, rare = (
        [word for file in paths for word in file.read_text("utf-8").split()]
        for paths in (given.words, given.rare)
    )
    pairs = select_pairs(read_pairs(given.source.read_text("utf-8")), words, rare) | _OWN
    pairs = {word: [_OWN.get(one, [one])[0] for one in right] for word, right in pairs.items()}
    LIST.write_bytes(pack_pairs(pairs))
    sys.stdout.write(f"{len(pairs):,} misspellings, {LIST.stat().st_size:,} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Builds folders of files whose facts are known.

Each document of a generated corpus is about one made-up place and states some of four facts about
it: a keeper, a year, a price and a rule. Which fact is left out depends on the number of the
document, so that for every question of the corpus there are places where it has no answer.
"""

import random
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

_SYLLABLES = ("brax", "tolm", "vur", "quen", "dra", "shil", "mog", "pelt", "zan", "rix", "hob")
_HANGUL = ("가", "람", "솔", "빛", "너", "울", "해", "담", "달", "별", "새", "온")
_WORD = re.compile(r"[^\W\d_]{6,}")
_TEXT_SUFFIXES = {".md", ".txt", ".rst", ".org", ".py", ".rs", ".go"}


@dataclass(frozen=True, slots=True)
class Language:
    """The sentences of a generated corpus; `{name}` is the place, `{value}` a fact."""

    title: str
    padding: str
    facts: Mapping[str, tuple[str, str]]
    """A statement and the question that it answers, by the kind of the fact."""


LANGUAGES = {
    "english": Language(
        "{name} lighthouse",
        "The path to the tower leads over the dunes, and the lamp is lit every evening.",
        {
            "keeper": (
                "The keeper of {name} lighthouse is {value}.",
                "Who is the keeper of {name} lighthouse?",
            ),
            "year": (
                "{name} lighthouse was built in {value}.",
                "When was {name} lighthouse built?",
            ),
            "price": (
                "A night in {name} lighthouse costs {value} euros.",
                "How much does a night in {name} lighthouse cost?",
            ),
        },
    ),
    "german": Language(
        "Leuchtturm {name}",
        "Der Weg zum Turm führt über die Dünen, und die Lampe brennt jeden Abend.",
        {
            "keeper": (
                "Der Wärter im Leuchtturm {name} heißt {value}.",
                "Wer ist der Wärter im Leuchtturm {name}?",
            ),
            "year": (
                "Der Leuchtturm {name} wurde im Jahr {value} gebaut.",
                "Wann wurde der Leuchtturm {name} gebaut?",
            ),
            "price": (
                "Eine Nacht im Leuchtturm {name} kostet {value} Euro.",
                "Wie viel kostet eine Nacht im Leuchtturm {name}?",
            ),
        },
    ),
    "korean": Language(
        "{name} 등대",
        "탑으로 가는 길은 모래 언덕을 지나고 등불은 매일 저녁에 켜집니다.",
        {
            "keeper": (
                "{name} 등대의 등대지기는 {value}입니다.",
                "{name} 등대의 등대지기는 누구입니까?",
            ),
            "year": (
                "{name} 등대는 {value}년에 지어졌습니다.",
                "{name} 등대는 언제 지어졌습니까?",
            ),
            "price": (
                "{name} 등대의 하룻밤 요금은 {value}원입니다.",
                "{name} 등대의 하룻밤 요금은 얼마입니까?",
            ),
        },
    ),
}
_KEEPERS = ("Ottoline Farquhar", "Velimir Zograf", "Ysolde Penhaligon", "Peregrine Holt")
_KOREAN_KEEPERS = ("김하늘", "박서준", "이도윤", "최지우")


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and whether the corpus answers it."""

    text: str
    answerable: bool


@dataclass(slots=True)
class Corpus:
    """Files below a folder, words that occur in one of them only, and questions."""

    name: str
    folder: Path
    unique: dict[str, str] = field(default_factory=dict)
    """A word that occurs in no other file, by the relative path of the file."""
    questions: list[Question] = field(default_factory=list)

    def list_paths(self) -> list[str]:
        """Return the relative paths of the files with a word of their own, in order."""
        return sorted(self.unique)

    def make_absent_word(self, dice: random.Random) -> str:
        """Return a made-up word that occurs in no file."""
        text = "\n".join(path.read_text("utf-8", "replace") for path in _list_files(self.folder))
        while (word := make_name(dice, parts=4)).lower() in text.lower():
            continue
        return word


def make_name(dice: random.Random, parts: int = 3, syllables: tuple[str, ...] = _SYLLABLES) -> str:
    """Return a made-up name."""
    return "".join(dice.choice(syllables) for _ in range(parts)).capitalize()


def write_corpus(language: str, folder: Path, count: int, dice: random.Random) -> Corpus:
    """Write documents in a language, each about one place, and return them as a corpus."""
    words = LANGUAGES[language]
    corpus = Corpus(language, folder)
    syllables = _HANGUL if language == "korean" else _SYLLABLES
    for number in range(count):
        name = make_name(dice, 3, syllables)
        while any(name in other for other in corpus.unique.values()):
            name = make_name(dice, 3, syllables)
        values = {
            "keeper": dice.choice(_KOREAN_KEEPERS if language == "korean" else _KEEPERS),
            "year": str(dice.randrange(1801, 1960)),
            "price": str(dice.randrange(31, 99)),
        }
        left_out = [*words.facts, None][number % (len(words.facts) + 1)]
        lines = [f"# {words.title.format(name=name)}", "", words.padding, ""]
        for kind, (statement, question) in words.facts.items():
            if kind != left_out:
                lines += [statement.format(name=name, value=values[kind]), ""]
            corpus.questions.append(Question(question.format(name=name), kind != left_out))
        path = folder / f"part{number % 3}" / f"note{number:03}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines), encoding="utf-8")
        corpus.unique[str(path.relative_to(folder))] = name
    return corpus


def copy_corpus(name: str, files: Path, folder: Path) -> Corpus:
    """Copy a folder of files, and find the words that occur in one text file only."""
    shutil.copytree(files, folder)
    found = {
        path: set(_WORD.findall(path.read_text("utf-8", "replace").lower()))
        for path in _list_files(folder)
    }
    uses = Counter(word for words in found.values() for word in words)
    corpus = Corpus(name, folder)
    for path, words in found.items():
        own = sorted(word for word in words if uses[word] == 1 and word.isascii())
        if own:
            corpus.unique[str(path.relative_to(folder))] = max(own, key=len)
    return corpus


def _list_files(folder: Path) -> Iterator[Path]:
    """Yield the text files of a folder in order."""
    return (
        path
        for path in sorted(folder.rglob("*"))
        if path.suffix in _TEXT_SUFFIXES and path.is_file()
    )

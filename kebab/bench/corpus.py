"""Writes Markdown notes from a seed: titles, sections, lists, code and some Korean.

One section becomes about one chunk, so the size of a corpus is given in chunks.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kebab.bench.vocabulary import TextGenerator

_SECTIONS_PER_NOTE = (1, 7)
_WORDS_OF_LENGTH = ((20, 40), (45, 65), (70, 90))
_FILES_PER_FOLDER = 200
_CODE = """```python
def {name}({argument}):
    return {argument}.{method}("{text}")
```"""


@dataclass(frozen=True, slots=True)
class Corpus:
    """The files that were written."""

    folder: Path
    files: int
    size: int


def write_notes(folder: Path, sections: int, seed: int) -> Corpus:
    """Write notes with this number of sections in total."""
    return write_corpus(folder, _generate_notes(sections, seed))


def build_questions(count: int, seed: int) -> list[str]:
    """Return distinct questions that use the words of the corpus."""
    generator = TextGenerator(f"queries {seed}")
    asked: dict[str, None] = {}
    while len(asked) < count:
        asked[f"{generator.generate_topic(3)} {generator.generate_words(1)[0]}"] = None
    return list(asked)


def build_mixed_texts(count: int, seed: int) -> list[str]:
    """Return passages of very different lengths in random order."""
    generator = TextGenerator(f"texts {seed}")
    return [
        generator.generate_paragraph(int(4 * 2 ** generator.random.uniform(0, 5.3)))
        for _ in range(count)
    ]


def _generate_notes(sections: int, seed: int) -> Iterator[str]:
    generator = TextGenerator(f"notes {seed}")
    while sections > 0:
        count = min(sections, generator.random.randint(*_SECTIONS_PER_NOTE))
        sections -= count
        parts = "\n\n".join(generate_section(generator) for _ in range(count))
        yield f"# {generator.generate_topic(3).title()}\n\n{parts}\n"


def generate_section(generator: TextGenerator) -> str:
    """Return a heading and the text below it."""
    words = generator.random.randint(*generator.random.choice(_WORDS_OF_LENGTH))
    heading = f"## {generator.generate_topic(2).capitalize()}"
    parts = [heading, generator.generate_paragraph(words // 2)]
    kind = generator.random.random()
    if kind < 0.2:  # noqa: PLR2004 - a fifth have a list
        items = (generator.generate_topic(4) for _ in range(max(2, words // 10)))
        parts.append("\n".join(f"- {item}" for item in items))
    elif kind < 0.3:  # noqa: PLR2004 - a tenth have code
        parts.append(_generate_code(generator))
    elif kind < 0.4:  # noqa: PLR2004 - a tenth have a little Korean
        english = generator.generate_paragraph(words // 2)
        parts.append(f"{english} {generator.generate_korean_sentence()}")
    else:
        parts.append(generator.generate_paragraph(words // 2))
    return "\n\n".join(parts)


def _generate_code(generator: TextGenerator) -> str:
    first, second, third, fourth = generator.generate_topic(4).split()
    return _CODE.format(name=f"{first}_{second}", argument=second, method=third, text=fourth)


def write_corpus(folder: Path, texts: Iterator[str], suffix: str = ".md") -> Corpus:
    """Write each text to a file of its own, two hundred to a folder."""
    size = files = 0
    for number, text in enumerate(texts):
        shelf = folder / f"{number // _FILES_PER_FOLDER:04}"
        shelf.mkdir(parents=True, exist_ok=True)
        data = text.encode()
        (shelf / f"note-{number:06}{suffix}").write_bytes(data)
        size, files = size + len(data), files + 1
    return Corpus(folder, files, size)

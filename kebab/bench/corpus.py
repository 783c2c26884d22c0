"""A folder of Markdown notes, made from a seed: titles, sections, lists, code, some Korean.

Each section is about one passage once it is cut, so a corpus can be asked for by passages.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kebab.bench.words import Prose

_SECTIONS_PER_NOTE = (1, 7)
_WORDS_OF_LENGTH = ((20, 40), (45, 65), (70, 90))
_FILES_PER_FOLDER = 200
_MARKUP = re.compile(r"\A---\n(?:[^\n]*\n)*?---\n+|^(?:#+|-) |^```[^\n]*\n", re.MULTILINE)
"""Front matter, signs of headings and lists, fences of code."""
_CODE = """```python
def {name}({argument}):
    return {argument}.{method}("{text}")
```"""


@dataclass(frozen=True, slots=True)
class Corpus:
    """What was written."""

    folder: Path
    files: int
    size: int


def write_notes(folder: Path, sections: int, seed: int) -> Corpus:
    """Write notes that have this many sections together."""
    return _write(folder, _notes(sections, seed))


def write_pages(folder: Path, files: int, seed: int) -> Corpus:
    """Write this many pages of about four thousand bytes, as a documentation site has them."""
    prose = Prose(f"pages {seed}")
    return _write(folder, (_page(prose) for _ in range(files)))


def write_texts(folder: Path, files: int, seed: int) -> Corpus:
    """Write what `write_pages` writes, as plain text."""
    prose = Prose(f"pages {seed}")
    texts = (_MARKUP.sub("", _page(prose)) for _ in range(files))
    return _write(folder, texts, suffix=".txt")


def write_long_note(folder: Path, size: int, seed: int) -> Corpus:
    """Write one note of at least so many characters."""
    prose = Prose(f"long note {seed}")
    parts = [f"# {prose.topic(3).title()}"]
    length = 0
    while length < size:
        parts.append(_section(prose))
        length += len(parts[-1]) + 2
    return _write(folder, iter(["\n\n".join(parts) + "\n"]))


def queries(count: int, seed: int) -> list[str]:
    """Return different questions in words of the corpus."""
    prose = Prose(f"queries {seed}")
    asked: dict[str, None] = {}
    while len(asked) < count:
        asked[f"{prose.topic(3)} {prose.words(1)[0]}"] = None
    return list(asked)


def mixed_texts(count: int, seed: int) -> list[str]:
    """Return passages of very different lengths, in no order, as notes have them."""
    prose = Prose(f"texts {seed}")
    return [prose.paragraph(int(4 * 2 ** prose.dice.uniform(0, 5.3))) for _ in range(count)]


def _notes(sections: int, seed: int) -> Iterator[str]:
    prose = Prose(f"notes {seed}")
    while sections > 0:
        count = min(sections, prose.dice.randint(*_SECTIONS_PER_NOTE))
        sections -= count
        parts = "\n\n".join(_section(prose) for _ in range(count))
        yield f"# {prose.topic(3).title()}\n\n{parts}\n"


def _page(prose: Prose) -> str:
    """Return a page: front matter, then a few sections of several paragraphs each."""
    sections = [
        "\n\n".join([_section(prose), *(prose.paragraph(60) for _ in range(3))])
        for _ in range(prose.dice.randint(1, 3))
    ]
    front = f"---\ntitle: {prose.topic(3)}\ntags: [{prose.topic(1)}]\n---\n"
    return front + "\n" + "\n\n".join(sections) + "\n"


def _section(prose: Prose) -> str:
    """Return a heading and what stands below it."""
    words = prose.dice.randint(*prose.dice.choice(_WORDS_OF_LENGTH))
    parts = [f"## {prose.topic(2).capitalize()}", prose.paragraph(words // 2)]
    kind = prose.dice.random()
    if kind < 0.2:  # noqa: PLR2004 - a fifth have a list
        parts.append("\n".join(f"- {prose.topic(4)}" for _ in range(max(2, words // 10))))
    elif kind < 0.3:  # noqa: PLR2004 - a tenth have code
        parts.append(_code(prose))
    elif kind < 0.4:  # noqa: PLR2004 - a tenth have a little Korean
        parts.append(f"{prose.paragraph(words // 2)} {prose.korean()}")
    else:
        parts.append(prose.paragraph(words // 2))
    return "\n\n".join(parts)


def _code(prose: Prose) -> str:
    first, second, third, fourth = prose.topic(4).split()
    return _CODE.format(name=f"{first}_{second}", argument=second, method=third, text=fourth)


def _write(folder: Path, texts: Iterator[str], suffix: str = ".md") -> Corpus:
    size = files = 0
    for place, text in enumerate(texts):
        shelf = folder / f"{place // _FILES_PER_FOLDER:04}"
        shelf.mkdir(parents=True, exist_ok=True)
        data = text.encode()
        (shelf / f"note-{place:06}{suffix}").write_bytes(data)
        size, files = size + len(data), files + 1
    return Corpus(folder, files, size)

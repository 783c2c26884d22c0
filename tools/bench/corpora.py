"""Writes the corpora of the developer benchmarks: pages, plain texts and one long note."""

import re
from pathlib import Path

from kebab.bench.sandbox import Corpus, TextGenerator, generate_section, write_corpus

_MARKUP = re.compile(r"\A---\n(?:[^\n]*\n)*?---\n+|^(?:#+|-) |^```[^\n]*\n", re.MULTILINE)
"""Front matter, markers of headings and lists, and code fences."""


def write_pages(folder: Path, files: int, seed: int) -> Corpus:
    """Write pages of about four thousand bytes, the usual size in documentation."""
    generator = TextGenerator(f"pages {seed}")
    return write_corpus(folder, (_generate_page(generator) for _ in range(files)))


def write_texts(folder: Path, files: int, seed: int) -> Corpus:
    """Write the text of `write_pages` without its Markdown."""
    generator = TextGenerator(f"pages {seed}")
    texts = (_MARKUP.sub("", _generate_page(generator)) for _ in range(files))
    return write_corpus(folder, texts, suffix=".txt")


def write_long_note(folder: Path, size: int, seed: int) -> Corpus:
    """Write one note of at least this number of characters."""
    generator = TextGenerator(f"long note {seed}")
    parts = [f"# {generator.generate_topic(3).title()}"]
    length = 0
    while length < size:
        parts.append(generate_section(generator))
        length += len(parts[-1]) + 2
    return write_corpus(folder, iter(["\n\n".join(parts) + "\n"]))


def _generate_page(generator: TextGenerator) -> str:
    """Return a page: front matter, then a few sections of several paragraphs each."""
    parts: list[str] = []
    for _ in range(generator.random.randint(1, 3)):
        parts.append(generate_section(generator))
        parts += [generator.generate_paragraph(60) for _ in range(3)]
    title, tag = generator.generate_topic(3), generator.generate_topic(1)
    body = "\n\n".join(parts)
    return f"---\ntitle: {title}\ntags: [{tag}]\n---\n\n{body}\n"

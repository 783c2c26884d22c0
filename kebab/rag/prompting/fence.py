"""The fence around evidence: tags that nothing inside can forge, and a passage as it stands there.

Their name holds a digest of all that stands inside, which occurs nowhere in it. So what looks like
the end of the fence, or like another passage, is seen to be text.
"""

from collections.abc import Iterable, Sequence
from hashlib import blake2s
from itertools import count

from kebab.core.answer import Passage, Quote
from kebab.rag.prompting.defuse import defused_evidence, defused_line
from kebab.rag.prompting.tokens import text_tokens

_PLACE = 80
"""The most characters of a title, of a heading and of a path's end."""
_HEADINGS = 3
_COSTLY = "00000000"


def fenced(name: str, text: str, *others: str) -> str:
    """Return a text inside a fence whose tag occurs neither in it nor in others."""
    tag = f"{name}-{_digest([text, *others])}"
    return f"<{tag}>\n{text}\n</{tag}>"


def evidence(passages: Sequence[Passage], question: str) -> tuple[str, str]:
    """Return the name of the fence and the passages inside it, in their order."""
    shown = [_shown(passage) for passage in passages]
    texts = [part for pair in shown for part in pair]
    digest = _digest([*texts, question])
    blocks = [
        _block(passage.marker, pair, digest) for passage, pair in zip(passages, shown, strict=True)
    ]
    name = f"evidence-{digest}"
    return name, "\n".join([f"<{name}>", *blocks, f"</{name}>"])


def cost(passage: Passage) -> int:
    """Return the tokens of a passage with its frame."""
    return text_tokens(_block(passage.marker, _shown(passage), _COSTLY)) + 1


def text_cost(text: str) -> int:
    """Return the tokens of a passage's text as it is shown."""
    return text_tokens(defused_evidence(text))


def _block(marker: int, shown: tuple[str, str], digest: str) -> str:
    place, text = shown
    return f"<passage-{digest} [{marker}]>\nFrom: {place}\n{text}\n</passage-{digest}>"


def _shown(passage: Passage) -> tuple[str, str]:
    """Return where a passage stands, and its text."""
    return _place(passage), defused_evidence(passage.text)


def _place(passage: Passage) -> str:
    """Return title, headings, path and lines of a passage."""
    chunk = passage.chunk
    path = chunk.path if len(chunk.path) <= _PLACE else "\u2026" + chunk.path[1 - _PLACE :]
    first, last = Quote(
        chunk=chunk, start=passage.start, end=passage.start + len(passage.text.rstrip())
    ).lines
    lines = f"line {first}" if first == last else f"lines {first}-{last}"
    return f"{_headings(passage)} ({defused_line(path, _PLACE)}, {lines})".lstrip()


def _headings(passage: Passage) -> str:
    """Return the title and the innermost headings; a title that is a heading too is said once."""
    chunk = passage.chunk
    path = (
        chunk.heading_path[1:] if chunk.heading_path[:1] == (chunk.title,) else chunk.heading_path
    )
    parts = (chunk.title, *path[-_HEADINGS:])
    return " > ".join(defused_line(part, _PLACE) for part in parts if part.strip())


def unused(digests: Iterable[str], texts: Sequence[str]) -> str:
    """Return the first digest that occurs in none of the texts, in capitals neither."""
    return next(one for one in digests if not any(one in text.lower() for text in texts))


def _digest(texts: Sequence[str]) -> str:
    """Return a digest of texts that occurs in none of them."""
    whole = "".join(f"{len(text)}:{text}" for text in texts)
    tries = (f"{attempt} {whole}".encode() for attempt in count())
    return unused((blake2s(one, digest_size=4).hexdigest() for one in tries), texts)

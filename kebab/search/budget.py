"""What hits cost in tokens of a language model, estimated from above.

Tokenizers differ; none in use needs more than one token for three Latin characters of prose with
its punctuation and digits, or more than about one and a half for a character of other scripts.
"""

import re

from kebab.core.hit import Hit

_LATIN = re.compile("[\u0000-\u024f\u2010-\u2027]")
_LATIN_PER_TOKEN = 3.0
_OTHER_TOKENS = 1.5
_PERCENT_TOKENS = 6.0
_FRAME = 400
"""Names of fields, ids, numbers, versions and times of one hit in JSON."""
_HIGHLIGHT = 8


def text_cost(text: str) -> float:
    """Return the estimated tokens of a text inside a JSON string."""
    latin = len(_LATIN.findall(text))
    escapes = text.count("\n") + text.count('"') + text.count("\\") + text.count("\t")
    return (latin + escapes) / _LATIN_PER_TOKEN + (len(text) - latin) * _OTHER_TOKENS


def hit_cost(hit: Hit) -> int:
    """Return the estimated tokens of a hit in its JSON form."""
    chunk = hit.chunk
    other = len(chunk.path) - len(_LATIN.findall(chunk.path))
    said = (chunk.title, *chunk.heading_path, *chunk.tags, chunk.source, chunk.lang or "")
    # The path is there as it is, in the citation, and percent-quoted in the citation's address.
    cost = 3 * text_cost(chunk.path) + other * _PERCENT_TOKENS
    cost += sum(text_cost(text) + 1 for text in said) + text_cost(hit.snippet.text)
    return round(_FRAME + cost + _HIGHLIGHT * len(hit.snippet.highlights)) + 1

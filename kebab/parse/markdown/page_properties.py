"""Reads the properties at the head of a page.

Logseq and Dataview write them as lines `key:: value`. The lines stay part of the text, so their
words are found.
"""

import re

_PROPERTY = re.compile(r"(?:- )?(?P<key>[A-Za-z][\w -]{0,40}?)::(?:[ \t]+(?P<value>.*))?\Z")
_MAX_LINES = 100


def read_properties(body: str) -> dict[str, str]:
    """Return the properties of the first lines with text; the first of equal keys counts."""
    fields: dict[str, str] = {}
    for line in body.lstrip("\n").split("\n", _MAX_LINES)[:_MAX_LINES]:
        match = _PROPERTY.match(line.strip()[:1_000])
        if match is None:
            break
        fields.setdefault(match["key"].strip().lower(), (match["value"] or "").strip())
    return fields

"""No pattern of the code base takes quadratic time; planted ones are found.

The texts are short here. `python -m tools.pattern_growth` finds patterns that seldom begin, too.
"""

import re

import pytest

from tools.pattern_growth import SHORT_TEXTS, Site, find_sites, find_slow

CHARS = 1_000


def test_no_pattern_grows_faster_than_its_text():
    sites, _ = find_sites()
    assert {*SHORT_TEXTS} <= {site.place for site in sites}

    assert not (slow := [str(one) for one in find_slow(sites, CHARS)]), "\n".join(slow)


@pytest.mark.parametrize(
    ("pattern", "method"),
    [
        (r"\s+$", "finditer"),
        (r"<[^>]*>", "finditer"),
        (r"\w+@", "finditer"),
        (r"(?:a|a)*b", "match"),
        (r"[ \t]*#*[ \t]*;", "fullmatch"),
    ],
)
def test_a_slow_pattern_is_found(pattern, method):
    assert [*find_slow([Site("planted", re.compile(pattern), method)], 2 * CHARS, looks=1)]


@pytest.mark.parametrize(
    ("pattern", "method"), [(r"\s+$", "match"), (r"(?<!\s)\s++$", "finditer"), (r"\w+", "finditer")]
)
def test_a_linear_pattern_passes(pattern, method):
    assert not [*find_slow([Site("planted", re.compile(pattern), method)], 4 * CHARS)]

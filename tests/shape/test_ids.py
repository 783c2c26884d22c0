"""Ids of tests are the same in every process, so that workers agree, and short words.

pytest-xdist ends the run when two workers, each with an order of sets of its own, collect others.
"""

import re
import time

from tests.conftest import COLLECTED

LONGEST = 80
WORDS = re.compile(r"[A-Za-z0-9_.+: -]+")
"""Neither bytes nor paths."""

BAD = re.compile(r"0x[0-9a-f]{6}|\d:\d\d", re.IGNORECASE)
"""Addresses and times of the day."""


def find_unfit(ids):
    """Return the ids whose parameters are not a few short words, or depend on the time."""
    now = time.time()
    clocks = [time.strftime("%Y-%m-%d", time.gmtime(now + day * 86_400)) for day in (-1, 0, 1)]
    clocks.append(str(int(now))[:-5])
    parameters = ((one, one.partition("[")[2].removesuffix("]")) for one in ids if "[" in one)
    return [
        one
        for one, words in parameters
        if len(words) > LONGEST
        or not WORDS.fullmatch(words)
        or BAD.search(words)
        or any(clock in words for clock in clocks)
    ]


def test_ids_are_short_words_and_do_not_depend_on_the_time(pytestconfig):
    assert find_unfit(pytestconfig.stash[COLLECTED]) == []

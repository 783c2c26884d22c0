"""A pipe shows the convincing hits of a search, in few lines, and how to see the others."""

import re

import pytest

HIT = re.compile(r"^ ?\d+  0\.\d\d .*", re.MULTILINE)


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("query", ["restore a backup", "when to water tomatoes", "bread starter"])
def test_a_pipe_shows_the_first_hits_and_names_the_others(kebab, query):
    short, whole = kebab("search", query).out, kebab("search", query, "--all").out
    shown = HIT.findall(short)

    assert len(short.splitlines()) <= min(20, len(whole.splitlines()) - 1)
    assert HIT.findall(whole)[: len(shown)] == shown
    assert short.splitlines()[-1].endswith(" --all")

"""Tests of patterns that are compiled at their first use."""

import re

import pytest

from kebab.text.lazy_pattern import LazyPattern, compile_lazily


def test_a_lazy_pattern_has_the_methods_and_attributes_of_a_compiled_one():
    lazy = compile_lazily("(?P<word>a+)", re.IGNORECASE)
    compiled = re.compile("(?P<word>a+)", re.IGNORECASE)
    assert lazy.sub("-", "bAab") == compiled.sub("-", "bAab")
    assert [found["word"] for found in lazy.finditer("bAaba")] == ["Aa", "a"]
    assert (lazy.pattern, lazy.flags) == (compiled.pattern, compiled.flags)


def test_a_pattern_is_compiled_at_its_first_use():
    broken = LazyPattern("(", 0)
    with pytest.raises(re.error):
        broken.search("a")

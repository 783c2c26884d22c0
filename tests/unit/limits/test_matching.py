import re
import unicodedata

import pytest

from kebab.errors.catalog import InvalidInput
from kebab.limits.matching import LinePattern
from kebab.wire.fetch import GrepRequest


def compile_pattern(pattern, **options):
    return LinePattern(GrepRequest(pattern=pattern, **options))


@pytest.mark.parametrize(
    ("pattern", "options", "line", "found"),
    [
        ("a.c", {}, "abc", True),
        ("a.c", {"fixed": True}, "abc", False),
        ("a[0]", {"fixed": True}, "x a[0]", True),
        ("restic", {}, "Restic", False),
        ("restic", {"ignore_case": True}, "RESTIC", True),
        ("Straße", {"ignore_case": True}, "STRAßE", True),
        ("back", {"word": True}, "backup", False),
        ("back|up", {"word": True}, "backup up", True),
        ("백업", {"word": True}, "백업을 한다", False),
        (unicodedata.normalize("NFD", "백업"), {}, "백업을 한다", True),
        ("$x", {"fixed": True, "word": True}, "a $x b", True),
    ],
)
def test_lines_are_compared(pattern, options, line, found):
    assert bool([*compile_pattern(pattern, **options).find_lines(line)]) is found


TEXT = "\n\nfoo  bar\nfoo\n  bar\r\nK: \u212a \u017fun aa\n\n백업 foo\n\tend"


@pytest.mark.parametrize(
    "pattern",
    [
        *("foo", "fo{2} *bar", "(foo|bar)$", "^(?:foo)?$", "^", "b*", r"\bbar\b", r"\d|$"),
        *(r"foo\s+bar", r"\s+$", "[^x]+foo", r"[^\s]+", r"[\t-\r]b", "(?s)o.+b", "(?s:o.)b"),
        *(r"\Afoo", r"foo\Z", r"\B", "(?!\\s)$", "(?<!\\s)bar", "(?-m:^)foo", "o\nb", "o(?>o)"),
        *("(?i)sun|k:", "(?i:SUN)", "(a)\\1", "(f)?(?(1)oo|end)", "(?!)", "o++|a", "[^\nf]oo"),
    ],
)
def test_a_text_is_searched_as_each_of_its_lines(pattern):
    for text in (TEXT, f"{TEXT}\n", "", "\n", "\n\n"):
        lines = text.removesuffix("\n").split("\n") if text else []
        expected = [(n, line) for n, line in enumerate(lines) if re.search(pattern, line)]
        assert [*compile_pattern(pattern).find_lines(text)] == expected


@pytest.mark.parametrize(
    ("pattern", "cause"),
    [
        ("", "it is empty"),
        ("a(b", "no regular expression, missing ), unterminated subpattern at position 1"),
        ("a" + "{2}" * 2 + "[", "multiple repeat at position 4"),
        ("a{99999999999999999999}", "the pattern is too large"),
    ],
)
def test_what_is_no_pattern_is_refused_with_its_position(pattern, cause):
    with pytest.raises(InvalidInput) as caught:
        compile_pattern(pattern, word=True)

    assert caught.value.field == "$.pattern"
    assert cause in caught.value.cause


@pytest.mark.parametrize(
    ("pattern", "options", "data", "possible"),
    [
        ("cat", {}, b"a cat", True),
        ("cat", {}, b"a dog", False),
        ("cat", {}, "a cat".encode("utf-16"), True),
        ("cat", {}, "a cat".encode("cp037"), True),
        ("c.t", {}, b"a dog", True),
        ("c.t", {"fixed": True}, b"a cat", False),
        ("cat", {"ignore_case": True}, b"a CAT", True),
        ("고양이", {}, "고양이".encode("cp949"), True),
        ("고양이", {}, "고양이".encode("iso2022_kr"), True),
        ("sUnk", {"ignore_case": True}, "\u017fUn\u212a".encode(), True),
        ("Kelvin", {}, "\u212aelvin".encode(), True),
    ],
)
def test_a_file_without_the_bytes_of_a_plain_pattern_is_passed_over(
    pattern, options, data, possible
):
    assert compile_pattern(pattern, **options).can_match(data) is possible


def cut(pattern, line, most):
    return compile_pattern(pattern, max_columns=most).match((line, 1)).parts[0]


def test_all_matches_of_a_line_are_marked():
    part = cut("a+", "baa é a", 100)

    assert (part.text, part.column, part.is_cut) == ("baa é a", 2, False)
    assert [part.text[start:end] for start, end in part.highlights] == ["aa", "a"]


@pytest.mark.parametrize("before", [0, 990])
def test_a_long_line_is_cut_around_its_first_match(before):
    line = "x" * before + "needle" + "y" * (1000 - before)
    part = cut("needle", line, 60)

    assert (len(part.text), part.column, part.is_cut) == (60, before + 1, True)
    assert part.text in line
    assert [part.text[start:end] for start, end in part.highlights] == ["needle"]


def test_a_match_longer_than_the_limit_is_marked_as_far_as_it_is_shown():
    part = cut("x+", "x" * 500, 60)

    assert (part.text, part.highlights) == ("x" * 60, [(0, 60)])

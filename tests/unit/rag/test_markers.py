import pytest

from kebab.rag.markers import find_code_spans, find_fences, parse_markers

KNOWN = {1, 2, 3}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A [1].", "A [1]."),
        ("A [1, 2].", "A [1][2]."),
        ("A [1][2][2].", "A [1][2]."),
        ("A [#1] [ 2 ].", "A [1] [2]."),
        ("A [1-3].", "A [1][2][3]."),
        ("A [1–3].", "A [1][2][3]."),
        ("A [1 and 2; 3].", "A [1][2][3]."),
        ("A【1】.", "A[1]."),
        ("A［１］.", "A[1]."),
        ("A【1\u2020source】.", "A[1]."),
        ("A[^1] \\[2\\].", "A[1] [2]."),
        ("A [[1]].", "A [1]."),
        ("A [passage 1][Source 2].", "A [1][2]."),
        ("가 [출처 1].", "가 [1]."),
        ("A [1](https://a.b/c_(d)).", "A [1]."),
        ('A [1](a.md "t") b.', "A [1] b."),
        ("A `a[1]` [1].", "A `a[1]` [1]."),
        ("```\na[1]\n```\n[2]", "```\na[1]\n```\n[2]"),
        (
            "[2024-03-12] [10:30] [1.2] [x] [1990-1995]",
            "[2024-03-12] [10:30] [1.2] [x] [1990-1995]",
        ),
        ("see [the pump][1] and [a](b)", "see [the pump][1] and [a](b)"),
    ],
)
def test_markers_are_normalized_and_the_rest_is_unchanged(text, expected):
    assert parse_markers(text, KNOWN).text == expected


@pytest.mark.parametrize(
    ("text", "expected", "unknown"),
    [
        ("A [7].", "A.", [7]),
        ("A [7, 1].", "A [1].", [7]),
        ("A [1], [7], [2].", "A [1], [2].", [7]),
        ("[7] A.", "A.", [7]),
        ("- [7] A\n- B [0]", "- A\n- B", [7, 0]),
        ("A [2-5].", "A [2][3].", [4, 5]),
        ("A [1-99].", "A [1].", [99]),
        ("A [7](http://x).", "A.", [7]),
        ("A [[7]1] b [1[7]] ``[7]`", "A [ 1] b [1 ] `` `", [7, 7, 7]),
        ("A [99999999999999999999].", "A.", [999999999]),
    ],
)
def test_markers_of_unknown_passages_are_removed_and_reported(text, expected, unknown):
    marked = parse_markers(text, KNOWN)

    assert marked.text == expected
    assert [one.marker for one in marked.unknown] == unknown


@pytest.mark.parametrize(
    "unit", ["[", "[1", "[1,", "[1](", "[1](x(", "[ ", "[1] ", "[passage ", "【1\u2020", "[[1"]
)
def test_hostile_rows_are_parsed_completely(unit):
    text = unit * 8_000

    assert parse_markers(text, KNOWN).text.count("a") == text.count("a")


def list_code(text):
    return [text[start:end] for start, end in find_code_spans(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no code", []),
        ("run `a[1]` now", ["`a[1]`"]),
        ("``x ` y`` z", ["``x ` y``"]),
        ("a ` b", []),
        ("a ` b\n\nc ` d", []),
        ("```\na[1]\n```\nb", ["```\na[1]\n```"]),
        ("~~~ py\n```\n~~~\nb", ["~~~ py\n```\n~~~"]),
        ("  - x\n    ```sh\n    a\n    ```", ["    ```sh\n    a\n    ```"]),
        ("b\n```\nnever closed `", ["```\nnever closed `"]),
        ("a `\n```\nx\n```\n` b", ["```\nx\n```"]),
    ],
)
def test_code_is_inside_fences_and_backticks(text, expected):
    assert list_code(text) == expected


def find(text):
    marked = parse_markers(text, {1, 2})
    return marked.text, find_fences(marked)


@pytest.mark.parametrize(
    ("text", "content", "tail"),
    [
        ("```sh\nls\n```", "ls", ""),
        ("```\nls\n```\n[1]\nNext.", "ls", "\n[1]"),
        ("```\nls\n```\n[1] [2]\n", "ls", "\n[1] [2]"),
        ("```\nls\n```\n\n[1]", "ls", "\n\n[1]"),
        ("```\nls\n```\n[1] Next.", "ls", ""),
        ("   ~~~py\n   x\n   ~~~\n   [2]", "   x", "\n   [2]"),
        ("```sh\nls -l", "ls -l", ""),
        ("```sh\n```", "", ""),
        ("```", "", ""),
    ],
)
def test_a_block_has_its_content_and_the_markers_after_it(text, content, tail):
    plain, (fence,) = find(text)

    assert plain[slice(*fence.content)] == content
    assert plain[fence.end : fence.tail] == tail
    assert fence.is_closed is (text.count("`") + text.count("~") == 6)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It runs nightly (1).", "It runs nightly [1]."),
        ("It runs nightly (1, 2)", "It runs nightly [1][2]"),
        ("It runs (see passage 2) nightly.", "It runs [2] nightly."),
        ("It runs (passages 1 and 2).", "It runs [1][2]."),
        ("백업합니다(1).", "백업합니다[1]."),
        ("백업합니다(출처: 1).", "백업합니다[1]."),
    ],
)
def test_citations_in_round_brackets_are_rewritten(text, expected):
    assert parse_markers(text, {1, 2}).text == expected


@pytest.mark.parametrize(
    "text",
    [
        "(1) First. (2) Second.",
        "Version (9).",
        "It runs nightly [1] in rooms (2).",
        "Call f(1).",
        "An area of 3 km\u00b2.",
        "`kill (1)`",
        "It takes (1) hour.",
        "Use (passage 9).",
    ],
)
def test_other_numbers_in_round_brackets_stay(text):
    assert parse_markers(text, {1, 2}).text == text

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.rag.checking.markers import find_fences, parse_markers


def find(text):
    marked = parse_markers(text, {1, 2})
    return marked.text, find_fences(marked)


@pytest.mark.parametrize(
    ("text", "content", "info", "tail"),
    [
        ("```sh\nls\n```", "ls", "sh", ""),
        ("```\nls\n```\n[1]\nNext.", "ls", "", "\n[1]"),
        ("```\nls\n```\n[1] [2]\n", "ls", "", "\n[1] [2]"),
        ("```\nls\n```\n\n[1]", "ls", "", "\n\n[1]"),
        ("```\nls\n```\n[1] Next.", "ls", "", ""),
        ("   ~~~py\n   x\n   ~~~\n   [2]", "   x", "py", "\n   [2]"),
        ("```sh\nls -l", "ls -l", "sh", ""),
        ("```sh\n```", "", "sh", ""),
        ("```", "", "", ""),
    ],
)
def test_a_block_has_its_content_and_the_markers_after_it(text, content, info, tail):
    plain, (fence,) = find(text)

    assert plain[slice(*fence.content)] == content
    assert fence.info == info
    assert plain[fence.end : fence.tail] == tail
    assert fence.is_closed is (text.count("`") + text.count("~") == 6)


def test_markers_at_the_ends_of_its_lines_belong_to_a_block():
    plain, (fence,) = find("```sh\nls -l [1]\necho a[1]\n```")

    assert [(one.marker, plain[one.start : one.end]) for one in fence.inner] == [(1, " [1]")]


@given(
    st.lists(
        st.sampled_from(["```", "~~~", "sh", "\n", "x", "[1]", " [2]", "  ", ">", "\n\n"]),
        max_size=20,
    ).map("".join)
)
def test_blocks_are_in_order_and_contain_their_content(text):
    plain, fences = find(text)

    position = 0
    for one in fences:
        low, high = one.content
        assert position <= one.start <= low <= high <= one.end <= one.tail <= len(plain)
        position = one.tail

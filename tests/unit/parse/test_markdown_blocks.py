import pytest

from kebab.core.documents import BlockKind
from kebab.parse.markdown import find_blocks


def kinds(body):
    return [(span.kind.value, span.first, span.last) for span in find_blocks(body)]


def test_nested_structure_is_one_block():
    body = "- a\n  - b\n    > c\n    > # d\n- e\n\n# H\n"
    assert kinds(body) == [("list", 0, 6), ("heading", 6, 7)]


def test_a_fence_hides_headings():
    assert kinds("```\n# no\n```\n# yes\n") == [("code", 0, 3), ("heading", 3, 4)]


def test_an_open_fence_reaches_to_the_end():
    assert kinds("~~~\n# no\n\ntext") == [("code", 0, 4)]


def test_tables_are_known():
    assert kinds("|a|b|\n|-|-|\n|1|2|\n") == [("table", 0, 3)]


def test_link_definitions_are_text():
    assert kinds("[a]: x\n[b]: y\n") == [("paragraph", 0, 2)]


def test_setext_headings_have_levels():
    spans = list(find_blocks("a\nb\n===\n\nc\n---\n"))
    assert [(span.level, span.label) for span in spans] == [(1, "a b"), (2, "c")]
    assert {span.kind for span in spans} == {BlockKind.HEADING}


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "hostile",
    [
        ">" * 5_000 + " a",
        (">" * 200 + " a\n") * 500,
        "[" * 50_000,
        "".join("  " * depth + "- a\n" for depth in range(40)),
        "<!--" * 20_000 + "-->",
        "`a" * 50_000,
        "".join(f"[{n}]: http://x/{n}\n" for n in range(20_000)),
        "- item\n" * 20_000,
        "|a" * 2_000 + "|\n" + "|-" * 2_000 + "|\n" + ("|x" * 2_000 + "|\n") * 20,
    ],
    ids=lambda hostile: hostile[:8],
)
def test_hostile_structure_is_read_and_the_heading_behind_it_found(hostile):
    spans = list(find_blocks(f"{hostile}\n\n# Behind\n"))
    assert spans[-1].label == "Behind"


@pytest.mark.timeout(20)
def test_many_headings_with_links_are_read_in_one_pass():
    body = "".join(f"# [v{n}]\n" for n in range(2_000))
    body += "".join(f"[v{n}]: http://x\n" for n in range(2_000))
    assert [span.label for span in find_blocks(body)][:2] == ["v0", "v1"]


@pytest.mark.timeout(20)
def test_lists_nested_beyond_reason_are_one_block():
    assert kinds("* " * 3_000 + "a\n") == [("list", 0, 1)]

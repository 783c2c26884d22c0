import pytest

from kebab.core.documents import BlockKind
from kebab.parse import markdown
from kebab.parse.blocks import build_blocks
from kebab.parse.markdown import read_body


def kinds(body):
    return [(str(span.kind), span.first, span.last) for span in read_body(body).spans]


def find_texts(body):
    blocks = build_blocks(body, 0, read_body(body).spans)
    return [(block.kind.value, body[block.start : block.end]) for block in blocks]


def test_nested_structure_is_one_block():
    body = "- a\n  - b\n    > c\n    > # d\n- e\n\n# H\n"
    assert kinds(body) == [("list", 0, 6), ("heading", 6, 7)]


def test_a_fence_hides_headings():
    assert kinds("```\n# no\n```\n# yes\n") == [("code", 0, 3), ("heading", 3, 4)]


def test_an_open_fence_reaches_to_the_end():
    assert kinds("~~~\n# no\n\ntext") == [("code", 0, 4)]


def test_tables_are_known():
    assert kinds("|a|b|\n|-|-|\n|1|2|\n") == [("table", 0, 3)]


def test_link_definitions_are_no_blocks_and_become_paragraphs():
    body = "# A\n[a]: x\n[b]: y\n\ntext [a]\n"
    assert kinds(body) == [("heading", 0, 1), ("paragraph", 4, 5)]
    assert find_texts(body)[1] == ("paragraph", "[a]: x\n[b]: y")


def test_lines_are_counted_in_text_of_any_script():
    body = "# 한글\n\n가\n나\n\n- \U0001f600\n  - 다\n\n끝"
    assert find_texts(body) == [
        ("heading", "# 한글"),
        ("paragraph", "가\n나"),
        ("list", "- \U0001f600\n  - 다"),
        ("paragraph", "끝"),
    ]


def test_a_list_ends_before_the_indented_line_behind_it():
    assert find_texts("1. a\n\n  text\n") == [("list", "1. a"), ("paragraph", "  text")]


def test_a_list_ends_before_the_link_definition_behind_it():
    assert find_texts("- a\n\n- b\n\n[x]: y\n\nz\n")[:2] == [
        ("list", "- a\n\n- b"),
        ("paragraph", "[x]: y"),
    ]


def test_tabs_behind_a_fence_close_it():
    assert kinds("```\na\n```\t\n\n# H\n") == [("code", 0, 3), ("heading", 4, 5)]


def test_tabs_in_the_rule_of_a_table_are_space():
    assert kinds("| a |\tb |\n|--\t|--|\n| 1 | 2 |\n") == [("table", 0, 3)]


@pytest.mark.parametrize("text", ["Intro:", "두 줄\n머리말:"])
def test_a_table_right_below_text_is_a_block_of_its_own(text):
    lines = text.count("\n") + 1
    assert kinds(f"{text}\na | b\n--|--\n1 | 2\n") == [
        ("paragraph", 0, lines),
        ("table", lines, lines + 3),
    ]


def test_a_rule_with_another_number_of_columns_makes_no_table():
    assert kinds("text\na | b\n--|--|--\n1 | 2\n") == [("paragraph", 0, 4)]


def test_a_footnote_with_its_paragraphs_is_one_block():
    assert find_texts("[^1]: a\n\n    b\n\ntext[^1]\n") == [
        ("paragraph", "[^1]: a\n\n    b"),
        ("paragraph", "text[^1]"),
    ]


@pytest.mark.parametrize(
    ("body", "links"),
    [
        ("[[note]] [[a b|shown]] ![[embed.png]]", ["note", "a b", "embed.png"]),
        ("[[note#heading]] [[note#^block]] [[#here]]", ["note"]),
        ("| a |\n|---|\n| [[x\\|y]] |", ["x"]),
        (
            "[x](a%20b.md#part) ![](<c d.png>) [y][known]\n\n[known]: ../k.md",
            ["a b.md", "c d.png", "../k.md"],
        ),
        ("[x](https://a.b/c) <mailto:x@y.z> [y](#here) [z](//host/x)", []),
        ("[[1]](other.md) [[2]](https://a.b)", ["other.md"]),
        ("`[[code]]`\n\n```\n[[code]]\n```\n", []),
        ("- > [[deep]]", ["deep"]),
        ("[메모](%EB%A9%94%EB%AA%A8.md)", ["메모.md"]),
    ],
)
def test_links_to_other_files_are_found(body, links):
    assert read_body(body).links == links


class PanicException(BaseException):
    """What native code raises when it fails, by the same name."""


def test_a_panic_of_the_library_becomes_an_error_of_the_file(monkeypatch):
    class Reader:
        def events_with_range(self, body, *, merge_text):
            raise PanicException("index out of bounds")

    monkeypatch.setattr(markdown, "_get_reader", Reader)
    with pytest.raises(RuntimeError, match="out of bounds"):
        read_body("x")


def test_an_interrupt_is_no_failure_of_the_library(monkeypatch):
    class Reader:
        def events_with_range(self, body, *, merge_text):
            raise KeyboardInterrupt

    monkeypatch.setattr(markdown, "_get_reader", Reader)
    with pytest.raises(KeyboardInterrupt):
        read_body("x")


def test_setext_headings_have_levels():
    spans = read_body("a\nb\n===\n\nc\n---\n").spans
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
        "```" + "\t" * 50_000 + "x\n```",
        "|-\t" * 50_000,
        "a\n|a\n" + "|-\n" * 50_000,
        "[[" * 50_000,
        "> - " * 5_000 + "a",
        "|a" * 2_000 + "|\n" + "|-" * 2_000 + "|\n" + ("|x" * 2_000 + "|\n") * 20,
    ],
)
def test_hostile_structure_is_read_and_the_heading_behind_it_found(hostile):
    spans = read_body(f"{hostile}\n\n# Behind\n").spans
    assert spans[-1].label == "Behind"


@pytest.mark.timeout(20)
def test_many_headings_with_links_are_read_in_one_pass():
    body = "".join(f"# [v{n}]\n" for n in range(2_000))
    body += "".join(f"[v{n}]: http://x\n" for n in range(2_000))
    assert [span.label for span in read_body(body).spans][:2] == ["v0", "v1"]


@pytest.mark.timeout(20)
def test_lists_nested_beyond_reason_are_one_block():
    assert kinds("* " * 3_000 + "a\n") == [("list", 0, 1)]

import pytest

from kebab.rag.checking.citations import clean_response


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The pump [1].", "The pump [1]."),
        ("```markdown\nThe pump [1].\n```\n", "The pump [1]."),
        ("```\na\n```\nThe pump [1].\n```\nb\n```", "```\na\n```\nThe pump [1].\n```\nb\n```"),
        ("```python\na = 1\n```", "```python\na = 1\n```"),
        ("A [^1].\n\n[^1]: note.md\n    goes on\nB [1].", "A [^1].\n\nB [1]."),
        ("A [1].\n\n[1]: http://x.y\n[2]: foo", "A [1].\n\n"),
        ("A [1].\n\n```\n[^1]: x\n```", "A [1].\n\n```\n[^1]: x\n```"),
        ("[1]: The pump is blue.", "[1]: The pump is blue."),
        ("[key]: The pump [key] is blue.", "[key]: The pump [key] is blue."),
        ("A [1].\n\nSources:\n- [1] a.md\n- [2] b.md\n", "A [1]."),
        ("A [1].\n\n**Sources:** [1], [2]", "A [1]."),
        ("A [1].\n\nSources: Passage [1]", "A [1]."),
        ("A [1].\n\n## References\n\n1. a.md\n2. b.md", "A [1]."),
        ("가 [1].\n\n출처: [1]", "가 [1]."),
        ("あ [1]。\n参考文献：\n[1] a.md", "あ [1]。"),
        ("A [1].\n\nSources:", "A [1]."),
        ("A [1].\n\nSources:\n- coal [1]\n- gas [2]", "A [1].\n\nSources:\n- coal [1]\n- gas [2]"),
        (
            "A [1].\n\nSources:\n- [1] a.md\n\nThe end.",
            "A [1].\n\nSources:\n- [1] a.md\n\nThe end.",
        ),
        ("Sources of heat are two [1].", "Sources of heat are two [1]."),
        ("Sources: [1]", "Sources: [1]"),
        ("A [1].\n```\nSources: [1]\n```", "A [1].\n```\nSources: [1]\n```"),
    ],
)
def test_fences_footnotes_and_source_lists_are_removed_and_the_answer_stays(text, expected):
    assert clean_response(text) == expected


@pytest.mark.parametrize("unit", ["[1]: a\n", "sources:\n", "[^1]: ", "```\n", "    [^1]:\n"])
def test_hostile_text_is_cleaned_completely(unit):
    assert len(clean_response(unit * 20_000)) <= len(unit) * 20_000


def test_markers_on_the_closing_line_of_a_block_move_below_it():
    assert (
        clean_response("  ```\n  ls\n  ``` [1][2]\nNext.") == "  ```\n  ls\n  ```\n  [1][2]\nNext."
    )

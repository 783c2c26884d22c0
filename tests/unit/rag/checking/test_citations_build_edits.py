import pytest

from kebab.core.answers import Evidence
from kebab.rag.checking.citations import UNSUPPORTED_MARK, build_edits, clean_response
from kebab.rag.checking.claims import extract_claims, verify_claims
from kebab.rag.checking.markers import EditedText, parse_markers
from kebab.rag.checking.support import IndexedEvidence
from tests.fakes.evidence import stored

PUMP = "The heat pump was installed in Berlin. A start takes 45 minutes."
BACKUP = "Backups of all documents run every night with restic."
GROUNDS = {
    marker: IndexedEvidence(Evidence(marker=marker, chunk=stored(text, key=marker), text=text))
    for marker, text in enumerate((PUMP, BACKUP), 1)
}
TRUE = "A start takes 45 minutes [1]."


def apply_edits(text, *, mark=True):
    marked = parse_markers(text, GROUNDS)
    findings = verify_claims(extract_claims(marked), GROUNDS)
    return EditedText(marked.text, build_edits(marked, findings, mark=mark)).text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TRUE, TRUE),
        ("A start takes 50 minutes [1].", "A start takes 50 minutes [unsupported]."),
        ("A start takes 50 minutes[1].", "A start takes 50 minutes [unsupported]."),
        ("A start takes 50 minutes. [1]", "A start takes 50 minutes. [unsupported]"),
        ("A start takes 50 minutes [1] [2].", "A start takes 50 minutes [unsupported]."),
        ("[1] A start takes 50 minutes.", "A start takes 50 minutes [unsupported]."),
        ("[1] [2] A start takes 50 minutes.", "A start takes 50 minutes [unsupported]."),
        ("A start takes 50 minutes", "A start takes 50 minutes [unsupported]"),
        ("A start takes 45 minutes.", "A start takes 45 minutes [1]."),
        ("시동에는 45분이 걸린다。", "시동에는 45분이 걸린다 [1]。"),
        ("| A start takes 45 minutes |", "| A start takes 45 minutes [1] |"),
        ("A start takes (45 minutes).", "A start takes (45 minutes) [1]."),
        ("A start takes **45 minutes**.", "A start takes **45 minutes** [1]."),
        ("A start takes `45 minutes`.", "A start takes `45 minutes` [1]."),
        ('A start takes "45 minutes".', 'A start takes "45 minutes" [1].'),
        ('A start takes "45 minutes."', 'A start takes "45 minutes." [1]'),
        ("*A start takes 45 minutes.*", "*A start takes 45 minutes [1].*"),
        ("(A start takes 45 minutes.)", "(A start takes 45 minutes [1].)"),
        ("A start takes 45 minutes\u00a0!", "A start takes 45 minutes [1]\u00a0!"),
        ("A start takes 45 minutes...", "A start takes 45 minutes [1]..."),
        ("A start takes 45 minutes.\\", "A start takes 45 minutes [1].\\"),
        (
            "A start takes (50 minutes). A start takes (45 minutes).",
            "A start takes (50 minutes) [unsupported]. A start takes (45 minutes) [1].",
        ),
        ("A start takes 45 minutes [1][2].", "A start takes 45 minutes [1]."),
        ("[2][1] A start takes 45 minutes.", "[1] A start takes 45 minutes."),
        (f"## Pump [2]\n\n{TRUE}", f"## Pump\n\n{TRUE}"),
        (f"## Pump [1]\n\n{TRUE}", f"## Pump [1]\n\n{TRUE}"),
        (
            f"## Pump [2]\n\n{TRUE}\n\n## Time [2]\n\n{TRUE}",
            f"## Pump\n\n{TRUE}\n\n## Time\n\n{TRUE}",
        ),
        (f"{TRUE}\n\nIs it loud [2]?", f"{TRUE}\n\nIs it loud?"),
    ],
)
def test_supported_claims_get_markers_and_the_others_are_marked(text, expected):
    assert apply_edits(text) == expected


def test_without_marking_unsupported_claims_are_unchanged():
    assert (
        apply_edits("A start takes 50 minutes [1].", mark=False) == "A start takes 50 minutes [1]."
    )


def test_the_mark_cannot_be_read_as_a_marker():
    assert parse_markers(UNSUPPORTED_MARK, range(100)).text == UNSUPPORTED_MARK
    assert not parse_markers(UNSUPPORTED_MARK, range(100)).markers


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

import pytest

from kebab.rag.claims import clean_response, extract_claims, verify_claims, write_answer
from kebab.rag.markers import parse_markers
from kebab.rag.passages import Passage
from kebab.rag.prompt import Evidence
from tests.fakes.evidence import stored

PUMP = "The heat pump was installed in Berlin. A start takes 45 minutes."
BACKUP = "Backups of all documents run every night with restic."
GROUNDS = {
    marker: Passage(Evidence(marker=marker, chunk=stored(text, key=marker), text=text))
    for marker, text in enumerate((PUMP, BACKUP), 1)
}
TRUE = "A start takes 45 minutes [1]."


def write(text, *, mark=True):
    marked = parse_markers(text, GROUNDS)
    findings = verify_claims(extract_claims(marked), GROUNDS)
    return write_answer(marked, findings, mark=mark)[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TRUE, TRUE),
        ("A start takes 50 minutes [1].", "A start takes 50 minutes [unsupported]."),
        ("A start takes 50 minutes[1].", "A start takes 50 minutes [unsupported]."),
        ("A start takes 50 minutes. [1]", "A start takes 50 minutes [unsupported]."),
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
        ("[2][1] A start takes 45 minutes.", "A start takes 45 minutes [1]."),
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
    assert write(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The pump [1].", "The pump [1]."),
        ("```markdown\nThe pump [1].\n```\n", "The pump [1]."),
        ("```\na\n```\nThe pump [1].\n```\nb\n```", "```\na\n```\nThe pump [1].\n```\nb\n```"),
        ("```python\na = 1\n```", "```python\na = 1\n```"),
        ("[1]: The pump is blue.", "[1]: The pump is blue."),
        ("[key]: The pump [key] is blue.", "[key]: The pump [key] is blue."),
    ],
)
def test_an_enclosing_fence_is_removed_and_the_answer_stays(text, expected):
    assert clean_response(text) == expected


@pytest.mark.parametrize("unit", ["```\n"])
def test_hostile_text_is_cleaned_completely(unit):
    assert len(clean_response(unit * 20_000)) <= len(unit) * 20_000


def test_markers_on_the_closing_line_of_a_block_move_below_it():
    assert (
        clean_response("  ```\n  ls\n  ``` [1][2]\nNext.") == "  ```\n  ls\n  ```\n  [1][2]\nNext."
    )

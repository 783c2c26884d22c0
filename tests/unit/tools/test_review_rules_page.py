"""The page of the rules has every rule with its explanation and its example."""

import pytest

from kebab.parse.text.markdown_parts import read_markup
from kebab.review.rules import Rule
from kebab.review.selection import LINTERS, RULES
from tests.fakes.review import make_document
from tools.review_rules_page import render_rules_page

_ALL = (*RULES, *(one() for one in LINTERS))


@pytest.mark.parametrize("rule", _ALL, ids=lambda rule: rule.id)
def test_every_rule_has_a_row_and_a_section(rule: Rule) -> None:
    page = render_rules_page()
    assert f"| [`{rule.id}`](#{rule.id}) | {rule.severity} | `{rule.kind}` |" in page
    summary = (type(rule).__doc__ or "").split("\n\n")[0]
    assert f"\n## {rule.id}\n\n{summary}\n\n" in page
    assert rule.example in page


def test_every_example_is_a_code_block_of_its_own() -> None:
    lines = render_rules_page().split("\n")
    fences = [line for line in lines if line.startswith("````") or line == "```markdown"]
    assert len([line for line in fences if line.endswith("markdown")]) == len(_ALL)
    document = make_document("\n".join(lines), read_markup("\n".join(lines)))
    assert [one.text for one in document.markup.headings if one.level == 2] == [
        rule.id for rule in _ALL
    ]

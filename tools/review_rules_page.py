"""Renders the page of the rules of a review."""

from inspect import cleandoc

from kebab.review.rules import Rule
from kebab.review.selection import LINTERS, RULES


def render_rules_page() -> str:
    """Return the text of `review-rules.md`."""
    rules: list[type[Rule]] = [*(type(rule) for rule in RULES), *LINTERS]
    rows = [
        f"| [`{rule.id}`](#{rule.id}) | {rule.severity} | `{rule.kind}` |"
        f" {_list_paragraphs(rule)[0]} |\n"
        for rule in rules
    ]
    return (
        "# Rules of a review\n\nGenerated from `kebab/review`. The rules need no language"
        " model and no network; the last two run programs of the extra `lint`. The setting"
        " `review.disable` switches rules off.\n\n"
        "| rule | severity | kind | what it finds |\n| --- | --- | --- | --- |\n"
        f"{''.join(rows)}\n{chr(10).join(map(_render_rule, rules))}"
    )


def _list_paragraphs(rule: type[Rule]) -> list[str]:
    return [" ".join(one.split()) for one in cleandoc(rule.__doc__ or "").split("\n\n")]


def _render_rule(rule: type[Rule]) -> str:
    explanation = "\n\n".join(_list_paragraphs(rule))
    example = rule.example.removesuffix("\n")
    return f"## {rule.id}\n\n{explanation}\n\n```markdown\n{example}\n```\n"

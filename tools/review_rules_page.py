"""Renders the page of the rules of a review."""

import re

from kebab.review.rules.registry import LINTERS, RULES, describe_rule
from kebab.wire.review import ReviewRule

_LEAST_FENCE = 3


def render_rules_page() -> str:
    """Return the text of `review-rules.md`."""
    rules = [describe_rule(rule) for rule in (*RULES, *(one() for one in LINTERS))]
    rows = [
        f"| [`{rule.id}`](#{rule.id}) | {rule.severity} | `{rule.kind}` | {rule.summary} |\n"
        for rule in rules
    ]
    return (
        "# Rules of a review\n\nGenerated from `kebab/review/rules`. The rules need no language"
        " model and no network; the last two run programs of the extra `lint`. `kebab review"
        " --explain RULE` shows one, and the setting `review.disable` switches rules off.\n\n"
        "| rule | severity | kind | what it finds |\n| --- | --- | --- | --- |\n"
        f"{''.join(rows)}\n{chr(10).join(map(_render_rule, rules))}"
    )


def _render_rule(rule: ReviewRule) -> str:
    longest = max(map(len, re.findall("`+", rule.example)), default=0)
    fence = "`" * max(_LEAST_FENCE, longest + 1)
    example = rule.example.removesuffix("\n")
    return (
        f"## {rule.id}\n\n{rule.summary}\n\n{rule.explanation}\n\n"
        f"{fence}markdown\n{example}\n{fence}\n"
    )

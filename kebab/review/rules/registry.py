"""Lists the rules."""

from collections.abc import Collection

from kebab.review.rules.repeated_word import RepeatedWord
from kebab.review.rules.rule import Rule

RULES: tuple[Rule, ...] = (RepeatedWord(),)
"""Every rule, sorted by its id."""


def select_rules(named: Collection[str] | None, disabled: Collection[str]) -> tuple[Rule, ...]:
    """Return the rules with these names, or all that are not disabled when none is named."""
    if named is not None:
        return tuple(rule for rule in RULES if rule.id in named)
    return tuple(rule for rule in RULES if rule.id not in disabled)

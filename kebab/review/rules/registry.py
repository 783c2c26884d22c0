"""Lists the rules, selects and describes them."""

from collections.abc import Collection, Iterable, Iterator
from inspect import cleandoc

from kebab.core.spelling import find_near_name
from kebab.errors.catalog import ConfigInvalid, InvalidInput
from kebab.review.rules.links import (
    BrokenAnchor,
    BrokenLink,
    MissingImage,
    MissingNote,
    UndefinedReference,
)
from kebab.review.rules.prose import ForbiddenTerm, NearDuplicate, RepeatedWord, StaleDate, Todo
from kebab.review.rules.punctuation import (
    JapanesePunctuation,
    JapaneseSpacing,
    KoreanPunctuation,
    KoreanSpacing,
    MixedWidthBracket,
    UnbalancedBracket,
    UnclosedFence,
)
from kebab.review.rules.rule import Rule
from kebab.review.rules.structure import (
    DuplicateAnchor,
    DuplicateHeading,
    EmptySection,
    HeadingJump,
    MalformedFrontMatter,
    MissingFrontMatterField,
    UndefinedFootnote,
    UnusedFootnote,
)
from kebab.wire.review import ReviewRule

RULES: tuple[Rule, ...] = (
    BrokenAnchor(),
    BrokenLink(),
    DuplicateAnchor(),
    DuplicateHeading(),
    EmptySection(),
    ForbiddenTerm(),
    HeadingJump(),
    JapanesePunctuation(),
    JapaneseSpacing(),
    KoreanPunctuation(),
    KoreanSpacing(),
    MalformedFrontMatter(),
    MissingFrontMatterField(),
    MissingImage(),
    MissingNote(),
    MixedWidthBracket(),
    NearDuplicate(),
    RepeatedWord(),
    StaleDate(),
    Todo(),
    UnbalancedBracket(),
    UnclosedFence(),
    UndefinedFootnote(),
    UndefinedReference(),
    UnusedFootnote(),
)
"""Every rule, sorted by its id."""

_DISABLED = "review.disable"
_MOST_EDITS = 4


def select_rules(named: Collection[str] | None, disabled: Collection[str]) -> tuple[Rule, ...]:
    """Return the rules with these names, or all that are not disabled when none is named.

    Raises:
        InvalidInput: A name is no rule.
        ConfigInvalid: The settings disable something that is no rule.
    """
    for cause in _find_unknown(disabled):
        raise ConfigInvalid(path=_DISABLED, cause=cause)
    if named is None:
        return tuple(rule for rule in RULES if rule.id not in disabled)
    for cause in _find_unknown(named):
        raise InvalidInput(field="$.rules", cause=cause)
    return tuple(rule for rule in RULES if rule.id in named)


def describe_rule(rule: Rule, *, enabled: bool = True) -> ReviewRule:
    """Return the description of a rule; its docstring is the explanation."""
    summary, *explanation = cleandoc(type(rule).__doc__ or "").split("\n\n")
    return ReviewRule(
        id=rule.id,
        kind=rule.kind,
        severity=rule.severity,
        summary=_join_lines(summary),
        explanation="\n\n".join(map(_join_lines, explanation)),
        example=rule.example,
        enabled=enabled,
    )


def _find_unknown(names: Iterable[str]) -> Iterator[str]:
    """Yield what is wrong with each name that is no rule."""
    known = [rule.id for rule in RULES]
    for name in names:
        if name not in known:
            near = find_near_name(name, known, _MOST_EDITS)
            yield f"unknown rule `{name}`" + (f", did you mean `{near}`?" if near else "")


def _join_lines(text: str) -> str:
    return " ".join(text.split())

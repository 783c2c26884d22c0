"""Lists the rules, selects and describes them."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from inspect import cleandoc
from typing import get_type_hints

import msgspec

from kebab.config.settings import Plugins, Review
from kebab.core.queries import StoredChunk
from kebab.core.review import Finding, Surroundings
from kebab.core.spelling import find_likely_name
from kebab.errors.catalog import ConfigInvalid, InvalidInput
from kebab.limits.deadline import FileDeadline
from kebab.plugins import RULES as PLUGIN_RULES
from kebab.plugins import describe_fault, drop_output, inspect_plugins
from kebab.review.document import ReviewDocument
from kebab.review.rules.copies import NearDuplicate
from kebab.review.rules.dates import StaleDate
from kebab.review.rules.links import BrokenAnchor, BrokenLink, MissingImage, MissingNote
from kebab.review.rules.linters import Linter, Report, Rumdl, Typos
from kebab.review.rules.rule import Rule, build_finding
from kebab.wire.review import EditName, ReviewRule, SeverityName, SideName

RULES: tuple[Rule, ...] = (
    BrokenAnchor(),
    BrokenLink(),
    MissingImage(),
    MissingNote(),
    NearDuplicate(),
    StaleDate(),
)
"""Every rule of kebab, sorted by its id."""

LINTERS: tuple[type[Linter], ...] = (Rumdl, Typos)
"""The programs that check what kebab does not."""

_DISABLED = "review.disable"

_CHECK_S = 10.0
"""The limit of processor time for a rule of a plugin over one document."""


class PluginRule:
    """A rule of a plugin; its failure becomes a finding at the start of the document."""

    def __init__(self, label: str, rule: Rule) -> None:
        self._label, self._rule = label, rule
        self.__doc__ = type(rule).__doc__
        self.id, self.kind, self.severity = rule.id, rule.kind, rule.severity
        self.example = rule.example

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> list[Finding]:
        """Return the findings, or one that says why there are none."""
        end = len(document.text)
        try:
            with FileDeadline(_CHECK_S, "review").interrupt() as deadline:
                deadline.begin(self._label)
                with drop_output():
                    found = [
                        _copy_finding(
                            replace(one, reason=str(one.reason), kind=self.kind, rule_id=self.id)
                        )
                        for one in self._rule.check(document, surroundings)
                    ]
            if all(0 <= one.start <= one.end <= end for one in found):
                return found
            cause = "a finding is outside of the text"
        except (Exception, SystemExit) as fault:  # noqa: BLE001 - a plugin may raise anything
            cause = describe_fault(fault)
        return [build_finding(self, 0, min(1, end), f"the plugin {self._label} failed: {cause}")]


_NAMES = {
    "StoredChunk": StoredChunk,
    "SeverityName": SeverityName,
    "EditName": EditName,
    "SideName": SideName,
}
"""The types that `Finding` names and its module imports for checks only."""


def _copy_finding(found: Finding) -> Finding:
    """Return a finding whose fields have the declared types, because it is stored.

    Raises:
        ValidationError: A field has another type.
        TypeError: A field cannot be converted, or `cites` is no passage.
    """
    hints = get_type_hints(Finding, localns=_NAMES)
    cites = hints.pop("cites")
    if not isinstance(found.cites, cites):
        raise TypeError("`cites` is no passage")
    fields = {
        name: msgspec.convert(msgspec.to_builtins(getattr(found, name)), kind)
        for name, kind in hints.items()
    }
    return Finding(**fields, cites=found.cites)


def find_rules(
    settings: Plugins,
    files: Sequence[str] = (),
    *,
    is_given: bool = False,
    report: Report = lambda _: None,
) -> tuple[Rule, ...]:
    """Return the rules of kebab, the linters, and the rules of plugins that can be used.

    The linters check the files of a review, or the text that is given, and report what they do not
    check.
    """
    linters = [one(files, is_given=is_given, report=report) for one in LINTERS]
    known = {rule.id for rule in (*RULES, *linters)}
    found: list[Rule] = []
    for plugin, facts in inspect_plugins(settings, [], PLUGIN_RULES):
        if not known.intersection(facts.names):
            known.update(facts.names)
            try:
                with drop_output():
                    rule = plugin.load()
                    rule = rule() if isinstance(rule, type) else rule
                    found.append(PluginRule(plugin.label, rule))
            except (Exception, SystemExit) as fault:
                cause = f"{plugin.label}: {describe_fault(fault)}"
                raise ConfigInvalid(path="plugins.enabled", cause=cause) from fault
    return (*RULES, *linters, *found)


def select_rules(
    named: Collection[str] | None, disabled: Collection[str], rules: Sequence[Rule] = RULES
) -> tuple[Rule, ...]:
    """Return those of `rules` with these names, or all that are not disabled when none is named.

    Raises:
        InvalidInput: A name is no rule.
        ConfigInvalid: The settings disable something that is no rule.
    """
    ids = [rule.id for rule in rules]
    for cause in describe_unknown(disabled, ids):
        raise ConfigInvalid(path=_DISABLED, cause=cause)
    if named is None:
        return tuple(rule for rule in rules if rule.id not in disabled)
    for cause in describe_unknown(named, ids):
        raise InvalidInput(field="$.rules", cause=cause)
    return tuple(rule for rule in rules if rule.id in named)


_DEFAULTS = Review()


def describe_rule(rule: Rule, settings: Review = _DEFAULTS) -> ReviewRule:
    """Return the description of a rule under the settings; its docstring is the explanation."""
    summary, *explanation = cleandoc(rule.__doc__ or "").split("\n\n")
    return ReviewRule(
        id=rule.id,
        kind=rule.kind,
        severity=settings.severity.get(rule.id, settings.severity.get(rule.kind, rule.severity)),
        summary=_join_lines(summary),
        explanation="\n\n".join(map(_join_lines, explanation)),
        example=rule.example,
        enabled=rule.id not in settings.disable,
    )


def describe_unknown(names: Iterable[str], known: Collection[str]) -> Iterator[str]:
    """Yield what is wrong with each name that is no rule."""
    for name in names:
        if name not in known:
            near = find_likely_name(name, sorted(known))
            yield f"unknown rule `{name}`" + (f", did you mean `{near}`?" if near else "")


def _join_lines(text: str) -> str:
    return " ".join(text.split())

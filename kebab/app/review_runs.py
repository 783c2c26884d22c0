"""Lists and deletes the stored runs of reviews and translations, and describes the rules."""

import msgspec
from msgspec.structs import replace

from kebab.app.context import AppContext
from kebab.app.library import build_not_found
from kebab.app.timestamps import format_timestamp
from kebab.core.review_store import RunSummary
from kebab.core.spelling import find_near_name
from kebab.review.rules.registry import RULES, describe_rule
from kebab.wire.library import NotFound
from kebab.wire.review import TierName
from kebab.wire.review_runs import (
    ReviewRemoved,
    ReviewRmRequest,
    ReviewRules,
    ReviewRulesRequest,
    ReviewRun,
    ReviewRuns,
)

_MOST_EDITS = 4


class _RequestNames(msgspec.Struct):
    """The documents that the first request of a run names."""

    names: list[str] = []
    name: str | None = None


_DECODER = msgspec.json.Decoder(_RequestNames)


def list_runs(context: AppContext) -> ReviewRuns:
    """Return every run, the newest first."""
    with context.open_review_store() as store:
        runs = list(map(_to_run, store.list_runs()))
    return ReviewRuns(runs=runs, keep_days=context.settings.review.keep_days)


def _to_run(run: RunSummary) -> ReviewRun:
    request = _DECODER.decode(run.request)
    return ReviewRun(
        run_id=run.run_id,
        kind=run.kind,
        names=request.names or [request.name or ""],
        tier=msgspec.convert(run.tier, TierName),
        model=run.model,
        created_at=format_timestamp(run.created),
        updated_at=format_timestamp(run.updated),
        documents=run.documents,
        units_done=run.units_done,
        item_count=run.items,
        completed=run.completed,
    )


def remove_runs(context: AppContext, request: ReviewRmRequest) -> ReviewRemoved | NotFound:
    """Delete runs; when one does not exist, none is deleted.

    Raises:
        ReadOnly: Writing is switched off.
    """
    context.refuse_when_read_only("review --forget")
    names = list(dict.fromkeys(request.runs))
    with context.open_review_store() as store:
        for name in names:
            if store.load_run(name) is None:
                return build_not_found(name, "run")
        for name in names:
            store.delete_run(name)
    return ReviewRemoved(runs=names, found=True)


def list_rules(context: AppContext, request: ReviewRulesRequest) -> ReviewRules | NotFound:
    """Return the description of a rule, or of all."""
    disabled = context.settings.review.disable
    rules = [
        describe_rule(rule, enabled=rule.id not in disabled)
        for rule in RULES
        if request.rule in (None, rule.id)
    ]
    if request.rule is not None and not rules:
        missing = build_not_found(request.rule, "rule")
        near = find_near_name(request.rule, [rule.id for rule in RULES], _MOST_EDITS)
        candidates = [near] if near else []
        return replace(missing, error=replace(missing.error, candidates=candidates))
    return ReviewRules(rules=rules)

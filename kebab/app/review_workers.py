"""Builds the workers of a review: the rules, and the language model that the settings name."""

from kebab.app.context import AppContext
from kebab.app.language_models import build_language_model, resolve_endpoint
from kebab.app.related_passages import NO_INDEX, build_passage_finder
from kebab.app.review_surroundings import build_surroundings
from kebab.core.review_store import StoredRun
from kebab.errors.catalog import ModelProtocol
from kebab.errors.signal import Retry, Signal
from kebab.review.model_worker import ModelWorker
from kebab.review.rules.registry import select_rules
from kebab.review.rules_worker import RulesWorker
from kebab.review.worker import UnitWorker
from kebab.wire.review import ReviewRequest
from kebab.wire.search import DegradedChannel


def build_workers(
    context: AppContext, run: StoredRun, first: ReviewRequest
) -> tuple[UnitWorker, UnitWorker | None]:
    """Return the worker for the rules, and that for all units when the run asks a model.

    `first` is the request that began the run. Nothing is sent to the model.

    Raises:
        InvalidInput: A rule does not exist.
        ConfigInvalid: The settings name a rule that does not exist, or an invalid server.
    """
    surroundings = build_surroundings(context)
    rules = select_rules(first.rules, context.settings.review.disable)
    base = RulesWorker(rules, surroundings, first.imported or ())
    if run.model is None:
        return base, None
    full = ModelWorker(
        llm=build_language_model(context.settings, run.model, operation="review"),
        tier=first.tier,
        rules=base,
        glossary=surroundings.glossary,
        find_related=build_passage_finder(context) if first.tier == "deep" else None,
    )
    return base, full


def list_missing(full: UnitWorker | None) -> tuple[DegradedChannel, ...]:
    """Return what the worker for all units goes without."""
    is_alone = isinstance(full, ModelWorker) and full.tier == "deep" and full.find_related is None
    return (NO_INDEX,) if is_alone else ()


def describe_failure(failure: Signal, run_id: str | None) -> DegradedChannel:
    """Return that the language model was not available, and why.

    A run that is stored can be continued when the server is back.
    """
    hint = failure.format_hint()
    is_misplaced = isinstance(failure, ModelProtocol) and failure.setting
    if failure.meaning.retry is Retry.TRANSIENT and not is_misplaced and run_id:
        hint = f"kebab review --run-id {run_id}"
    return DegradedChannel(channel="llm", reason=failure.format_message(), hint=hint)


def describe_unanswered(count: int, operation: str, run_id: str | None) -> DegradedChannel:
    """Return that the language model did not answer about so many parts of the text."""
    parts = "1 part" if count == 1 else f"{count:,} parts"
    reason = f"the model gave no usable answer to {parts} of the text"
    hint = f"kebab {operation} --run-id {run_id}" if run_id else None
    return DegradedChannel(channel="llm", reason=reason, hint=hint)


def build_unusable_failure(context: AppContext, operation: str, count: int) -> Signal:
    """Return the failure of a model without a usable answer to so many parts of a text."""
    from kebab.llm.http_client import Call

    call = Call(endpoint=resolve_endpoint(context.settings.models.llm), operation=operation)
    asked = "the text" if count == 1 else f"{count} parts of the text in a row"
    cause = f"the model gave no usable answer to {asked}"
    return call.build_protocol_error(cause)

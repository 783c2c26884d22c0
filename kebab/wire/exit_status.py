"""Finds the exit status of a reply, so that every interface reports the same one."""

from collections.abc import Callable
from typing import Any

from kebab.errors.signal import Exit
from kebab.wire.record import Reply


def find_exit_status(reply: Reply) -> Exit:
    """Return the exit status of a result; an HTTP or MCP reply carries it as `exit_code`.

    `NO` is an honest negative result, such as a search without a convincing hit.
    """
    find = _STATUSES.get(str(reply.__struct_config__.tag))
    return find(reply) if find else Exit.DONE


def _find_answer_status(reply: Any) -> Exit:
    if reply.grounded:
        return Exit.DONE
    return Exit.INTERRUPTED if reply.refusal_reason == "llm_stream_aborted" else Exit.NO


def _find_review_status(reply: Any) -> Exit:
    """Return the status of a page: `NO` for a finding, or text that the model left unanswered.

    Text without an answer counts only when the model was asked for by name.
    """
    severities = ("error", "warning", "suggestion")
    failing = () if reply.fail_on == "never" else severities[: severities.index(reply.fail_on) + 1]
    left_out = reply.translation.findings if reply.translation else ()
    # Translated segments are no findings.
    found = [item for item in reply.items if item.k not in ("translation", "revision")]
    if reply.model_required and reply.unanswered_count:
        return Exit.NO
    return Exit.NO if any(item.s in failing for item in [*found, *left_out]) else Exit.DONE


def _unless(is_negative: Callable[[Any], object], status: Exit = Exit.NO) -> Callable[[Any], Exit]:
    """Return a function that gives `status` for a negative reply, else `DONE`."""
    return lambda reply: status if is_negative(reply) else Exit.DONE


# The names of the records, because importing their modules slows every command.
_STATUSES: dict[str, Callable[[Any], Exit]] = {
    "agent_items.v2": _find_review_status,
    "answer.v1": _find_answer_status,
    "doc_list.v1": _unless(lambda reply: reply.unmatched_filters),
    "doctor.v1": _unless(lambda reply: not reply.ok, Exit.UNUSABLE),
    "duplicates.v1": _unless(lambda reply: not reply.groups),
    "explanation.v1": _unless(lambda reply: not reply.found),
    "fetch_list.v1": _unless(lambda reply: reply.missing),
    "grep_response.v1": _unless(lambda reply: not reply.files),
    "ingest_report.v1": _unless(lambda reply: reply.cancelled, Exit.INTERRUPTED),
    "not_found.v1": lambda _: Exit.NO,
    "path_explanations.v1": _unless(lambda reply: reply.excluded),
    "rank_result.v1": _unless(lambda reply: not reply.items),
    "related_docs.v1": _unless(lambda reply: not reply.related),
    "search_response.v1": _unless(lambda reply: not (reply.hits and reply.convincing)),
}

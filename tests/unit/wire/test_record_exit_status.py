import pytest

from kebab.errors.signal import Exit
from kebab.wire.operations import OPERATIONS
from kebab.wire.record import _STATUSES, find_exit_status
from tests.fakes import replies

CASES = [
    (replies.response(replies.hit()), Exit.DONE),
    (replies.response(), Exit.NO),
    (replies.response(replies.hit(), convincing=False), Exit.NO),
    (replies.answer(), Exit.DONE),
    (replies.refusal("score_gate"), Exit.NO),
    (replies.refusal("unsupported_claims"), Exit.NO),
    (replies.refusal("llm_stream_aborted"), Exit.INTERRUPTED),
    (replies.related_docs(replies.related_doc()), Exit.DONE),
    (replies.related_docs(), Exit.NO),
    (replies.duplicates(replies.duplicate_group()), Exit.DONE),
    (replies.duplicates(), Exit.NO),
    (replies.grep_response(replies.grep_hit()), Exit.DONE),
    (replies.ingest_report(cancelled=True), Exit.INTERRUPTED),
    (replies.ingest_report(cancelled=False), Exit.DONE),
    (replies.explanation(found=True), Exit.DONE),
    (replies.explanation(found=False), Exit.NO),
    (replies.doctor(), Exit.DONE),
    (replies.doctor(replies.check(status="fail")), Exit.UNUSABLE),
    (replies.not_found(), Exit.NO),
    (replies.introspection(), Exit.DONE),
]


@pytest.mark.parametrize(("reply", "status"), CASES)
def test_a_reply_has_the_status_of_its_result(reply, status):
    assert find_exit_status(reply) is status


def test_every_name_is_that_of_a_reply():
    names = {
        reply.__struct_config__.tag
        for operation in OPERATIONS.values()
        for reply in operation.replies
    }

    assert set(_STATUSES) <= names

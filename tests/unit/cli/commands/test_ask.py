import pytest


def types(ran):
    return [one["type"] for one in ran.events]


@pytest.mark.parametrize(
    ("question", "before", "code", "status"),
    [
        ("broken", [], "store_corrupt", 3),
        ("cut", ["retrieval_done", "token"], "model_unreachable", 2),
        ("", [], "invalid_input", 2),
    ],
)
def test_a_fault_ends_the_stream_and_is_reported_too(kebab, question, before, code, status):
    ran = kebab("ask", question, "--stream")

    assert types(ran) == [*before, "error"]
    sent = ran.events[-1]
    assert (ran.status, sent["exit_code"], sent["error"]["code"]) == (status, status, code)
    assert sent["error"]["correlation_id"] == ran.fault["correlation_id"]

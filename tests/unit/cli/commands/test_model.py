import pytest


@pytest.mark.parametrize("what", ["pull", "use"])
@pytest.mark.parametrize(
    ("name", "status", "end"),
    [
        ("minilm", 0, "completed"),
        ("waiting", 0, "completed"),
        ("late", 0, "completed"),
        ("late-waiting", 130, "aborted"),
    ],
)
def test_only_work_that_is_cancelled_and_not_done_is_interrupted(kebab, what, name, status, end):
    ran = kebab("model", what, name, "--json")

    assert (ran.status, ran.reply["exit_code"]) == (status, status)
    assert ran.asides[-1]["kind"] == end

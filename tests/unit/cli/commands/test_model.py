import pytest

from kebab.wire.health import ModelPullRequest


@pytest.mark.parametrize("what", ["pull", "use"])
def test_a_download_reports_progress_and_a_result(kebab, opened, what):
    ran = kebab("model", what, "minilm", "--json")

    assert opened[0].asked == [("model_pull", ModelPullRequest(name="minilm"))]
    assert ran.reply["schema_version"] == "model_report.v1"
    assert [one["kind"] for one in ran.asides] == ["model_fetch", "completed"]


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

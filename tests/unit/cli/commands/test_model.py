import pytest

from kebab.wire.model import ModelPullRequest


def test_models_are_listed(kebab):
    assert kebab("model", "list", "--json").reply["configured"] == "auto"


@pytest.mark.parametrize("what", ["pull", "use"])
def test_a_fetch_tells_its_progress_and_reports(kebab, opened, what):
    ran = kebab("model", what, "minilm", "--json")

    assert opened[0].asked == [("model_pull", ModelPullRequest(name="minilm"))]
    assert ran.reply["schema_version"] == "model_report.v1"
    assert [one["kind"] for one in ran.asides] == ["model_fetch", "completed"]


def test_a_person_reads_how_much_is_fetched(kebab):
    assert kebab("model", "pull", "minilm").err == "fetching model 5 B of 10 B\n"

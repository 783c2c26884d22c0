import pytest

from kebab.cli.commands.review import OTHER_TASKS, find_contradictions


@pytest.mark.parametrize(
    "given",
    [
        {"names"},
        {"run_id"},
        {"run_id", "cursor", "json"},
        {"names", "apply", "yes", "json"},
        {"names", "deep", "tier", "model", "form"},
        {"explain", "json"},
    ],
    ids=lambda given: "+".join(sorted(given)),
)
def test_flags_that_belong_together_are_fine(given):
    assert list(find_contradictions(given)) == []


def test_contradictions_name_the_flags():
    assert list(find_contradictions({"names", "run_id"})) == [
        "`--run-id` and DOC, PATH or GLOB exclude each other"
    ]
    assert next(find_contradictions({"names", "stream", "json", "form"})) == (
        "`--stream` and `--format` exclude each other"
    )
    assert list(find_contradictions({"names", "yes"})) == ["`--yes` goes with `--apply`"]
    assert list(find_contradictions(set())) == ["give DOC, PATH or GLOB, or `--run-id`"]


@pytest.mark.parametrize("task", OTHER_TASKS)
def test_another_task_takes_no_other_flag(task):
    assert any("no other argument" in cause for cause in find_contradictions({task, "names"}))

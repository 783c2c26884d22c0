import pytest

from tools.other_systems.__main__ import Step, judge


@pytest.mark.parametrize(
    ("status", "output", "is_right"),
    [
        (0, "1 document", True),
        (2, "1 document", False),
        (0, "2 documents", False),
        (0, "1 document\nTraceback (most recent call last)", False),
        (0, "1 document: the other system has no `os.fork`", False),
    ],
)
def test_a_step_is_judged_by_its_status_and_its_text(status, output, is_right):
    assert bool(judge(Step(("rm", "a.md"), "1 document"), status, output)) is not is_right

import pytest


def test_limit_and_offset_reach_the_library(kebab, opened):
    kebab("list", "-n", "5", "--offset", "10")

    assert (opened[0].asked[0][1].limit, opened[0].asked[0][1].offset) == (5, 10)


@pytest.mark.parametrize("text", ["yesterdayish", ""])
def test_an_invalid_date_is_invalid_input(kebab, text):
    ran = kebab("list", "--since", text, "--json")

    assert (ran.status, ran.fault["code"]) == (2, "invalid_input")


def test_a_pipe_gets_fields_between_tabs(kebab):
    first, second = kebab("list").out.splitlines()

    assert first.split("\t")[2:5] == ["ops/backup.md", "Backups", "3"]
    assert second.endswith("\tchanged")

import pytest

from kebab.cli.channels import OutputChannel


def test_a_pipe_gets_fields_between_tabs(kebab):
    first, second = kebab("list").out.splitlines()

    assert first.split("\t")[2:5] == ["ops/backup.md", "Backups", "3"]
    assert second.endswith("\tchanged")


@pytest.mark.parametrize(
    ("at_terminal", "flags", "limit"),
    [(False, (), None), (False, ("-n", "7"), 7), (True, (), 100), (True, ("--all",), None),
     (True, ("--json",), None), (True, ("-n", "7"), 7)],
)  # fmt: skip
def test_a_terminal_gets_a_hundred_documents_and_a_pipe_all_unless_told_otherwise(
    kebab, opened, monkeypatch, at_terminal, flags, limit
):
    monkeypatch.setattr(OutputChannel, "is_terminal", at_terminal)
    kebab("list", *flags)

    assert opened[0].asked[0][1].limit == limit

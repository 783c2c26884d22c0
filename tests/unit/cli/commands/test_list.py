import pytest

from kebab.cli.channels import OutputChannel


def test_a_pipe_gets_fields_between_tabs(kebab):
    first, second = kebab("list").out.splitlines()

    assert first.split("\t")[2:5] == ["ops/backup.md", "Backups", "3"]
    assert second.endswith("\tchanged")


@pytest.mark.parametrize(
    ("flags", "limit"), [((), None), (("--all",), None), (("--json",), None), (("-n", "7"), 7)]
)
def test_without_a_limit_a_pipe_gets_every_document(kebab, opened, flags, limit):
    kebab("list", *flags)

    assert opened[0].asked[0][1].limit == limit


@pytest.mark.parametrize(
    ("flags", "limit"), [((), 100), (("--all",), None), (("--json",), None), (("-n", "7"), 7)]
)
def test_a_terminal_gets_a_hundred_documents_unless_told_otherwise(
    kebab, opened, monkeypatch, flags, limit
):
    monkeypatch.setattr(OutputChannel, "is_terminal", True)
    kebab("list", *flags)

    assert opened[0].asked[0][1].limit == limit

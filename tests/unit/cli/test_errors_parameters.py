import click
import pytest

from kebab.cli.errors import find_parameter_name

PARAMS = (
    click.Option(["-n", "--limit"]),
    click.Option(["--path", "path_glob"]),
    click.Option(["--tag"], multiple=True),
    click.Argument(["question"], nargs=-1, metavar="[QUESTION…]"),
    click.Argument(["start"]),
)


@pytest.mark.parametrize(
    ("field", "typed"),
    [
        ("$.limit", "--limit"),
        ("$.path_glob", "--path"),
        ("$.tag[0]", "--tag"),
        ("$.question", "QUESTION"),
        ("$.start", "START"),
        ("$.mode", "$.mode"),
        ("$", "$"),
        ("queries.jsonl:3", "queries.jsonl:3"),
    ],
)
def test_a_field_is_replaced_by_its_flag_if_there_is_one(field, typed):
    assert find_parameter_name(field, PARAMS) == typed

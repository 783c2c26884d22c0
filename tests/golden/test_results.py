"""What every command gives, held to a file: status and both channels."""

import difflib

import pytest

from kebab.cli.commands.schema import iterate_commands
from tests.contract.conftest import check_channel
from tests.golden.case import KEPT
from tests.golden.cases import LINES, list_cases
from tests.golden.stage import format_observation

CASES = list_cases()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_command_gives_what_is_kept(case, stage, update):
    ran, observed = stage.observe(case)

    for channel in (ran.out, ran.err):
        check_channel(channel, status=ran.status, command=case.command)
    if update:
        case.path.parent.mkdir(parents=True, exist_ok=True)
        case.path.write_text(format_observation(observed), encoding="utf-8")
    assert case.path.exists(), (
        f"nothing is kept, write it with `--update`: {format_observation(observed)}"
    )
    kept = case.path.read_text(encoding="utf-8")
    if format_observation(observed) != kept:
        pytest.fail(
            format_difference(kept, format_observation(observed), case.path.relative_to(KEPT)),
            pytrace=False,
        )


def test_nothing_is_kept_that_no_case_gives(update):
    orphans = {*KEPT.rglob("*.json")} - {case.path for case in CASES}
    if update:
        for orphan in orphans:
            orphan.unlink()
    else:
        assert not sorted(str(orphan.relative_to(KEPT)) for orphan in orphans)


def test_every_command_has_its_cases():
    assert set(LINES) == {path for path, _ in iterate_commands()}


def format_difference(kept, observed, name):
    """Return what differs, line by line."""
    before, after = kept.splitlines(keepends=True), observed.splitlines(keepends=True)
    return "".join(difflib.unified_diff(before, after, f"kept/{name}", f"observed/{name}"))

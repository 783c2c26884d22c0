import pytest


def test_groups_are_shown_and_progress_ends_once(kebab):
    ran = kebab("dupes", "--json")

    assert (ran.status, ran.reply["schema_version"]) == (0, "duplicates.v1")
    assert [one["kind"] for one in ran.asides] == ["heartbeat", "completed"]
    assert ran.asides[-1]["exit_code"] == 0


@pytest.mark.parametrize(
    "flags",
    [
        ["--threshold", "0.2"],
        ["--threshold", "much"],
        ["--exact", "--threshold", "0.9"],
        ["-n", "0"],
    ],
)
def test_wrong_flags_are_refused(kebab, flags):
    ran = kebab("dupes", *flags, "--json")

    assert (ran.status, ran.out, ran.fault["code"]) == (2, "", "usage_invalid")

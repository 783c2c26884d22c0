def test_groups_are_shown_and_progress_ends_once(kebab):
    ran = kebab("dupes", "--json")

    assert (ran.status, ran.reply["schema_version"]) == (0, "duplicates.v1")
    assert [one["kind"] for one in ran.asides] == ["heartbeat", "completed"]
    assert ran.asides[-1]["exit_code"] == 0

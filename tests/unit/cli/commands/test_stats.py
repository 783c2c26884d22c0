def test_the_work_is_counted_by_tier(kebab):
    ran = kebab("stats", "--json")

    assert (ran.status, ran.reply["schema_version"], ran.reply["since"]) == (0, "stats.v1", None)
    assert [one["tier"] for one in ran.reply["tiers"]] == ["quick", "micro-check"]


def test_no_work_in_a_period_is_said_and_no_failure(kebab):
    ran = kebab("stats", "--since", "2025-01-31T12:00:00Z")
    assert (ran.status, ran.out) == (0, "")

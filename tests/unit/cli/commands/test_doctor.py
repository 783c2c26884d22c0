from kebab.cli.channels import OutputChannel
from kebab.wire.health import RepairRequest


def test_each_check_is_shown_as_it_ends(kebab, home, monkeypatch):
    shown = []
    monkeypatch.setattr(
        OutputChannel, "write", lambda _, text: shown.append(text.split()[:2] or [""])
    )

    kebab("doctor", "--data-dir", "sick")

    assert [words[0] for words in shown] == ["kebab", "✓", "✗", "1"]


def test_a_repair_needs_a_yes_only_if_there_is_something_to_repair(kebab, opened):
    well, sick = kebab("doctor", "--fix"), kebab("doctor", "--fix", "--data-dir", "sick")

    assert (well.status, sick.status) == (0, 2)
    assert "nothing to repair" in well.out
    assert "confirmation_required" in sick.err
    asked = [request for one in opened for _, request in one.asked]
    assert all(request.dry_run for request in asked)


def test_a_repair_runs_with_yes(kebab, opened):
    ran = kebab("doctor", "--fix", "--yes", "--source", "a", "--data-dir", "sick", "--json")

    assert opened[0].asked == [("repair", RepairRequest(sources=["a"]))]
    assert [one["outcome"] for one in ran.reply["repairs"]] == ["repaired"]

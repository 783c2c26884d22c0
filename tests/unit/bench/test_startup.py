from kebab.bench import startup


def test_help_version_and_schema_are_compared_with_the_import_of_click(make_rig):
    rig = make_rig(runs=3)

    startup.measure(rig)

    figures = {one.name: one for one in rig.ledger.figures}
    assert set(figures) == {
        "startup.python",
        "startup.import_click",
        "startup.help",
        "startup.version",
        "startup.schema",
    }
    for name in ("startup.help", "startup.version", "startup.schema"):
        assert (figures[name].yardstick, figures[name].ratio) == ("import click", 1.0)
        assert (figures[name].runs, figures[name].within) == (3, True)


def test_help_that_fails_is_a_gap_and_not_a_figure(make_rig):
    rig = make_rig(broken="--help")

    startup.measure(rig)

    assert [gap.name for gap in rig.ledger.gaps if gap.failed] == ["startup.help"]

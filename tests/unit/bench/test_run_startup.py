from kebab.bench.run import measure_startup


def test_help_version_and_schema_are_compared_with_the_import_of_click(make_context):
    context = make_context(runs=3)

    measure_startup(context)

    figures = {one.name: one for one in context.results.figures}
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


def test_help_that_fails_is_a_gap_and_not_a_figure(make_context):
    context = make_context(broken="--help")

    measure_startup(context)

    assert [gap.name for gap in context.results.gaps if gap.failed] == ["startup.help"]

from kebab.bench.sandbox import Outcome
from tools.bench import imports


def test_every_command_has_a_profile(make_context):
    context = make_context()

    imports.measure_imports(context)

    assert {"kebab --help", "kebab search backup"} <= {
        one.command for one in context.results.imports
    }
    for one in context.results.imports:
        assert (one.modules, one.milliseconds) == (2, 1.75)
        assert [module.name for module in one.heaviest] == ["click", "typing"]


def test_a_command_that_reports_nothing_is_a_failure(make_context):
    context = make_context(broken="list")

    imports.measure_imports(context)

    assert [(gap.name, gap.failed) for gap in context.results.gaps] == [("imports.list", True)]


def test_only_whole_lines_report_an_import():
    outcome = Outcome(
        status=0, seconds=1, err=b"warning: import 3 files\nimport 12 a.b\nimport x\n"
    )

    assert [(one.name, one.milliseconds) for one in imports.parse_imports(outcome)] == [
        ("a.b", 0.012)
    ]


def test_real_processes_report_their_imports(tmp_path):
    from kebab.bench.sandbox import Sandbox

    sandbox = Sandbox(tmp_path / "sandbox", tmp_path / "models")

    found = list(imports.parse_imports(imports.run_profiled(sandbox, ("--version",))))

    assert "kebab.cli.main" in {one.name for one in found}

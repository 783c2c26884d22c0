from kebab.bench import imports
from kebab.bench.process import Outcome


def test_every_command_has_a_profile(make_rig):
    rig = make_rig()

    imports.measure(rig)

    assert {"kebab --help", "kebab search backup"} <= {one.command for one in rig.ledger.imports}
    for one in rig.ledger.imports:
        assert (one.modules, one.milliseconds) == (2, 1.75)
        assert [module.name for module in one.heaviest] == ["click", "typing"]


def test_a_command_that_tells_nothing_is_a_failure(make_rig):
    rig = make_rig(broken="list")

    imports.measure(rig)

    assert [(gap.name, gap.failed) for gap in rig.ledger.gaps] == [("imports.list", True)]


def test_only_whole_lines_tell_of_an_import():
    outcome = Outcome(
        status=0, seconds=1, err=b"warning: import 3 files\nimport 12 a.b\nimport x\n"
    )

    assert [(one.name, one.milliseconds) for one in imports.modules(outcome)] == [("a.b", 0.012)]


def test_real_processes_tell_of_their_imports(tmp_path):
    from kebab.bench.bed import Bed

    bed = Bed(tmp_path / "bed", tmp_path / "models")

    found = list(imports.modules(imports.told(bed, ("--version",))))

    assert "kebab.cli.main" in {one.name for one in found}

from kebab.bench import upkeep
from kebab.bench.grown import grow


def test_what_is_kept_up_is_measured_at_its_size(make_rig):
    rig = make_rig()
    grown = grow(rig, 20)

    upkeep.measure(rig, grown)

    figures = {one.name: one for one in rig.ledger.figures}
    assert set(figures) == {"growth.noop", "growth.schema", "growth.doctor", "growth.reset"}
    assert {one.chunks for one in figures.values()} == {grown.chunks}


def test_a_reset_that_fails_is_a_gap(make_rig):
    rig = make_rig(broken="reset")

    upkeep.measure(rig, grow(rig, 20))

    assert [(gap.name, gap.failed) for gap in rig.ledger.gaps] == [("growth.reset", True)]

from tools.damage.kinds import KINDS
from tools.damage.run import choose_short


def test_the_short_form_has_one_kind_of_each_code_path():
    short = list(choose_short(KINDS))

    assert {kind.path for kind in short} == {kind.path for kind in KINDS}
    assert len({kind.name for kind in KINDS}) == len(KINDS) >= 60

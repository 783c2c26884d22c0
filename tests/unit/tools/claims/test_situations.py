import pytest

from tools.claims.run import run_situation
from tools.claims.situations import SITUATIONS


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda situation: situation.__name__)
def test_every_statement_is_true_and_no_true_one_is_withheld(situation, tmp_path):
    statements = run_situation(situation, "english", seed=5, folder=tmp_path)

    assert statements
    assert [one for one in statements if one.is_false or one.is_withheld] == []

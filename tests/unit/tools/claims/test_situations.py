import subprocess

import pytest

from tests.fakes.console import enter_environment, run
from tools.claims.run import run_situation
from tools.claims.situations import SITUATIONS


def run_here(arguments, environ, folder):
    """Run a command line in this process, to save time."""
    with enter_environment(environ, folder):
        ran = run(*arguments)
    return subprocess.CompletedProcess(arguments, ran.status, ran.out, ran.err)


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda situation: situation.__name__)
def test_every_statement_is_true_and_no_true_one_is_withheld(situation, tmp_path):
    statements = run_situation(situation, "english", seed=5, folder=tmp_path, runner=run_here)

    assert statements
    assert [one for one in statements if one.is_false or one.is_withheld] == []

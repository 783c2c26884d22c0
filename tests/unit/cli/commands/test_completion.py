import shutil
import subprocess

import pytest

from kebab.cli.commands.completion import SHELLS

VARIABLE = "_KEBAB_COMPLETE"


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_of_a_shell_calls_kebab_back(kebab, shell):
    script = kebab("completion", shell).out

    assert f"{VARIABLE}={shell}_complete" in script


def test_bash_accepts_its_script(kebab):
    script = kebab("completion", "bash").out
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("this machine has no bash")

    done = subprocess.run(
        [bash, "-c", script + "\ncomplete -p kebab"], capture_output=True, check=False
    )

    assert (done.returncode, done.stderr) == (0, b"")
    assert b"_kebab_completion" in done.stdout

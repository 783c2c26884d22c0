import shutil
import subprocess

import pytest


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

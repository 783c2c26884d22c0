import subprocess
import sys

import pytest

from kebab.text.tokenizer import stem_word


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("connections", "connect"),
        ("go", "go"),
        ("mp3s", "mp3s"),
        ("работает", "работа"),
        ("서울", "서울"),
        ("x" * 60, "x" * 60),
    ],
)
def test_the_script_of_a_word_chooses_its_rules(word, expected):
    assert stem_word(word) == expected


def test_stemming_is_loaded_with_the_first_word_only():
    probe = "import sys, kebab.text.tokenizer; print('py_rust_stemmers' in sys.modules)"

    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "False"

import tomllib

from tests.shape.tree import list_modules
from tools.mutate import EQUIVALENTS, find_own_tests

ENTRIES = tomllib.loads(EQUIVALENTS.read_text(encoding="utf-8")).get("mutant", [])


def test_a_module_is_run_against_its_own_tests():
    assert find_own_tests("kebab/evals/golden.py") == [
        "tests/unit/evals/test_golden.py",
        "tests/unit/evals/test_golden_files.py",
        "tests/unit/evals/test_golden_question.py",
    ]


def test_equivalent_mutants_give_a_reason_and_stand_in_the_code():
    texts = {str(module): " ".join(module.text.split()) for module in list_modules("kebab")}

    assert not [one for one in ENTRIES if len(one["reason"].split()) < 4]
    assert not [one for one in ENTRIES if one["before"] not in texts.get(one["file"], "")]

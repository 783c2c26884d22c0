import tomllib

from tests.shape.tree import modules
from tools.mutate import EQUIVALENTS, own_tests

ENTRIES = tomllib.loads(EQUIVALENTS.read_text(encoding="utf-8")).get("mutant", [])


def test_a_module_is_run_against_its_own_tests():
    assert own_tests("kebab/search/budget.py") == ["tests/unit/search/test_budget.py"]


def test_equivalent_mutants_give_a_reason_and_stand_in_the_code():
    texts = [" ".join(module.text.split()) for module in modules("kebab")]

    assert not [one for one in ENTRIES if len(one["reason"].split()) < 4]
    assert not [one for one in ENTRIES if not any(one["before"] in text for text in texts)]

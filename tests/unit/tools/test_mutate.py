import tomllib
from collections import Counter

from tests.shape.tree import list_modules
from tools.mutate import EQUIVALENTS, PACKAGES, find_own_tests, sample_mutants
from tools.mutation_points import Mutant

ENTRIES = tomllib.loads(EQUIVALENTS.read_text(encoding="utf-8")).get("mutant", [])


def test_a_module_is_run_against_its_own_tests():
    assert find_own_tests("kebab/evals/metrics.py") == [
        "tests/unit/evals/test_metrics_bootstrap.py",
        "tests/unit/evals/test_metrics_figures.py",
        "tests/unit/evals/test_metrics_golden.py",
        "tests/unit/evals/test_metrics_golden_files.py",
        "tests/unit/evals/test_metrics_golden_question.py",
        "tests/unit/evals/test_metrics_judge.py",
    ]


def test_every_package_is_sampled():
    folders = {str(module).split("/")[1] for module in list_modules("kebab")}

    assert set(PACKAGES) == {name for name in folders if not name.endswith(".py")}


def test_a_sample_takes_from_each_package_by_its_lines():
    mutants = {
        package: [Mutant(f"kebab/{package}/a.py", "not", line, 0, 1, "") for line in range(50)]
        for package in ("large", "small", "tiny")
    }
    lines = {"large": 6000, "small": 3000, "tiny": 10}

    def count_by_file(seed):
        sample = sample_mutants(mutants, lines, 30, seed)
        assert len(set(sample)) == len(sample)
        return sample, Counter(one.file for one in sample)

    sample, counts = count_by_file(1)
    assert counts == {"kebab/large/a.py": 20, "kebab/small/a.py": 10, "kebab/tiny/a.py": 1}
    assert count_by_file(1)[0] == sample != count_by_file(2)[0]


def test_a_package_without_mutants_gives_none():
    assert sample_mutants({"empty": []}, {"empty": 5}, 10, 1) == []


def test_equivalent_mutants_give_a_reason_and_stand_in_the_code():
    texts = {str(module): " ".join(module.text.split()) for module in list_modules("kebab")}

    assert not [one for one in ENTRIES if len(one["reason"].split()) < 4]
    assert not [one for one in ENTRIES if one["before"] not in texts.get(one["file"], "")]

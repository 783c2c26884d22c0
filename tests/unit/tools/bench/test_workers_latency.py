import json

from kebab.bench.sandbox import Sandbox, build_module_command, write_notes
from kebab.embed.registry import MINILM
from tools.bench.synthetic_index import index_with_synthetic_vectors
from tools.bench.workers import time_calls


def test_the_first_few_do_not_count():
    assert len(time_calls(str.upper, ["a"] * 8)) == 3


def test_every_question_is_timed_beside_the_word_index_alone(tmp_path):
    sandbox = Sandbox(tmp_path / "sandbox", tmp_path / "models")
    index_with_synthetic_vectors(sandbox, write_notes(tmp_path / "files", 10, 1), MINILM.version)

    outcome = sandbox.run(
        build_module_command("tools.bench.workers", "latency", "lexical", "3", "1")
    )

    told = json.loads(outcome.out)
    assert {name: len(times) for name, times in told.items()} == {
        "first": 100,
        "search": 3,
        "words": 3,
    }

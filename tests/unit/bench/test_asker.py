import json

from kebab.bench.asker import timed
from kebab.bench.bed import Bed, module
from kebab.bench.corpus import write_notes
from kebab.bench.grown import grown
from kebab.embed.registry import MINILM


def test_the_first_few_do_not_count():
    assert len(timed(str.upper, ["a"] * 8)) == 3


def test_every_question_is_timed_beside_the_word_index_alone(tmp_path):
    bed = Bed(tmp_path / "bed", tmp_path / "models")
    grown(bed, write_notes(tmp_path / "files", 10, 1), MINILM.version)

    outcome = bed.run(module("kebab.bench.asker", "lexical", "3", "1"))

    told = json.loads(outcome.out)
    assert {name: len(times) for name, times in told.items()} == {
        "first": 100,
        "search": 3,
        "words": 3,
    }

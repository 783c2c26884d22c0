from kebab.bench.grown import grow, version
from kebab.embed.registry import MINILM
from tests.fakes.runner import VERSION


def test_a_size_has_a_knowledge_base_of_its_own(make_rig):
    rig = make_rig()

    small, large = grow(rig, 20), grow(rig, 200)

    assert small.bed.data != large.bed.data
    assert (small.fault, large.fault) == (None, None)
    assert small.corpus.size < large.corpus.size


def test_vectors_are_said_to_be_those_of_the_model_that_is_installed(make_rig, models):
    assert version(make_rig(models=models)) == VERSION
    assert version(make_rig()) == MINILM.version


def test_a_run_that_leaves_files_out_is_a_fault(make_rig):
    rig = make_rig()
    grow(rig, 20)

    assert "0 were new" in (grow(rig, 20).fault or "")

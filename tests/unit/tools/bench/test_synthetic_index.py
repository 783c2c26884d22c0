from kebab.embed.registry import MINILM
from tests.fakes.runner import VERSION
from tools.bench.synthetic_index import build_synthetic_index, choose_version


def test_a_size_has_a_knowledge_base_of_its_own(make_context):
    context = make_context()

    small, large = build_synthetic_index(context, 20), build_synthetic_index(context, 200)

    assert small.sandbox.data != large.sandbox.data
    assert (small.fault, large.fault) == (None, None)
    assert small.corpus.size < large.corpus.size


def test_vectors_are_labelled_as_those_of_the_model_that_is_installed(make_context, models):
    assert choose_version(make_context(models=models)) == VERSION
    assert choose_version(make_context()) == MINILM.version


def test_a_run_that_leaves_files_out_is_a_fault(make_context):
    context = make_context()
    build_synthetic_index(context, 20)

    assert "0 were new" in (build_synthetic_index(context, 20).fault or "")

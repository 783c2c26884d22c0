import pytest

from kebab.embed.registry import MINILM
from tests.fakes.runner import VERSION
from tools.bench.synthetic_index import build_synthetic_index, choose_version, parse_sizes


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


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("1k", (1_000,)),
        ("100k,1K, 10k", (1_000, 10_000, 100_000)),
        ("1m,500", (500, 1_000_000)),
        ("1k,1000", (1_000,)),
    ],
)
def test_sizes_come_in_order_and_once(text, sizes):
    assert parse_sizes(text) == sizes


@pytest.mark.parametrize("text", ["", "k", "1g", "1.5k", "-1k", "1k;10k", "9"])
def test_what_is_no_size_is_refused(text):
    with pytest.raises(ValueError, match=r"^"):
        parse_sizes(text)

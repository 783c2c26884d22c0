import pytest

from kebab.embed import probe
from kebab.embed.hot import OnnxEmbedder
from kebab.embed.models import E5_SMALL, MINILM, MODELS
from kebab.errors.catalog import InvalidInput
from tests.fakes import tiny_model
from tests.fakes.embedder import HashingEmbedder


def test_the_probe_is_the_cosine_of_the_golden_pair(tmp_path):
    embedder = OnnxEmbedder(tiny_model.install(MINILM, tmp_path), MINILM)
    golden = MINILM.golden

    cosine = embedder.embed_query(golden.first) @ embedder.embed_query(golden.second)

    assert probe.probe(embedder) == pytest.approx(float(cosine))


def test_the_expectation_belongs_to_the_version():
    assert probe.expected(E5_SMALL.version) == E5_SMALL.golden
    assert probe.expected(MINILM.version).cosine == 0.7553


def test_an_embedder_of_no_known_model_cannot_be_probed():
    with pytest.raises(InvalidInput):
        probe.probe(HashingEmbedder())


def test_near_is_close_and_far_is_not():
    assert probe.close(0.76, 0.7553, 0.03)
    assert not probe.close(0.70, 0.7553, 0.03)
    assert not probe.close(float("nan"), 0.7553, 0.03)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.key)
def test_no_golden_pair_accepts_everything(model):
    assert model.golden.tolerance <= 0.1
    assert not probe.close(0.0, model.golden.cosine, model.golden.tolerance)

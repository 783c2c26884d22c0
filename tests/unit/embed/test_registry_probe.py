import pytest

from kebab.embed.onnx_embedder import OnnxEmbedder
from kebab.embed.registry import MINILM, MODELS, measure_probe
from tests.fakes import tiny_model
from tests.fakes.embedder import HashingEmbedder


def test_the_probe_is_the_cosine_of_the_probe_pair(tmp_path):
    embedder = OnnxEmbedder(tiny_model.install_model(MINILM, tmp_path), MINILM)
    probe = MINILM.probe

    cosine = embedder.embed_query(probe.first) @ embedder.embed_query(probe.second)

    assert measure_probe(embedder) == pytest.approx(float(cosine))


def test_any_embedder_with_a_profile_can_be_probed():
    assert -1 <= measure_probe(HashingEmbedder()) <= 1


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.key)
def test_no_probe_pair_accepts_everything(model):
    assert model.probe.tolerance <= 0.1
    assert not model.probe.accepts(0.0)

"""A new row of the registry is all that a new model needs."""

import pytest
from msgspec.structs import replace

from kebab.app.library import find_related
from kebab.core.chunks import CosineScale, LanguageTrust, ProbePair
from kebab.embed import registry
from kebab.embed.registry import E5_SMALL, MINILM, MODELS
from kebab.wire.library import RelatedDocs, RelatedRequest
from tests.fakes import tiny_model

WIDE = replace(
    MINILM,
    key="wide",
    name="tests/wide",
    version="tests-wide-768-v1",
    dimension=768,
    languages="English and French",
    language_trust=LanguageTrust(english=1.0, other=0.5),
    cosine_scale=CosineScale(0.0, 0.8),
    probe=ProbePair(cosine=0.5, tolerance=0.5),
    package=None,
)
SCALED = replace(
    E5_SMALL,
    key="scaled",
    name="tests/scaled",
    version="tests-scaled-384-v1",
    is_multilingual=False,  # so that `auto` chooses it for English notes
    cosine_scale=CosineScale(0.2, 0.6),
    probe=ProbePair(cosine=0.5, tolerance=0.5),
)


@pytest.fixture(params=[WIDE, SCALED], ids=lambda model: model.key)
def model(request, monkeypatch, own_models):
    """A model that the registry gains, with weights on this machine."""
    monkeypatch.setattr(registry, "MODELS", (request.param, *MODELS))
    tiny_model.install_model(request.param, own_models, seed=3)
    return request.param


@pytest.fixture
def full(desk, model):
    for name in ("cat", "dog", "bird"):
        desk.write(f"{name}.md", f"the {name} sleeps on the mat\n")
    return desk


@pytest.mark.parametrize("mode", ["hybrid", "vector"])
def test_search_finds_notes_by_its_vectors(full, model, mode):
    full.ingest()

    found = full.search("the cat sleeps", mode=mode)

    assert found.degraded == []
    assert {hit.doc_path for hit in found.hits} == {"cat.md", "dog.md", "bird.md"}
    assert found.embedding_versions == [model.version]
    assert found.index_versions == [f"lance-flat-l2-{model.dimension}-v1"]
    assert all(hit.retrieval.vector_score is not None for hit in found.hits)


def test_related_notes_are_found_by_its_vectors(full, model):
    full.ingest()

    found = find_related(full.context(), RelatedRequest(name="cat.md"))

    assert isinstance(found, RelatedDocs)
    assert {one.doc_path for one in found.related} == {"dog.md", "bird.md"}
    for one in found.related:
        assert one.vector_score == pytest.approx(model.cosine_scale.normalise(one.pair.cosine))

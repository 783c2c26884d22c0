"""A model that is not in the registry works like the others, with generic confidence."""

import sys

import pytest

from kebab.app.doctor import check_health
from kebab.app.models import list_models, pull_model, use_model
from kebab.app.related import find_related
from kebab.core.progress import Cancel, ignore_progress
from kebab.embed.registry import MODELS
from kebab.errors.catalog import UsageInvalid
from kebab.wire.health import DoctorRequest, ModelListRequest, ModelPullRequest, ModelUseRequest
from kebab.wire.related import RelatedDocs, RelatedRequest
from tests.fakes import model_hub, tiny_model

NAME = "BAAI/bge-small-en-v1.5"
VERSION = "fastembed-baai-bge-small-en-v1.5-384-v1"
REPO, FILE = "Qdrant/bge-small-en-v1.5-onnx-Q", "model_optimized.onnx"
TINY = {
    FILE: tiny_model.build_onnx(seed=0),
    "tokenizer.json": tiny_model.build_tokenizer().encode(),
}


@pytest.fixture
def full(desk, own_models):
    desk.flags["models_dir"] = str(own_models)
    for name in ("cat", "dog", "bird"):
        desk.write(f"{name}.md", f"the {name} sleeps on the mat\n")
    desk.ingest()
    return desk


@pytest.fixture
def local(tmp_path):
    folder = tmp_path / "weights"
    folder.mkdir()
    for name, data in TINY.items():
        (folder / name).write_bytes(data)
    return str(folder)


def _use(desk, folder=None, name=NAME, **flags):
    request = ModelUseRequest(name=name, folder=folder)
    return use_model(desk.context(**flags), request, ignore_progress, Cancel())


def _hide_fastembed(monkeypatch):
    monkeypatch.setitem(sys.modules, "fastembed", None)
    for name in [name for name in sys.modules if name.startswith("fastembed.")]:
        monkeypatch.delitem(sys.modules, name)


def test_the_catalogue_follows_the_registry_when_it_is_asked_for(desk):
    own = list_models(desk.context(), ModelListRequest()).models
    every = list_models(desk.context(), ModelListRequest(all=True)).models

    assert [row.name for row in own] == [model.name for model in MODELS]
    assert every[: len(own)] == own
    assert {row.confidence for row in own} == {"calibrated"}
    rows = {row.name: row for row in every[len(own) :]}
    assert {row.confidence for row in rows.values()} == {"uncalibrated"}
    assert (rows[NAME].dimension, rows[NAME].download_bytes) == (384, 67_000_000)
    assert rows[NAME].sources == [f"hub:{REPO}"]


def test_it_comes_from_the_hub_and_embeds_everything(full, monkeypatch):
    with model_hub.serve(model_hub.build_repository(REPO, TINY)) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.address)
        monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
        report = _use(full, offline=False)

    assert (report.fetched, report.embedded, report.pending) == (True, 3, 0)
    assert (report.model.name, report.model.active) == (NAME, True)
    assert report.model.confidence == "uncalibrated"


def test_it_comes_from_a_folder_without_a_network(full, local):
    report = _use(full, local)

    assert (report.fetched, report.model.embedding_version) == (True, VERSION)
    assert _use(full).fetched is False


def test_it_works_without_the_catalogue_once_it_is_installed(full, local, monkeypatch):
    _use(full, local)
    _hide_fastembed(monkeypatch)

    assert full.search("the cat sleeps", mode="vector").embedding_versions == [VERSION]
    assert full.search("the cat sleeps", mode="hybrid").hits[0].confidence
    assert full.again().embedding.version == VERSION
    related = find_related(full.context(), RelatedRequest(name="cat.md"))
    assert isinstance(related, RelatedDocs)
    assert related.related[0].vector_score is not None
    checks = {check.name: check for check in check_health(full.context(), DoctorRequest()).checks}
    assert checks["embedding_probe"].status == "ok"
    assert checks["embedding_version"].status == "ok"
    rows = list_models(full.context(), ModelListRequest()).models
    assert [row.name for row in rows if row.active] == [NAME]


def _pull(desk, name):
    return pull_model(desk.context(), ModelPullRequest(name=name), ignore_progress, Cancel())


def test_a_folder_needs_the_name_of_its_model(full, local):
    with pytest.raises(UsageInvalid, match="name the model"):
        _use(full, local, name="auto")

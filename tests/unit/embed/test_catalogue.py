import pytest
from fastembed import TextEmbedding

from kebab.embed import install
from kebab.embed.catalogue import list_catalogue
from kebab.embed.install import find_stored_model, install_model, list_generic_models
from kebab.embed.onnx_embedder import OnnxEmbedder
from kebab.embed.registry import find_named
from kebab.errors.catalog import EmbeddingUnavailable
from tests.fakes import model_hub, tiny_model

CATALOGUE = list_catalogue()
KNOWN = {entry["model"]: entry for entry in TextEmbedding.list_supported_models()}
(BGE,) = (model for model in CATALOGUE if model.name == "BAAI/bge-small-en-v1.5")
TINY = {
    BGE.files[0]: tiny_model.build_onnx(seed=0),
    "tokenizer.json": tiny_model.build_tokenizer().encode(),
}


@pytest.mark.parametrize("model", CATALOGUE, ids=range(len(CATALOGUE)))
def test_the_facts_are_those_of_fastembed(model):
    entry = KNOWN[model.name]

    assert model.dimension == entry["dim"]
    assert model.repo == entry["sources"]["hf"]
    assert model.files == (entry["model_file"], *entry["additional_files"])
    assert f"-{model.dimension}-" in model.version
    assert 0 < model.window < model.positions <= 512
    assert bool(model.query_prefix) == ("documents: necessary" in entry["description"])


@pytest.mark.parametrize(
    ("name", "pooling", "prefixes", "languages"),
    [
        ("BAAI/bge-small-en-v1.5", "cls", ("", ""), "English"),
        ("BAAI/bge-small-zh-v1.5", "cls", ("", ""), "Chinese"),
        ("thenlper/gte-large", "mean", ("", ""), "English"),
        (
            "intfloat/multilingual-e5-large",
            "mean",
            ("query: ", "passage: "),
            "Multilingual (~100 languages)",
        ),
        (
            "nomic-ai/nomic-embed-text-v1.5",
            "mean",
            ("search_query: ", "search_document: "),
            "English",
        ),
    ],
    ids=["bge_en", "bge_zh", "gte", "e5", "nomic"],
)
def test_pooling_prefixes_and_languages_are_those_of_the_publisher(
    name, pooling, prefixes, languages
):
    model = find_named(name, CATALOGUE)

    assert model is not None
    assert (model.pooling, (model.query_prefix, model.passage_prefix)) == (pooling, prefixes)
    assert model.languages == languages


def test_a_model_of_the_catalogue_comes_from_the_hub(tmp_path, monkeypatch, no_network):
    with model_hub.serve(model_hub.build_repository(BGE.repo, TINY)) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.address)
        model, folder = install_model(tmp_path, BGE, patient=True)

    manifest = install.read_manifest(folder)
    assert manifest is not None
    assert model == BGE
    assert manifest.source == f"model hub 127.0.0.1: {BGE.repo}"
    assert (folder / "model.onnx").read_bytes() == TINY[BGE.files[0]]
    assert install.verify_files(folder) == []


@pytest.fixture
def local(tmp_path):
    """A folder with the files of a model, without the folders of the hub."""
    folder = tmp_path / "local"
    folder.mkdir()
    for name, data in TINY.items():
        (folder / name).write_bytes(data)
    return folder


def test_a_local_folder_is_a_source_without_a_network(tmp_path, local, no_network):
    models = tmp_path / "models"

    model, folder = install_model(models, BGE, offline=True, folder=local)

    assert install.find_installed(model, models) == folder
    assert [path.name for path in models.iterdir()] == [BGE.version]
    assert {path.name for path in local.iterdir()} == TINY.keys()


def test_an_installed_model_is_known_without_the_catalogue(tmp_path, local):
    install_model(tmp_path / "models", BGE, folder=local)

    (found,) = list_generic_models(tmp_path / "models")

    stored, folder = find_stored_model(BGE.version, tmp_path / "models")
    assert found == stored
    assert (found.row, found.name, found.pooling) == (BGE.row, BGE.name, BGE.pooling)
    embedder = OnnxEmbedder(folder, found, threads=1)
    cosine = embedder.embed_query(found.probe.first) @ embedder.embed_query(found.probe.second)
    assert found.probe.accepts(float(cosine))
    assert found.probe.tolerance < 0.1


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        ({"tokenizer.json": None}, "the folder has no tokenizer.json"),
        ({BGE.files[0]: None}, f"the folder has no {BGE.files[0]}"),
        (
            {BGE.files[0]: tiny_model.build_onnx(seed=0, hidden=96)},
            "a vector has 96 dimensions, not 384",
        ),
    ],
    ids=["tokenizer", "graph", "dimension"],
)
def test_a_folder_without_the_model_is_refused(tmp_path, local, change, cause):
    for name, data in change.items():
        (local / name).unlink()
        if data is not None:
            (local / name).write_bytes(data)

    with pytest.raises(EmbeddingUnavailable) as caught:
        install_model(tmp_path / "models", BGE, folder=local)

    assert cause in caught.value.cause
    assert caught.value.tried == [f"folder {local}"]
    assert list((tmp_path / "models").iterdir()) == []

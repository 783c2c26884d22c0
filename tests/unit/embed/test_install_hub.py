import time

import pytest

from kebab.embed import install, registry
from kebab.embed.install import ChildProcess, build_hub_source
from kebab.embed.registry import E5_SMALL, MINILM
from tests.fakes import model_hub, tiny_model

FILES = {"onnx/model.onnx": b"model" * 50, "tokenizer.json": b"{}"}


@pytest.fixture
def server(monkeypatch, no_network):
    """A hub that, like the real one, announces the hash of each file."""
    with model_hub.serve(model_hub.build_repository(E5_SMALL.repo, FILES)) as running:
        monkeypatch.setenv("HF_ENDPOINT", running.address)
        yield running


def download(tmp_path):
    source = build_hub_source(E5_SMALL)
    child = ChildProcess(source.arguments, tmp_path / "work")
    while child.poll_status() is None:
        time.sleep(0.02)
    child.stop()
    return child


def test_the_files_of_one_revision_arrive_under_their_names(server, tmp_path):
    child = download(tmp_path)

    assert child.poll_status() == 0, child.find_failure_reason()
    assert {name: (child.folder / name).read_bytes() for name in FILES} == FILES
    assert any(model_hub.REVISION in path for path in server.asked)


def test_a_missing_repository_is_no_sign_of_life(server, tmp_path):
    server.files.clear()

    child = download(tmp_path)

    assert child.poll_status() == 1
    assert not child.answered
    assert child.find_failure_reason() == "the hub failed: HTTP 404"


@pytest.fixture
def directory(tmp_path):
    return tiny_model.install_model(MINILM, tmp_path)


@pytest.mark.parametrize("name", [*registry.FILES, registry.MANIFEST_FILE])
def test_without_one_file_nothing_is_installed(directory, name):
    (directory / name).unlink()

    assert registry.find_installed(MINILM, directory.parent) is None
    assert registry.verify_files(directory)


def test_a_changed_byte_is_seen_by_verify_alone(directory):
    path = directory / registry.MODEL_FILE
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)

    assert registry.find_installed(MINILM, directory.parent) == directory
    assert registry.verify_files(directory) == ["changed: model.onnx"]


def test_publishing_replaces_a_damaged_directory(tmp_path):
    there = tiny_model.install_model(MINILM, tmp_path / "models")
    (there / registry.MODEL_FILE).write_bytes(b"damaged")
    fresh = tiny_model.install_model(MINILM, tmp_path / "fresh")

    install.publish_directory(fresh, MINILM, tmp_path / "models")

    assert registry.verify_files(there) == []

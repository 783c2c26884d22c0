import time

import pytest

from kebab.embed import hub
from kebab.embed.child import Child
from kebab.embed.models import E5_SMALL
from tests.fakes import model_hub

FILES = {"onnx/model.onnx": b"model" * 50, "tokenizer.json": b"{}"}


@pytest.fixture
def server(monkeypatch, no_network):
    with model_hub.serve(model_hub.repository(E5_SMALL.hub.repo, FILES)) as running:
        monkeypatch.setenv("HF_ENDPOINT", running.address)
        yield running


def download(tmp_path):
    offer = hub.offer(E5_SMALL)
    child = Child(offer.arguments, tmp_path / "work", offer.environment, offer.life)
    while child.status() is None:
        time.sleep(0.02)
    child.stop()
    return child


def test_the_files_of_one_revision_arrive_under_their_names(server, tmp_path):
    child = download(tmp_path)

    assert child.status() == 0, child.last_words()
    assert {name: (child.folder / name).read_bytes() for name in FILES} == FILES
    assert any(model_hub.REVISION in path for path in server.asked)


def test_the_answer_tells_how_much_is_to_come(server, tmp_path):
    child = download(tmp_path)

    assert child.alive
    assert child.total == sum(map(len, FILES.values()))


def test_a_file_that_is_not_what_was_announced_is_refused(server, tmp_path):
    for path in server.files:
        server.announced[path] = "0" * 64

    child = download(tmp_path)

    assert child.status() == 1
    assert "is damaged" in child.last_words()


def test_a_missing_repository_is_no_sign_of_life(server, tmp_path):
    server.files.clear()

    child = download(tmp_path)

    assert child.status() == 1
    assert not child.alive
    assert child.last_words(hub.offer(E5_SMALL).telling) == "the hub failed: HTTP 404"

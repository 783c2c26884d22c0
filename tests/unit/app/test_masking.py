"""Keys in files are masked on every surface, and shown where the user reads the own files."""

from typing import Any

import pytest

from kebab.app.facade import Kebab
from kebab.app.model_adapters import build_language_model
from kebab.config.load import load_settings
from kebab.core.progress import Progress
from kebab.llm.server_check import CheckedModel
from kebab.server.requests import KebabPool, format_event
from kebab.text.secrets import MASK
from kebab.wire.ask import AskRequest
from kebab.wire.fetch import FetchRequest, GrepRequest, OutlineRequest
from kebab.wire.ingest import IngestRequest
from kebab.wire.library import DupesRequest, InspectChunkRequest, InspectDocRequest, RelatedRequest
from kebab.wire.record import encode_json
from kebab.wire.review import ReviewRequest
from kebab.wire.search import SearchRequest
from tests.fakes.secrets import draw_texts

((KEY, _),) = draw_texts("github", 1)
((PEM, BLOCK),) = draw_texts("private key", 1)
NOTE = f"""# Deploy with {KEY}

The deploy of the staging cluster uses the key {KEY} and a teh certificate.

{BLOCK}

The deploy of the other cluster needs no key at all.
"""
REQUESTS: list[Any] = [
    SearchRequest(query="deploy cluster"),
    SearchRequest(query="deploy cluster", detail="passages", max_tokens=120),
    SearchRequest(query=KEY, mode="lexical"),
    AskRequest(question="What key does the deploy of the staging cluster use?", extractive=True),
    RelatedRequest(name="deploy.md"),
    DupesRequest(),
    OutlineRequest(name="deploy.md"),
    InspectDocRequest(name="deploy.md"),
    GrepRequest(pattern="key|[A-Za-z0-9+/]{40}", before=1),
    FetchRequest(refs=["deploy.md", "deploy.md#L6-L7"]),
    ReviewRequest(names=["deploy.md"], no_llm=True),
    IngestRequest(dry_run=True),
]
EXACT = ("grep", "fetch", "rank", "review")


@pytest.fixture(scope="module")
def settings(tmp_path_factory):
    folder = tmp_path_factory.mktemp("masking")
    notes = folder / "notes"
    notes.mkdir()
    for name in ("deploy.md", "copy.md"):
        (notes / name).write_text(NOTE)
    flags = {"data_dir": str(folder / "data"), "models_dir": str(folder / "m"), "offline": True}
    found = load_settings(environ={}, flags=flags)
    with Kebab(found, config_path=folder / "config.toml") as kebab:
        kebab.run(IngestRequest(paths=[str(notes)]))
    (notes / f"{KEY}.xyz").write_bytes(b"\0")
    return found


def run(request, kebab):
    """Return what a program reads of the reply and the events of a request."""
    events: list[Any] = []
    operation = str(request.__struct_config__.tag).removesuffix("_request.v1")
    reply = kebab.run(request, report=events.append)
    sent = [
        format_event(operation, one) for one in (*events, reply) if not isinstance(one, Progress)
    ]
    text = b"\n".join(map(encode_json, sent)).decode()
    # What the caller has sent is no secret.
    return reply, text.replace(f'"query":"{KEY}"', "").replace(f'"terms":["{KEY}"]', "")


@pytest.mark.parametrize("request_", REQUESTS)
def test_a_server_sends_no_secret_of_a_file(settings, tmp_path, request_):
    pool = KebabPool(tmp_path / "config.toml", 4)
    with pool.lease(settings) as kebab:
        reply, text = run(request_, kebab)
    pool.close()

    assert KEY not in text
    assert not any(line[8:] in text for line in PEM.split("\n"))
    assert (reply.masked is True) == (MASK in text)


@pytest.mark.parametrize("request_", REQUESTS)
def test_the_command_line_shows_files_and_own_lines_as_they_are(settings, tmp_path, request_):
    operation = str(request_.__struct_config__.tag).removesuffix("_request.v1")
    with Kebab(settings, config_path=tmp_path / "config.toml") as kebab:
        _, text = run(request_, kebab)

    assert (KEY in text) == (operation in EXACT and operation != "review")
    assert operation not in EXACT or MASK not in text


def test_highlights_and_passages_keep_their_places(settings, tmp_path):
    with Kebab(settings, config_path=tmp_path / "config.toml") as kebab:
        (hit, *_) = kebab.run(SearchRequest(query="staging cluster")).hits
        chunk = kebab.run(InspectChunkRequest(name=hit.chunk_id))

    words = {hit.snippet[start:end].lower() for start, end in hit.highlights}
    assert "staging" in words
    assert MASK in hit.snippet
    assert chunk.masked is True


@pytest.mark.parametrize(
    ("endpoint", "is_masked"),
    [("http://127.0.0.1:9", False), ("http://models.example:9", True)],
)
def test_a_server_on_another_machine_gets_no_secrets(endpoint, is_masked):
    flags = {"models.llm.endpoint": endpoint, "models.llm.provider": "openai"}
    model = build_language_model(load_settings(environ={}, flags=flags))

    assert isinstance(model, CheckedModel)
    assert (model.mask(NOTE) != NOTE) is is_masked

"""A review by llama.cpp's server with a small real model: it ends, and its items are valid."""

import msgspec
import pytest
from msgspec.structs import replace

from kebab.config.settings import Llm
from kebab.llm.chat import OpenAiChat
from kebab.llm.endpoint import parse_base_url
from kebab.review.model_worker import ModelWorker
from kebab.review.rules import locate_item
from kebab.review.selection import RulesWorker
from kebab.wire.review import AgentItem
from tests.fakes.review import FakeSurroundings, make_document
from tests.live.llama_server import ALIAS

pytestmark = [pytest.mark.live, pytest.mark.xdist_group("llama")]

DEADLINES = Llm(connect_s=5.0, first_token_s=120.0, total_s=240.0)
TEXT = "Teh dough \U0001f35e are baked at 250 degrees."
_SHORT_WINDOW = 192


@pytest.fixture
def model(llama):
    # A response takes half of the window at most, so a model that does not end costs little.
    options = replace(DEADLINES, context_tokens=_SHORT_WINDOW)
    return OpenAiChat(parse_base_url(llama.url), ALIAS, options)


def test_the_answer_to_the_request_follows_the_light_format(model):
    heard: list[str] = []
    worker = build_worker(model, "quick")
    document = make_document("Teh end.")
    units = worker.plan(document)

    class Listening:
        name, context_tokens = model.name, model.context_tokens

        def chat(self, messages, **options):
            completion = model.chat(messages, **options)
            heard.append(completion.text)
            return completion

    build_worker(Listening(), "quick").work(document, units[1])

    assert heard
    assert msgspec.json.decode(heard[0]).keys() == {"items"}


def build_worker(model, tier, **fields):
    return ModelWorker(llm=model, tier=tier, rules=RulesWorker([], FakeSurroundings()), **fields)


def test_a_document_is_reviewed_to_its_end_with_valid_items(model):
    document = make_document(TEXT)
    worker = build_worker(model, "deep")
    results = [worker.work(document, unit) for unit in worker.plan(document)]

    items = [item for result in results for item in result.items]
    assert msgspec.convert(msgspec.to_builtins(items), list[AgentItem]) == items
    assert len({item.uid for item in items}) == len(items)
    for item in items:
        start, end = locate_item(document, item)
        assert 0 <= start <= end <= len(document.text)
        assert document.text[start:end].strip() or item.t == "insert"
    usages = [result.usage for result in results]
    assert sum(usage.requests for usage in usages) >= 1
    assert sum(usage.completion_tokens for usage in usages) > 0

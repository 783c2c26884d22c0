"""Whole plugins are run by `tests/unit/app/test_plugins.py`."""

import sys
from types import ModuleType, SimpleNamespace

import pytest

from kebab.config.settings import Llm, Models, Settings
from kebab.core.answers import Completion
from kebab.llm import plugin
from kebab.llm.plugin import PluginModel
from kebab.plugins import PROVIDERS, Plugin

DONE = Completion(
    text="said", finish="stop", prompt_tokens=1, completion_tokens=1, first_token_ms=1.0
)


@pytest.fixture
def model(monkeypatch):
    """A model that prints beside its answer."""

    def chat(messages, *, max_tokens, on_text):
        sys.stdout.write("noise")
        on_text("said")
        return DONE

    module = ModuleType("acme")
    vars(module)["build"] = lambda settings, name: SimpleNamespace(context_tokens=9, chat=chat)
    monkeypatch.setitem(sys.modules, "acme", module)
    found = [Plugin(PROVIDERS, "acme", "acme:build", "kebab-acme", "1.0")]
    monkeypatch.setattr(plugin, "find_plugins", lambda settings, group: found)
    return PluginModel(Settings(models=Models(llm=Llm(provider="acme"))), "m", "ask")


def test_only_the_answer_reaches_stdout(model, capsys):
    assert model.chat([], max_tokens=5, on_text=print) == DONE
    assert capsys.readouterr().out == "said\n"


def test_what_the_caller_raises_is_not_the_failure_of_the_plugin(model):
    def stop(text):
        raise BrokenPipeError(text)

    with pytest.raises(BrokenPipeError):
        model.chat([], max_tokens=5, on_text=stop)

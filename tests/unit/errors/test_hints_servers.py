"""The messages and hints about model servers."""

from typing import Any

import pytest

from kebab.errors.catalog import (
    ContextOverflow,
    ModelRejected,
    ModelUnreachable,
    TimedOut,
)
from kebab.errors.signal import find_wordings

_ASKED: dict[str, Any] = {"endpoint": "http://127.0.0.1:8080/v1", "operation": "ask"}
_ADDRESS = "models.llm.endpoint"


def unreachable(**details):
    return ModelUnreachable(**{**_ASKED, "cause": "connection refused", **details})


def rejected(reason, setting=None):
    return ModelRejected(model="tiny", cause="no", reason=reason, setting=setting, **_ASKED)


def test_the_setting_of_the_address_is_named_in_the_message_and_its_variable_in_the_hint():
    signal = unreachable(provider="openai", setting=_ADDRESS)

    assert str(signal) == (
        "cannot reach the model server at http://127.0.0.1:8080/v1 (`models.llm.endpoint`): "
        "connection refused"
    )
    assert signal.format_hint() == (
        "start the server, or set another address: `export KEBAB_MODELS_LLM_ENDPOINT=URL`"
    )


@pytest.mark.parametrize(
    ("cause", "hint"),
    [
        ("self-signed certificate", "export SSL_CERT_FILE=FILE"),
        ("unable to get local issuer certificate", "export SSL_CERT_FILE=FILE"),
        ("certificate has expired", "export KEBAB_MODELS_LLM_ENDPOINT=URL"),
        ("Hostname mismatch", "export KEBAB_MODELS_LLM_ENDPOINT=URL"),
    ],
)
def test_a_certificate_has_the_hint_for_its_fault(cause, hint):
    signal = unreachable(cause=cause, setting=_ADDRESS, reason="certificate")

    assert f"`{hint}`" in signal.format_hint()
    assert signal.plan_rerun() is None


def test_a_server_that_fails_is_not_called_unreachable():
    signal = unreachable(cause="the connection was cut", reason="server")

    assert str(signal).startswith("no complete answer from the model server at ")
    assert signal.plan_rerun() is not None


@pytest.mark.parametrize(
    ("setting", "rerun"),
    [
        ("models.llm.think", ("KEBAB_MODELS_LLM_THINK", "false")),
        ("models.llm.keep_alive", ("KEBAB_MODELS_LLM_KEEP_ALIVE", "5m")),
    ],
)
def test_a_refused_option_is_repeated_with_a_value_that_works(setting, rerun):
    signal = rejected("option", setting)

    assert signal.plan_rerun().variables == (rerun,)
    assert signal.format_hint() == "export {}={}".format(*rerun)


@pytest.mark.parametrize(
    ("operation", "setting"),
    [
        ("first_token", "models.llm.first_token_s"),
        ("load", None),
    ],
)
@pytest.mark.parametrize("language", ["en", "ko", "zh"])
def test_a_timeout_of_a_server_names_its_address_and_the_setting(operation, setting, language):
    signal = TimedOut(
        operation=operation,
        elapsed_ms=300,
        deadline_ms=300,
        setting=setting,
        endpoint="http://gpu:11434",
    )

    message = signal.format_message(find_wordings(TimedOut, language))

    assert "http://gpu:11434" in message
    assert (f"`{setting}`" in message) is (setting is not None)


def list_failures(operation):
    """Return failures of the model that end an operation."""
    server = {"endpoint": "http://127.0.0.1:11434", "operation": operation}
    return [
        ModelUnreachable(cause="refused", **server),
        ModelUnreachable(cause="refused", provider="ollama", setting=_ADDRESS, **server),
        ModelUnreachable(cause="cut", reason="server", **server),
        ModelRejected(model="tiny", cause="it can only embed", **server),
        ModelRejected(model="tiny", cause="too large", reason="memory", **server),
        ContextOverflow(prompt_tokens=9, context_tokens=8, operation=operation),
    ]


@pytest.mark.parametrize("language", ["en", "ko", "zh"])
@pytest.mark.parametrize("operation", ["review", "translate"])
def test_no_hint_of_another_operation_asks_a_question(operation, language):
    for signal in list_failures(operation):
        hint = signal.format_hint(find_wordings(type(signal), language))

        assert hint
        assert "kebab ask" not in hint


def test_a_review_goes_on_with_the_rules_alone():
    for signal in list_failures("review"):
        assert signal.plan_rerun().add == ("--no-llm",)
    unreachable_server, ollama, *_ = list_failures("review")
    assert "`kebab review --no-llm DOCUMENT`" in unreachable_server.format_hint()
    assert "`kebab review --no-llm DOCUMENT`" in ollama.format_hint()

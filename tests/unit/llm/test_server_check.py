from time import monotonic

import pytest
from msgspec.structs import replace

from kebab.config.settings import Llm
from kebab.core.answers import Message
from kebab.errors.catalog import ModelBusy, ModelProtocol, ModelUnreachable
from kebab.llm import server_check
from kebab.llm.endpoint import NO_KEY, ApiKey, parse_base_url, parse_endpoint
from kebab.llm.server_check import LOADING, CheckedModel, check_server_responds
from tests.fakes.dead_ends import greeting
from tests.fakes.language_model import Pieces, ScriptedModel
from tests.fakes.openai import Answer, fake_openai
from tests.fakes.waiting import PATIENCE_S

LIMITS = Llm(connect_s=PATIENCE_S, first_token_s=60, total_s=60)
MESSAGES = [Message("user", "Why?")]
LOADS = ModelBusy(endpoint="http://x", operation="ask", reason="loading")


@pytest.fixture(autouse=True)
def nothing_is_remembered(monkeypatch):
    monkeypatch.setattr(server_check, "_answered", {})
    monkeypatch.setattr(server_check, "_SILENCE_S", 0.3)


def check(url, limits=LIMITS, key=NO_KEY):
    check_server_responds(replace(parse_base_url(url), key=key), limits, "tiny")


def checked(*steps, **options):
    model = ScriptedModel()
    for step in steps:
        model.enqueue(step)
    given = {"check": tuple, "loading_s": 60.0, "on_wait": lambda _: None, **options}
    return CheckedModel(model=model, **given)


def ask(model):
    return model.chat(MESSAGES, max_tokens=9, on_text=lambda _: None)


def test_a_server_is_asked_once_with_the_key_and_closes_the_connection():
    with fake_openai("tiny", key="sk-secret") as server:
        check(server.url, key=ApiKey("sk-secret", "KEY"))
        check(server.url, key=ApiKey("sk-secret", "KEY"))

        [asked] = server.asked
    assert (asked.method, asked.path) == ("GET", "/v1/models")
    assert asked.headers["authorization"] == "Bearer sk-secret"
    assert asked.headers["connection"] == "close"


@pytest.mark.parametrize("banner", [b"", b"SSH-2.0-OpenSSH_9.6\r\n"])
def test_a_port_that_speaks_no_http_is_noticed_soon(banner, monkeypatch):
    monkeypatch.setattr(server_check, "_SILENCE_S", 0.2)
    started = monotonic()

    with greeting(banner) as url, pytest.raises(ModelUnreachable) as raised:
        check(url, replace(LIMITS, connect_s=2.0))

    assert raised.value.cause == "it accepts connections and does not answer"
    assert (raised.value.reason, raised.value.setting) == ("silent", "models.llm.endpoint")
    assert 2.0 < monotonic() - started < PATIENCE_S


def test_a_silent_server_that_answered_before_is_busy(monkeypatch):
    monkeypatch.setattr(server_check, "_VALID_S", 0)
    with greeting() as url:
        endpoint = parse_base_url(url).display_url
        monkeypatch.setitem(server_check._answered, endpoint, (monotonic(), ()))

        check(url, replace(LIMITS, connect_s=0, first_token_s=1.0))


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        (
            Answer(body=b"<title>Sign in</title>", content_type="text/html"),
            "`/models` returned a web page (HTTP 200): Sign in",
        ),
        (
            Answer(body=b"", status=302, headers={"Location": "https://login.example/?t=1"}),
            "`/models` redirects to https://login.example/ (HTTP 302)",
        ),
    ],
)
def test_a_page_in_place_of_the_api_is_refused(answer, cause):
    with fake_openai("tiny") as server:
        server.answers["/models"] = answer
        with pytest.raises(ModelProtocol) as raised:
            check(server.url)

    assert raised.value.cause == cause


def test_a_server_that_cuts_the_connection_may_still_answer_a_prompt():
    with fake_openai("tiny") as server:
        server.answers["/models"] = Answer(body=b"{}", cut=True)

        check(server.url)


def test_the_wait_for_a_loading_server_is_reported_once_and_ends_with_its_answer():
    reasons: list[str] = []
    model = checked(LOADS, LOADS, Pieces("Because."), on_wait=reasons.append)

    assert ask(model).text == "Because."
    assert reasons == [LOADING]


def test_a_server_that_loads_for_too_long_is_busy():
    model = checked(*[LOADS] * 9, loading_s=0.5)

    with pytest.raises(ModelBusy, match="still loading its model"):
        ask(model)


def test_another_api_than_that_of_the_settings_is_named():
    with fake_openai("tiny") as server, pytest.raises(ModelProtocol) as raised:
        check_server_responds(parse_endpoint(server.url), LIMITS)

    assert raised.value.setting == "models.llm.provider"
    assert raised.value.format_hint() == "export KEBAB_MODELS_LLM_PROVIDER=openai"


@pytest.mark.parametrize(("listed", "others"), [((), ()), (("scripted:latest",), ())])
def test_a_model_that_the_server_lists_or_that_no_list_names_is_no_other(listed, others):
    assert ask(checked("Daily.", check=lambda: listed)).other_models == others

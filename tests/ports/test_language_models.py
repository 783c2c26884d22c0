"""The conformance suite of the port `LanguageModel`: the fake and every adapter run it."""

import signal
import threading
from contextlib import ExitStack
from time import monotonic

import pytest
from msgspec.structs import replace

from kebab.core.answers import AnswerCutError, Message
from kebab.errors.catalog import (
    ContextOverflow,
    ModelBusy,
    ModelNotPulled,
    ModelProtocol,
    ModelRejected,
    ModelUnreachable,
    TimedOut,
)
from kebab.llm.chat import MAX_TOKEN_CHARS
from tests.fakes.dead_ends import never_accepting, refusing
from tests.fakes.waiting import PATIENCE_S, wait_until
from tests.ports.language_models import (
    ADAPTERS,
    DIALECTS,
    PATIENT,
    SUBJECTS,
    Speech,
    stop_after,
)

MESSAGES = [
    Message("system", "Answer from the passages."),
    Message("user", "What is <b>bread</b>? 빵이란"),
    Message("assistant", "Bread [1]."),
    Message("user", "And cake?\n\n\ud7ff 🍰"),
]
HASTY = replace(PATIENT, connect_s=0.3)
IMPATIENT = replace(PATIENT, first_token_s=0.7)


@pytest.fixture(autouse=True)
def nothing_is_printed(capfd):
    yield
    assert capfd.readouterr() == ("", "")


@pytest.fixture(params=SUBJECTS)
def make(request):
    """Make the subject with deadlines; it lives until the test ends."""
    with ExitStack() as stack:
        yield lambda deadlines: stack.enter_context(SUBJECTS[request.param](deadlines))


@pytest.fixture(params=sorted(SUBJECTS.keys() - {"scripted"}))
def make_adapter(request):
    """Make a subject with a real server, which can be waited for."""
    with ExitStack() as stack:
        yield lambda deadlines: stack.enter_context(SUBJECTS[request.param](deadlines))


@pytest.fixture
def subject(make):
    return make(PATIENT)


@pytest.fixture(params=DIALECTS)
def dialect(request):
    """A subject whose server words its failures in one way of several."""
    with DIALECTS[request.param](PATIENT) as subject:
        yield subject


@pytest.fixture
def idle():
    """Tell whether all threads that the test has started end soon; those of servers go on."""
    before = set(threading.enumerate())

    def ended():
        mine = [one for one in threading.enumerate() if one.daemon and one not in before]
        for one in mine:
            one.join(PATIENCE_S)
        return not any(one.is_alive() for one in mine)

    return ended


@pytest.fixture
def heard():
    """What the listener heard, piece by piece."""
    return []


@pytest.fixture
def skip(monkeypatch):
    """Let seconds pass for the limits of an answer."""
    passed: list[float] = []
    monkeypatch.setattr("kebab.llm.http_stream.monotonic", lambda: monotonic() + sum(passed))
    return passed.append


class Stop(Exception):  # noqa: N818 - nothing is wrong
    """What a listener raises when it has heard enough."""


def ask(subject, on_text=lambda piece: None, max_tokens=64):
    return subject.model.chat(MESSAGES, max_tokens=max_tokens, on_text=on_text)


SCHEMA = {
    "type": "object",
    "properties": {"word": {"type": "string", "enum": ["bread", "빵"]}},
    "required": ["word"],
    "additionalProperties": False,
}


def ask_for_json(subject):
    return subject.model.chat(MESSAGES, max_tokens=64, on_text=lambda piece: None, schema=SCHEMA)


def assert_works(subject):
    """Assert that a question is answered now."""
    subject.says(Speech())
    assert ask(subject).text == "Hello world"


def test_a_model_has_a_name_and_a_window(subject):
    assert subject.model.name
    assert subject.model.context_tokens > 0


def test_pieces_come_in_order_and_make_the_text(subject, heard):
    pieces = ("One", " two", "\n\nthree", " [1].", " <b>&amp;", " \\u0041 \"x\" 'y' \t끝")
    subject.says(Speech(pieces=pieces))

    completion = ask(subject, heard.append)

    assert len(heard) > 1
    assert "".join(heard) == completion.text == "".join(pieces)


def test_a_schema_is_sent_as_it_is(dialect):
    dialect.says(Speech(pieces=('{"word":', '"bread"}')))

    completion = ask_for_json(dialect)

    assert completion.text == '{"word":"bread"}'
    assert dialect.heard().schema == SCHEMA
    assert dialect.overlooked() == []


def test_no_schema_is_sent_unless_there_is_one(subject):
    subject.says(Speech())

    ask(subject)

    assert subject.heard().schema is None


def test_a_server_that_refuses_a_schema_gets_the_messages_only(dialect):
    dialect.refuses_schemas()
    dialect.says(Speech())
    dialect.says(Speech(pieces=("again",)))

    assert ask_for_json(dialect).text == "Hello world"
    assert ask_for_json(dialect).text == "again"

    assert len(dialect.heard().messages) == len(MESSAGES)
    assert dialect.heard().schema in (None, SCHEMA)


def test_pieces_are_never_empty(subject, heard):
    subject.says(Speech(pieces=("", "Hello", "", " world")))

    ask(subject, heard.append)

    assert heard == ["Hello", " world"]


@pytest.mark.parametrize("finish", ["stop", "length"])
def test_a_completion_says_why_it_ended_and_what_it_cost(subject, finish):
    subject.says(Speech(finish=finish, prompt_tokens=1234, completion_tokens=56))

    completion = ask(subject)

    assert completion.finish == finish
    assert (completion.prompt_tokens, completion.completion_tokens) == (1234, 56)
    assert completion.first_token_ms is not None
    assert completion.first_token_ms >= 0


def test_an_answer_may_be_empty(subject, heard):
    subject.says(Speech(pieces=(), completion_tokens=0))

    completion = ask(subject, heard.append)

    assert (completion.text, completion.finish, heard) == ("", "stop", [])
    assert completion.first_token_ms is None


@pytest.mark.parametrize("drip", [1, 2, 5, 1_000_000])
def test_characters_split_between_packets_arrive_whole(subject, drip, heard):
    pieces = ("パン", "は빵", " 面包", "🍞é", "\u2028\x85")
    subject.says(Speech(pieces=pieces, drip=drip))

    assert ask(subject, heard.append).text == "".join(pieces) == "".join(heard)


def test_every_message_and_the_limit_reach_the_server_and_are_understood(subject):
    subject.says(Speech())

    ask(subject, max_tokens=321)

    heard = subject.heard()
    assert heard.messages == [(one.role, one.content) for one in MESSAGES]
    assert heard.max_tokens == 321
    assert subject.overlooked() == []


@pytest.mark.parametrize(
    ("trouble", "expected"),
    [
        ("rejected", ModelRejected),
        ("busy", ModelBusy),
        ("overflow", ContextOverflow),
        ("foreign", ModelProtocol),
    ],
)
def test_trouble_before_the_first_token_has_its_signal(dialect, trouble, expected):
    dialect.fails(trouble)

    with pytest.raises(expected):
        ask(dialect)

    assert_works(dialect)


def test_a_missing_model_is_told(dialect):
    dialect.fails("missing")

    with pytest.raises(ModelNotPulled):
        ask(dialect)

    assert_works(dialect)


def test_an_overflow_tells_tokens(dialect):
    dialect.fails("overflow")

    with pytest.raises(ContextOverflow) as raised:
        ask(dialect)

    assert raised.value.prompt_tokens > 0
    assert raised.value.context_tokens > 0


@pytest.mark.parametrize(
    ("ending", "expected"),
    [("cut", ModelUnreachable), ("failed", ModelProtocol), ("unended", ModelProtocol)],
)
@pytest.mark.parametrize("pieces", [(), ("Hello", " world")], ids=["at once", "later"])
def test_a_broken_answer_has_its_signal(subject, ending, expected, pieces, heard):
    subject.breaks(*pieces, ending=ending)

    with pytest.raises(expected) as raised:
        ask(subject, heard.append)

    assert isinstance(raised.value.__cause__, AnswerCutError) is (ending == "unended")
    assert heard == list(pieces)
    assert_works(subject)


@pytest.mark.parametrize("place", [refusing, never_accepting])
@pytest.mark.parametrize("adapter", ADAPTERS)
def test_a_place_where_no_server_answers_is_unreachable(adapter, place, idle):
    with place() as url, pytest.raises(ModelUnreachable):
        ADAPTERS[adapter](url, HASTY).chat(MESSAGES, max_tokens=64, on_text=lambda piece: None)

    assert idle()


@pytest.mark.parametrize(
    ("pieces", "operation"), [((), "first_token"), (("Hello", " world"), "next_token")]
)
def test_a_silent_server_is_left_after_the_limit(make, pieces, operation, heard, idle, skip):
    subject = make(PATIENT if pieces else IMPATIENT)
    subject.stalls(*pieces)

    def on_text(piece):
        heard.append(piece)
        if len(heard) == len(pieces):
            skip(PATIENT.first_token_s)

    with pytest.raises(TimedOut) as raised:
        ask(subject, on_text)

    assert raised.value.operation == operation
    assert heard == list(pieces)
    assert subject.noticed()
    assert idle()


def test_an_endless_answer_is_left_after_the_limit_for_all_of_it(make, idle, skip):
    subject = make(PATIENT)
    subject.dawdles()

    with pytest.raises(TimedOut) as raised:
        ask(subject, lambda _: skip(PATIENT.first_token_s / 2))

    assert raised.value.operation == "answer"
    assert subject.noticed()
    assert idle()


@pytest.mark.parametrize(
    "pieces", [("x" * 4000,) * 9, ("x" * 40_000,)], ids=["in pieces", "at once"]
)
def test_a_server_that_keeps_to_no_limit_is_left(make_adapter, pieces, heard, idle):
    subject = make_adapter(PATIENT)
    subject.says(Speech(pieces=pieces))

    with pytest.raises(ModelProtocol, match="far longer than the limit"):
        ask(subject, heard.append, max_tokens=64)

    assert len("".join(heard)) <= MAX_TOKEN_CHARS * 64
    assert idle()
    assert_works(subject)


@pytest.mark.parametrize("reason", [Stop(), KeyboardInterrupt()], ids=["exception", "interrupt"])
@pytest.mark.parametrize("count", [1, 2])
def test_a_listener_that_raises_ends_the_servers_work(subject, reason, count, idle):
    subject.stalls("Hello", " world")

    with pytest.raises(type(reason)) as raised:
        ask(subject, stop_after(count, reason))

    assert raised.value is reason
    assert subject.noticed()
    assert idle()
    assert_works(subject)


@pytest.mark.parametrize("pieces", [(), ("Hello",)], ids=["before", "amid"])
def test_an_interrupt_is_heard_while_the_server_is_silent(make_adapter, pieces, heard, idle):
    subject = make_adapter(PATIENT)
    subject.stalls(*pieces)

    main = threading.main_thread().ident
    assert main is not None

    def press():
        subject.wait_for_request()
        wait_until(lambda: len(heard) == len(pieces))
        signal.pthread_kill(main, signal.SIGINT)

    presser = threading.Thread(target=press)
    presser.start()
    with pytest.raises(KeyboardInterrupt):
        ask(subject, heard.append)

    presser.join()

    assert subject.noticed()
    assert idle()

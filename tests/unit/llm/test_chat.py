import pytest

from kebab.errors.catalog import ModelProtocol
from kebab.llm.chat import MAX_TOKEN_CHARS, AnswerReader, ChatModel, ChatOptions
from kebab.llm.endpoint import ApiKey, parse_endpoint
from kebab.llm.http_stream import Deadlines, HttpStream
from kebab.llm.server_errors import OLLAMA_ERRORS

OPTIONS = ChatOptions(
    context_tokens=1234, deadlines=Deadlines(connect_s=1, first_token_s=1, total_s=1)
)
ENDPOINT = parse_endpoint("http://me:password@gpu-box:8080")


class Model(ChatModel[ChatOptions]):
    path = "/chat"
    errors = OLLAMA_ERRORS


class Stream(HttpStream):
    """Counts the tokens that a reader records, and sends nothing."""

    tokens = 0

    def record_token(self) -> None:
        self.tokens += 1


@pytest.fixture
def heard():
    return []


@pytest.fixture
def reader(heard):
    request = Model(ENDPOINT, "tiny", OPTIONS)._build_request([])
    return AnswerReader(
        request, Stream(request.call, "/", b"", OPTIONS.deadlines), heard.append, max_tokens=2
    )


def test_a_key_replaces_the_login_in_the_address():
    with_key = Model(ENDPOINT, "tiny", OPTIONS, ApiKey("sk-secret", "MY_KEY"))._build_request([])
    without = Model(ENDPOINT, "tiny", OPTIONS)._build_request([])

    assert with_key.call.endpoint.user_info == ""
    assert without.call.endpoint.user_info == "me:password"


def test_an_answer_beyond_its_limit_is_refused(reader):
    reader._add_text("x" * 2 * MAX_TOKEN_CHARS, None)

    with pytest.raises(ModelProtocol, match="longer than the limit"):
        reader._add_text("x", None)

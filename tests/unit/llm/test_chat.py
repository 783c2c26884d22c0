import pytest

from kebab.errors.catalog import ModelProtocol
from kebab.llm.chat import MAX_TOKEN_CHARS, AnswerReader
from kebab.llm.endpoint import parse_endpoint
from kebab.llm.http_stream import Deadlines, HttpStream
from kebab.llm.server_errors import ModelRequest

LIMITS = Deadlines(connect_s=1, first_token_s=1, total_s=1)
REQUEST = ModelRequest(
    endpoint=parse_endpoint("http://gpu-box:8080"), operation="ask", model="tiny", path="/chat"
)


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
    return AnswerReader(REQUEST, Stream(REQUEST, "/", b"", LIMITS), heard.append, max_tokens=2)


def test_an_answer_beyond_its_limit_is_refused(reader):
    reader._add_text("x" * 2 * MAX_TOKEN_CHARS, None)

    with pytest.raises(ModelProtocol, match="longer than the limit"):
        reader._add_text("x", None)

"""Declares turns of sessions, input and output of language models and their port; finds repeats."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias

from msgspec import Struct

from kebab.errors.catalog import StopName
from kebab.wire.ask import AnswerModeName, RefusalName
from kebab.wire.record import FinishName


class AnswerCutError(Exception):
    """The stream of an answer ended without its end mark."""


class Message(Struct, frozen=True):
    """One message of a conversation with a language model."""

    role: Literal["system", "user", "assistant"]
    content: str
    images: tuple[bytes, ...] = ()
    """JPEG files that the message shows; only a vision model sees them."""


AsideName: TypeAlias = Literal["reasoning", "tool_call", "refusal"]


class Completion(Struct, frozen=True, kw_only=True):
    """The complete response of a language model.

    The reason of its end and the token counts are those of the server, None where it gave none.
    """

    text: str
    finish: FinishName | None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    first_token_ms: float | None = None
    """The time until the first token of the answer; None when there was none."""
    aside: AsideName | None = None
    """What the model wrote besides the text."""
    is_shifted: bool = False
    """Whether the window was full, so that the end was written without the beginning."""
    is_prompt_cut: bool = False
    """Whether the server read far fewer tokens than the messages have."""
    other_models: tuple[str, ...] = ()
    """The models of a server that does not list the one that was asked for."""

    @property
    def is_cut(self) -> bool:
        """Whether the text is not whole."""
        return self.is_shifted or self.finish in ("length", "content_filter")


class Turn(Struct, frozen=True, kw_only=True):
    """One question of a session with its answer; `created` in seconds since the epoch.

    `folder` is the working folder of the person who asked; None for a question to a server.
    """

    session: str
    index: int
    question: str
    standalone: str
    answer: str
    refusal: RefusalName | None
    mode: AnswerModeName
    model: str | None
    created: float
    stop_reason: StopName = "completed"
    cancel_observed: bool = False
    folder: str | None = None


JsonSchema: TypeAlias = Mapping[str, Any]
"""A JSON Schema of an object, with every property required and no others allowed."""


class LanguageModel(Protocol):
    """Generates text token by token. Every call ends by its deadlines."""

    @property
    def name(self) -> str:
        """The name of the model on its server."""

    @property
    def context_tokens(self) -> int:
        """The context window of prompt and answer in tokens; constant over all calls."""

    def chat(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        on_text: Callable[[str | None], None],
        schema: JsonSchema | None = None,
    ) -> Completion:
        """Return the response to a conversation; `on_text` receives each piece as it arrives.

        None withdraws all pieces so far, which were no answer.

        With a schema the server constrains the response to JSON that follows it. A server that
        cannot do so gets the messages only, so they describe the format too. At the token limit
        the JSON is cut off.

        Any exception, also of `on_text` and a `KeyboardInterrupt`, closes the connection before it
        propagates, so the server stops working.

        Raises:
            ModelUnreachable: There is no connection, or it was lost.
            ModelNotPulled: The server does not have the model.
            ModelRejected: The model cannot chat or be loaded, or the server refuses the request.
            ModelBusy: The server accepts no more work at the moment.
            ModelProtocol: The response is not the protocol's, the server failed, or the stream
                ended too early; the cause is then an `AnswerCutError`.
            ContextOverflow: The conversation does not fit the context window.
            TimedOut: A deadline passed; `operation` names it.
        """


_MIN_COPIES, _MIN_LENGTH = 3, 240
"""The fewest copies, and characters of all together; short rows of equal signs are no fault."""
_MAX_PART = 800
_KEY = 24
"""The last characters of the text, whose earlier place gives the length of the repeated part."""


def find_repetition(text: str) -> int | None:
    """Return the end of the first copy when a text ends in equal copies of one part, else None."""
    tail = text[-_MIN_COPIES * max(_MAX_PART, _MIN_LENGTH) :]
    key = tail[-_KEY:]
    if len(tail) < _MIN_LENGTH or not any(map(str.isalpha, key)):
        return None
    earlier = tail.rfind(key, 0, -1)
    part = len(tail) - _KEY - earlier
    repeated = part * max(_MIN_COPIES, -(-_MIN_LENGTH // part))
    if earlier < 0 or part > _MAX_PART or repeated > len(tail):
        return None
    is_repeated = tail[-repeated:-part] == tail[part - repeated :]
    return len(text) - repeated + part if is_repeated else None

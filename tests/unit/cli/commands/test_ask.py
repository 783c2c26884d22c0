import pytest


def types(ran):
    return [one["type"] for one in ran.events]


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


def test_a_stream_of_a_refusal_has_its_status(kebab):
    ran = kebab("ask", "nothing", "--stream")

    assert (ran.status, ran.events[-1]["type"], ran.events[-1]["exit_code"]) == (1, "final", 1)


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

import pytest

from kebab.wire.health import ResetRequest


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_without_a_terminal_confirmation_is_required(kebab, opened, flags):
    ran = kebab("reset", *flags, stdin=b"y\n")

    assert (ran.status, ran.out) == (2, "")
    assert "confirmation_required" in ran.err
    assert opened[0].asked == []


@pytest.mark.parametrize("models", [True, False])
def test_with_yes_it_does_not_ask(kebab, opened, models):
    ran = kebab("reset", "--yes", *(["--models"] if models else []), "--json")

    assert opened[0].asked == [("reset", ResetRequest(models=models))]
    assert ran.reply["models_removed"] is models

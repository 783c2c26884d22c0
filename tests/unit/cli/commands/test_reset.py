import pytest

from kebab.wire.health import ResetRequest


@pytest.mark.parametrize("models", [True, False])
def test_with_yes_it_does_not_ask(kebab, opened, models):
    ran = kebab("reset", "--yes", *(["--models"] if models else []), "--json")

    assert opened[0].asked == [("reset", ResetRequest(models=models))]
    assert ran.reply["models_removed"] is models

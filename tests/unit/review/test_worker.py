import typing

import pytest

from kebab.core.review import Unit, UnitKind
from kebab.review.worker import needs_model


@pytest.mark.parametrize("kind", typing.get_args(UnitKind))
def test_only_rules_and_imports_need_no_model(kind):
    assert needs_model(Unit(kind, (0, 0), 0, 0)) == (kind not in {"rules", "import"})

from typing import get_args

from kebab.core.progress import ProgressKind
from kebab.wire.ingest import EventKind


def test_every_kind_of_event_has_a_wire_kind():
    assert {kind.value for kind in ProgressKind} == set(get_args(EventKind))

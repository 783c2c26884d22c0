from typing import get_args

from kebab.core.progress import ProgressKind
from kebab.wire.ingest import EventKind


def test_every_kind_of_event_can_be_said_on_the_wire():
    assert {kind.value for kind in ProgressKind} == set(get_args(EventKind))

"""What the methods do has its tests beside each use case; here they are called once."""

import pytest

from kebab.app.facade import Kebab
from kebab.config.load import load_settings
from kebab.errors.catalog import ReadOnly
from kebab.wire.record import NotFound
from kebab.wire.review import (
    ReviewApplyRequest,
    ReviewRmRequest,
    ReviewRulesRequest,
    ReviewRunsRequest,
)


def open_kebab(desk, *, read_only=False):
    settings = load_settings(environ={}, flags=desk.flags)
    return Kebab(settings, config_path=desk.config, read_only=read_only)


def test_without_a_run_there_is_nothing_to_list_delete_or_apply(desk):
    with open_kebab(desk) as kebab:
        assert kebab.run(ReviewRunsRequest()).runs == []
        assert isinstance(kebab.run(ReviewRmRequest(runs=["r1"])), NotFound)
        assert isinstance(kebab.run(ReviewApplyRequest(run_id="r1")), NotFound)
        assert kebab.run(ReviewRulesRequest()).rules


def test_writing_is_refused_under_read_only(desk):
    with open_kebab(desk, read_only=True) as kebab:
        for request in (ReviewRmRequest(runs=["r1"]), ReviewApplyRequest(run_id="r1")):
            with pytest.raises(ReadOnly):
                kebab.run(request)
        assert isinstance(kebab.run(ReviewApplyRequest(run_id="r1", dry_run=True)), NotFound)

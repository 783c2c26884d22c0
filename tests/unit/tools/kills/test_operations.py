from collections import Counter

from tools.kills.check import Verdict
from tools.kills.operations import Kill, count_kills


def test_kills_are_counted_by_operation_and_faults_are_told():
    told: list[str] = []
    kills = [
        Kill("edit", is_within=True, verdict=Verdict()),
        Kill("edit", is_within=False, verdict=Verdict(lost=["a", "b"], wrong=["c"])),
        Kill("watch", is_within=True, verdict=Verdict(doubled=["d"])),
    ]

    table = count_kills(iter(kills), told.append)

    assert table == {
        "edit": Counter(kills=2, within=1, lost=1, doubled=0, wrong=1),
        "watch": Counter(kills=1, within=1, lost=0, doubled=1, wrong=0),
    }
    assert told == ["edit: a; b; c", "watch: d"]

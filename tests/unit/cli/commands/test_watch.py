import pytest

from kebab.server import watcher
from kebab.wire.stream import WatchEvent


def test_a_stream_ends_with_the_error(kebab):
    ran = kebab("watch", "broken", "--stream")

    (event,) = [one for one in ran.events if one["schema_version"] == "watch_event.v1"]
    assert (event["kind"], event["error"]["code"]) == ("ended", "store_corrupt")


@pytest.mark.parametrize("form", ["", "--json", "--stream"])
def test_a_watcher_that_is_stopped_gives_its_summary(kebab, monkeypatch, form):
    class Stopped:
        requested = True

    build = watcher.build_watcher

    def build_stopped(*arguments, **ports):
        ports["emit"](WatchEvent(kind="polling", message="too many folders"))
        return build(*arguments, **{**ports, "cancel": Stopped()})

    monkeypatch.setattr(watcher, "build_watcher", build_stopped)
    ran = kebab("watch", *form.split())

    if not form:
        assert ran.out.startswith("ended after ")
        assert ran.err == "warning: too many folders\n"
        return
    last = ran.reply if form == "--json" else ran.events[-1]["summary"]
    assert (ran.status, last["runs"], last["interrupted"]) == (0, 0, False)

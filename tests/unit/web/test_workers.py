import asyncio
import os
import time
from typing import NamedTuple

import pytest

from kebab.errors.catalog import ParseFailed, TimedOut
from kebab.web.render import RenderTask
from kebab.web.workers import RenderWorkers


class Act(NamedTuple):
    """A task that ends in one of several ways."""

    what: str

    def __call__(self):
        if self.what == "crash":
            os._exit(3)
        if self.what == "raise":
            raise ValueError("no")
        while self.what == "loop":
            pass
        return os.getpid()


@pytest.fixture
def workers():
    made = RenderWorkers(most=1, deadline_s=0.5)
    yield made
    made.close()


def test_a_worker_is_used_again_and_replaced_when_it_fails(workers):
    async def use():
        first = await workers.run(Act(""), "a.md")
        assert first == await workers.run(Act(""), "a.md") != os.getpid()
        for what, fault in (("raise", ParseFailed), ("crash", ParseFailed), ("loop", TimedOut)):
            with pytest.raises(fault):
                await workers.run(Act(what), "a.md")
        assert await workers.run(Act(""), "a.md") != first

    asyncio.run(use())


def test_a_document_that_cannot_be_rendered_in_time_is_plain(workers, monkeypatch):
    tasks = []
    run = workers._run

    def fail_once(task):
        tasks.append(task.task)
        return run(Act("loop") if len(tasks) == 1 else task)

    monkeypatch.setattr(workers, "_run", fail_once)
    task = RenderTask("0a", "a.md", "text/markdown", "# x")

    assert 'class="code"' in asyncio.run(workers.render(task))
    assert [one.is_plain for one in tasks] == [False, True]


def test_unused_workers_end(workers, monkeypatch):
    monkeypatch.setattr("kebab.web.workers._UNUSED_S", 0.05)

    async def use():
        workers.prepare()
        pid = await workers.run(Act(""), "a.md")
        tidying = asyncio.create_task(workers.end_unused())
        end = time.monotonic() + 10
        while workers._resting and time.monotonic() < end:  # noqa: ASYNC110 - another thread acts
            await asyncio.sleep(0.02)
        tidying.cancel()
        assert not workers._resting
        with pytest.raises(OSError, match="process"):
            os.kill(pid, 0)

    asyncio.run(use())

import asyncio
import importlib
import sys
import threading
import time
from contextlib import suppress
from functools import partial

import pytest

from kebab.core.progress import Cancel
from kebab.errors.catalog import ServerBusy
from kebab.http.service import Interrupted, Job, JobThreads
from tests.fakes.waiting import wait_until


@pytest.fixture
def start_threads():
    made = []

    def make(threads=1, waiting=100):
        made.append(JobThreads("test", threads, waiting))
        return made[-1]

    yield make
    for one in made:
        one.stop()


def test_jobs_run_in_order_in_another_thread(start_threads):
    found: list[int] = []

    def note(number):
        found.append(number)
        return threading.current_thread().name

    async def main():
        threads = start_threads()
        jobs = [Job(partial(note, n)) for n in range(9)]
        for job in jobs:
            threads.submit(job)
        return [await job.future for job in jobs]

    assert asyncio.run(main()) == ["test-0"] * 9
    assert found == list(range(9))


def test_an_exception_reaches_the_one_who_waits(start_threads):
    async def main():
        job = Job(lambda: 1 / 0)
        start_threads().submit(job)
        await job.future

    with pytest.raises(ZeroDivisionError):
        asyncio.run(main())


def test_a_full_queue_refuses(start_threads):
    release = threading.Event()

    async def main():
        threads = start_threads(waiting=2)
        first = Job(release.wait)
        threads.submit(first)
        await asyncio.to_thread(wait_until, lambda: not threads._queue.qsize())
        others = [Job(lambda: 1), Job(lambda: 2)]
        for job in others:
            threads.submit(job)
        with pytest.raises(ServerBusy) as caught:
            threads.submit(Job(lambda: 3))
        release.set()
        await asyncio.gather(*(job.future for job in others))
        return caught.value.waiting

    assert asyncio.run(main()) == 2


def work_until_interrupted(began: threading.Event, seen: list[str]) -> str:
    began.set()
    try:
        while True:
            time.sleep(0.001)
    except KeyboardInterrupt:
        seen.append("interrupted")
        return "kept"


def test_work_is_interrupted_like_by_ctrl_c_and_the_thread_goes_on(start_threads):
    began = threading.Event()
    seen: list[str] = []

    async def main():
        threads = start_threads()
        job = Job(lambda: work_until_interrupted(began, seen))
        threads.submit(job)
        await asyncio.to_thread(began.wait)
        job.stop()
        after = Job(lambda: "after")
        threads.submit(after)
        return await job.future, await after.future

    assert asyncio.run(main()) == ("kept", "after")
    assert seen == ["interrupted"]


def test_an_import_is_not_interrupted_but_what_follows_is(start_threads, tmp_path, monkeypatch):
    slow = "import threading\n\nbegan, goes_on = threading.Event(), threading.Event()\n"
    (tmp_path / "slow_library.py").write_text(
        "import slow_events\nslow_events.began.set()\nslow_events.goes_on.wait()\ndone = True\n"
    )
    (tmp_path / "slow_events.py").write_text(slow)
    monkeypatch.syspath_prepend(tmp_path)
    events = importlib.import_module("slow_events")
    seen: list[str] = []

    def work():
        importlib.import_module("slow_library")
        return work_until_interrupted(threading.Event(), seen)

    async def main():
        job = Job(work)
        start_threads().submit(job)
        await asyncio.to_thread(events.began.wait)
        job.stop()
        events.goes_on.set()
        return await job.future

    try:
        assert asyncio.run(main()) == "kept"
        assert sys.modules["slow_library"].done
    finally:
        for name in ("slow_library", "slow_events"):
            sys.modules.pop(name, None)


def test_an_interruption_that_the_work_does_not_handle_is_an_exception(start_threads):
    began = threading.Event()

    def work():
        began.set()
        while True:
            time.sleep(0.001)

    async def main():
        job = Job(work)
        start_threads().submit(job)
        await asyncio.to_thread(began.wait)
        job.stop()
        await job.future

    with pytest.raises(Interrupted):
        asyncio.run(main())


def test_work_with_a_flag_is_asked_first_and_interrupted_the_second_time(start_threads):
    cancel, began = Cancel(), threading.Event()
    seen: list[str] = []

    async def main():
        job = Job(lambda: work_until_interrupted(began, seen), cancel)
        start_threads().submit(job)
        await asyncio.to_thread(began.wait)
        job.stop()
        await asyncio.sleep(0.05)
        asked = (cancel.requested, list(seen))
        job.stop()
        return asked, await job.future

    assert asyncio.run(main()) == ((True, []), "kept")


def test_a_job_that_is_stopped_while_it_waits_never_begins(start_threads):
    release, began = threading.Event(), []

    async def main():
        threads = start_threads()
        first, second = Job(release.wait), Job(lambda: began.append(1))
        threads.submit(first)
        threads.submit(second)
        second.stop()
        release.set()
        with pytest.raises(Interrupted):
            await second.future

    asyncio.run(main())

    assert not began


def test_a_job_that_never_begins_may_have_a_result_all_the_same(start_threads):
    release = threading.Event()

    async def main():
        threads = start_threads()
        first, second = Job(release.wait), Job(lambda: "done", None, lambda: "given up")
        threads.submit(first)
        threads.submit(second)
        second.stop()
        release.set()
        return await second.future

    assert asyncio.run(main()) == "given up"


def test_stopping_at_any_moment_loses_no_job(start_threads):
    """Stops hit the work at its begin, in its middle and after its end."""
    count = 400

    async def main():
        threads = start_threads(threads=2, waiting=count)
        ended = 0
        for number in range(count):
            job = Job(lambda: sum(range(2000)))
            threads.submit(job)
            await asyncio.sleep((number % 5) * 0.0001)
            job.stop()
            with suppress(Interrupted):
                await asyncio.wait_for(job.future, 10)
            ended += 1
        last = Job(lambda: "alive")
        threads.submit(last)
        return ended, await last.future

    assert asyncio.run(main()) == (count, "alive")
    assert sum(thread.name.startswith("test-") for thread in threading.enumerate()) >= 2


def test_threads_end_when_they_are_stopped(start_threads):
    async def main():
        threads = start_threads(threads=3)
        threads.stop()
        return threads._threads

    for thread in asyncio.run(main()):
        thread.join(10)
        assert not thread.is_alive()

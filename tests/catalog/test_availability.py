from __future__ import annotations

import asyncio
import gc
import threading
import weakref

import pytest

from toolcrib.catalog.availability import Availability
from toolcrib.catalog.view import View


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Probe:
    """Answers what it is told to, and counts how often it was asked."""

    def __init__(self, answer=True):
        self.answer = answer
        self.asked = 0

    def __call__(self):
        self.asked += 1
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def availability(clock):
    return Availability(clock=clock, patience=5.0)


async def test_a_tool_without_a_probe_is_always_available(make, availability):
    tool = make("a")
    assert await availability.available([tool]) == {tool}


async def test_a_probe_decides_sync_or_async(make, availability):
    async def yes():
        return True

    async def no():
        return False

    async def later():
        return True

    good = [make("a", availability=yes), make("b", availability=lambda: True), make("c", availability=lambda: later())]
    bad = [make("d", availability=no), make("e", availability=lambda: False), make("f", availability=lambda: None)]
    assert await availability.available(good + bad) == set(good)


@pytest.mark.parametrize("failure", [RuntimeError("down"), SystemExit(1), KeyboardInterrupt()])
async def test_a_probe_that_raises_has_failed(make, availability, failure):
    assert await availability.available([make("a", availability=Probe(failure))]) == set()


async def test_an_answer_holds_for_half_a_minute(make, availability, clock):
    probe = Probe()
    tool = make("a", availability=probe)
    await availability.available([tool])
    clock.now += 29
    await availability.available([tool])
    assert probe.asked == 1
    clock.now += 2
    await availability.available([tool])
    assert probe.asked == 2


async def test_a_refusal_is_cached_too(make, availability):
    probe = Probe(False)
    tool = make("a", availability=probe)
    await availability.available([tool])
    assert await availability.available([tool]) == set()
    assert probe.asked == 1


async def test_a_flaky_probe_keeps_its_tool_for_two_minutes_after_its_last_success(make, availability, clock):
    probe = Probe()
    tool = make("a", availability=probe)
    assert await availability.available([tool]) == {tool}
    probe.answer = RuntimeError("down")
    clock.now += 31
    assert await availability.available([tool]) == {tool}
    clock.now += 60
    assert await availability.available([tool]) == {tool}
    assert probe.asked == 3
    clock.now += 30
    assert await availability.available([tool]) == set()


async def test_a_tool_that_never_worked_has_no_grace_and_comes_when_it_works(make, availability, clock):
    probe = Probe(False)
    tool = make("a", availability=probe)
    assert await availability.available([tool]) == set()
    probe.answer = True
    clock.now += 31
    assert await availability.available([tool]) == {tool}


async def test_concurrent_askers_share_one_probe(make, availability):
    asked, gate = [], asyncio.Event()

    async def probe():
        asked.append(1)
        await gate.wait()
        return True

    tool = make("a", availability=probe)
    askers = [asyncio.create_task(availability.available([tool])) for _ in range(10)]
    await asyncio.sleep(0)
    gate.set()
    assert await asyncio.gather(*askers) == [{tool}] * 10
    assert len(asked) == 1


async def test_a_slow_probe_is_left_out_now_and_counts_once_it_has_answered(make, clock):
    availability = Availability(clock=clock, patience=0.01)
    gate = asyncio.Event()

    async def probe():
        await gate.wait()
        return True

    tool, other = make("a", availability=probe), make("b")
    assert await availability.available([tool, other]) == {other}
    gate.set()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert await availability.available([tool, other]) == {tool, other}


async def test_a_probe_that_hangs_holds_up_only_the_first_menu(make, clock):
    availability = Availability(clock=clock, patience=0.01)
    hang = threading.Event()
    tool = make("a", availability=hang.wait)
    assert await availability.available([tool]) == set()
    clock.now += 1
    assert await availability.available([tool]) == set()
    hang.set()


async def test_a_probe_without_an_answer_is_begun_anew_after_a_while(make, clock):
    availability = Availability(clock=clock, patience=0.01)
    hang, answers = asyncio.Event(), []

    async def probe():
        answers.append(1)
        if len(answers) == 1:
            await hang.wait()
        return True

    tool = make("a", availability=probe)
    assert await availability.available([tool]) == set()
    clock.now += 61
    assert await availability.available([tool]) == {tool}
    hang.set()


async def test_a_sync_probe_that_hangs_is_never_begun_a_second_time_beside_itself(make, clock):
    availability = Availability(clock=clock, patience=0.01)
    hang, asked = threading.Event(), []

    def probe():
        asked.append(1)
        hang.wait()
        return True

    tool = make("a", availability=probe)
    for _ in range(5):
        assert await availability.available([tool]) == set()
        clock.now += 61
    assert len(asked) == 1
    hang.set()


async def test_a_view_is_shown_without_the_tools_that_cannot_be_used(make, availability):
    tools = [make("a", availability=lambda: False), make("b", availability=lambda: True), make("c")]
    usable = await availability.usable(View(tools))
    assert usable.tools == tuple(tools[1:])
    plain = View(tools[2:])
    assert await availability.usable(plain) is plain


async def test_an_asker_that_is_cancelled_leaves_the_probe_to_the_others(make, availability):
    gate = asyncio.Event()

    async def probe():
        await gate.wait()
        return True

    tool = make("a", availability=probe)
    first = asyncio.create_task(availability.available([tool]))
    second = asyncio.create_task(availability.available([tool]))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.sleep(0)
    gate.set()
    assert await second == {tool}


def test_a_loop_that_ends_in_the_middle_of_a_probe_leaves_the_next_one_free(make, clock):
    availability = Availability(clock=clock, patience=0.01)
    asked = []

    async def probe():
        asked.append(1)
        if len(asked) == 1:
            await asyncio.Event().wait()
        return True

    tool = make("a", availability=probe)
    assert asyncio.run(availability.available([tool])) == set()
    assert asyncio.run(availability.available([tool])) == {tool}


def test_two_loops_in_two_threads_share_one_probe(make, availability):
    begun, gate = threading.Event(), threading.Event()
    asked, found = [], []

    def probe():
        asked.append(1)
        begun.set()
        gate.wait()
        return True

    tool = make("a", availability=probe)
    threads = [
        threading.Thread(target=lambda: found.append(asyncio.run(availability.available([tool])))) for _ in range(2)
    ]
    threads[0].start()
    begun.wait()
    threads[1].start()
    gate.set()
    for thread in threads:
        thread.join()
    assert found == [{tool}, {tool}]
    assert len(asked) == 1


async def test_what_is_known_of_a_tool_dies_with_it(make, availability):
    tool = make("a", availability=lambda: True)
    gone = weakref.ref(tool)
    await availability.available([tool])
    del tool
    await asyncio.sleep(0)
    gc.collect()
    assert gone() is None

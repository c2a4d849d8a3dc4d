"""A moment of a barrier program, and a step from it: plain tuples, so that a state that was seen is known again.

    state = where each agent is │ each barrier │ loads in flight │ phases each agent has waited for │ meetings of `all`

>>> State((0,), (None,), (), (), ()).places
(0,)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tmalab.model.barrier_code import Instruction
from tmalab.model.mbarrier import MBarrier


class InFlight(NamedTuple):
    """A load on its way: its flight, the bytes or the listed pieces that are left, the phase in which it was issued."""

    flight: int
    left: int
    phase: int


class State(NamedTuple):
    """`seen` is the latest phase that each (agent, barrier) has waited for; `gates` the members still to come."""

    places: tuple[int, ...]
    bars: tuple[MBarrier | None, ...]
    flights: tuple[InFlight, ...]
    seen: tuple[int, ...]
    gates: tuple[int, ...]


class Choice(NamedTuple):
    """A step: of the agents that move together (one but for a sync), or of the engine, which lands `tx_bytes`."""

    agents: tuple[int, ...]
    flight: int = -1
    tx_bytes: int = 0


class Trouble(NamedTuple):
    """What a step breaks: the instruction (None for the engine), the barrier, and the numbers that say it."""

    instruction: Instruction | None
    agent: int
    bar: int
    numbers: dict[str, Any]


Tell = Callable[[str, str, Trouble], None]


def put(entries: tuple[Any, ...], at: int, value: Any) -> tuple[Any, ...]:
    """The same entries with another one at that place."""
    return (*entries[:at], value, *entries[at + 1 :])

"""A barrier program in short lines, for tests: agent, operation, then its fields in the grammar's order.

p arrive_expect_tx full 4096        c wait full 0        t0 wait_group 0 read        p tma_load full 4096 s0 desc=A
"""

from typing import Any

from tmalab.model.barrier_events import OPS

NUMBERS = {"bytes", "count", "parity", "n", "address"}


def program(text: str) -> list[dict[str, Any]]:
    """The events of the lines; empty ones and what follows # are left aside."""
    lines = (line.split("#")[0].split() for part in text.splitlines() for line in part.split(";"))
    return [_event(line) for line in lines if line]


def _event(words: list[str]) -> dict[str, Any]:
    agent, op, *rest = words
    event: dict[str, Any] = {"t": agent, "op": op}
    places = [field.rstrip("?") for field in OPS[op]]
    for word in rest:
        if word in ("read", "multicast"):
            event[word] = 1
            continue
        name, _, value = word.partition("=") if "=" in word else (places[0], "", word)
        if name in places:
            places.remove(name)
        if name == "multicast":
            event[name] = [int(cta) for cta in value.split(",")]
        else:
            event[name] = int(value) if name in NUMBERS else value
    return event

"""Steps on a barrier in words, and what they returned: one line each, for the page *What we measured*.

>>> shown_steps([["INIT", 2], ["ARRIVE"], ["TEST_PARITY", 0]], [0, 0x7FFFF00000000000, 0])
'7ffff000 false'
>>> steps_text([["INIT", 2], ["ARRIVE"], ["TEST_PARITY", 0]])
'INIT 2, ARRIVE, TEST_PARITY 0'
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def shown_steps(steps: Sequence[Sequence[Any]], results: Sequence[int]) -> str:
    """What the steps returned: a state's upper half, a word, a truth, a count; of the others nothing."""
    shown = []
    for (op, *_), value in zip(steps, results, strict=False):  # a launch may be padded
        if op.startswith("ARRIVE") and op != "ARRIVE_OTHERS":
            shown.append(f"{value >> 32:08x}")
        elif op.startswith(("TEST", "TRY")):
            shown.append("true" if value else "false")
        elif op == "PENDING_COUNT":
            shown.append(str(value))
        elif op.startswith(("LD", "ATOM", "BULK")):
            shown.append(f"{value:016x}")
    return " ".join(shown)


def steps_text(steps: Sequence[Sequence[Any]]) -> str:
    """The steps as one line."""
    return ", ".join(" ".join(str(part) for part in step[:2]) for step in steps)

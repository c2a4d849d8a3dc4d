"""What the GPU did with a kernel of the gallery, in words and in parts: counted, and none claimed unseen.

    {"runs": 1024, "right": 590, "wrong": 434, …} ─▶ Wrong bytes in 434 of 1024 runs (4064 to 4091 a run); …

>>> outcome_sentence({"runs": 8, "right": 8, "wrong": 0, "stopped": 0, "refused": 0, "errors": {}, "launches": 1})
'Right in all 8 runs.'
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# In the order in which a bar shows them: the key in an outcome, and the word for the reader.
PARTS = (("right", "right"), ("wrong", "wrong bytes"), ("stopped", "past the deadline"), ("refused", "refused"))


def outcome_sentence(seen: Mapping[str, Any]) -> str:
    """One sentence on all runs of one version."""
    runs = seen["runs"] - seen["refused"]
    parts = [
        f"{error} in {_of(launches, seen['launches'], 'launch', 'launches')}"
        for error, launches in seen["errors"].items()
    ]
    several = "other runs" if parts else "runs"
    if seen["wrong"]:
        least, most = seen["wrong_bytes"]
        how_many = f"{least}" if least == most else f"{least} to {most}"
        parts.append(f"wrong bytes in {_of(seen['wrong'], runs, 'run', several)} ({how_many} a run)")
    if seen["stopped"]:
        parts.append(f"past the deadline in {_of(seen['stopped'], runs, 'run', several)}")
    if not parts:
        return f"Right in all {runs} runs."
    if seen["right"] and parts:
        parts.append(f"right in the other {seen['right']}")
    sentence = "; ".join(parts)
    return f"{sentence[0].upper()}{sentence[1:]}."


def shares(seen: Mapping[str, Any]) -> list[tuple[str, int]]:
    """(word, runs) of every part that is not empty."""
    return [(word, seen[key]) for key, word in PARTS if seen[key]]


def _of(part: int, whole: int, one: str, several: str) -> str:
    if part == whole:
        return f"all {whole} {several}" if whole > 1 else f"the one {one}"
    return f"{part} of {whole} {several}"

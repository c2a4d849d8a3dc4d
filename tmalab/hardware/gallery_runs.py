"""A kernel of the gallery, its broken and its mended version, run some launches each and added up.

gallery/NAME.cu ─▶ broken × repeats ─▶ {"launches": 3, "runs": 3072, "right": 0, "wrong": 0, "stopped": 3072, …}
                └▶ fixed  × repeats ─▶ {"launches": 3, "runs": 3072, "right": 3072, …}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tmalab.hardware.compile import kernel_sources
from tmalab.hardware.kernel_file import parse_kernel_file, version, without_events

VERSIONS = ("broken", "fixed")
DEADLINE_NS = 2_000_000
_COUNTED = ("runs", "right", "wrong", "stopped")


def gallery_item(kernel: str, version_name: str) -> dict[str, Any]:
    """What the probe "watch" is asked: one launch of that version. Raises InputError for an unknown kernel."""
    text = kernel_sources(kernel)[f"{kernel}.cu"]
    shown = without_events(version(text, broken=version_name == "broken"))
    return {"text": shown, "name": f"{kernel.rsplit('/', maxsplit=1)[-1]}.cu", "deadline_ns": DEADLINE_NS}


def add_up(item: Mapping[str, Any], replies: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The outcome of several launches of one kernel: runs counted, the first block's stops.

    A launch that the driver or the GPU refused counts all of its runs as `refused`; `errors` names what they raised.
    """
    runs = parse_kernel_file(item["text"]).runs
    total: dict[str, Any] = {"launches": len(replies), **dict.fromkeys(_COUNTED, 0), "refused": 0, "errors": {}}
    total |= {"stops": [], "alike": 0, "wrong_bytes": None}
    for values in replies:
        if error := values["error"]:
            total["errors"][error] = total["errors"].get(error, 0) + 1
            total["refused"] += runs
            total["runs"] += runs
            continue
        for name in _COUNTED:
            total[name] += values[name]
        total["stops"] = total["stops"] or values["stops"]
        total["alike"] += values["alike"] if _kind(values["stops"]) == _kind(total["stops"]) else 0
        if values["wrong_bytes"]:
            least, most = total["wrong_bytes"] or values["wrong_bytes"]
            total["wrong_bytes"] = [min(least, values["wrong_bytes"][0]), max(most, values["wrong_bytes"][1])]
    return total


def _kind(stops: Sequence[Mapping[str, Any]]) -> list[tuple[Any, ...]]:
    return [(stop["line"], stop["pending_arrivals"], stop["surplus_bytes"]) for stop in stops]

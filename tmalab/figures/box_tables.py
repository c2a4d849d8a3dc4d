"""What the box explorer shows before anyone types: each example's map, and every place where its box was put.

    example    a map            what `explore` says of it, once
               copies           what `explore` says of each place, and what the H200 left in shared memory there

>>> [example.name for example in EXAMPLES][:3], EXAMPLES[0].coords[0]
(['plane', 'nan', 'strides'], (-4, -3))

Each element of the tensor holds a number of its own, so that the bytes of shared memory say by themselves what came.
"""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

from tmalab import model
from tmalab.checker.explore import OF_THE_MAP, explore
from tmalab.experiment.box_cases import (
    BOX_COORDS,
    BOX_MAPS,
    BOX_MEMORY,
    BOX_OFFSET,
    BOX_SMEM_BYTES,
    FAULT_COORDS,
    REFUSED_MAP,
    box_case,
    fault_case,
    refused_case,
)
from tmalab.experiment.case import Case
from tmalab.experiment.memory import make_bytes
from tmalab.experiment.observation import Observation
from tmalab.figures.answers import Observe, recorded_of
from tmalab.figures.tile_tables import gpu_name, source_line
from tmalab.model.tensor_map import TensorMap

VIEWS = ("hardware", "model", "difference")
FIELDS = ("dtype", "global_dim", "global_strides", "box_dim", "element_strides", "swizzle", "oob_fill")


class Example(NamedTuple):
    """One map of the figure: its name in the address, its name to the reader, where its box may be put at once."""

    name: str
    label: str
    tensor_map: TensorMap
    coords: tuple[tuple[int, ...], ...]
    first: tuple[int, ...]

    def case(self, coords: tuple[int, ...]) -> Case:
        """The case that shows this example at `coords`."""
        if self.name == "refused":
            return refused_case()
        return fault_case() if self.name == "fault" else box_case(self.name, coords)


_LABELS = {
    "plane": ("rank 2", (4, 2)),
    "nan": ("rank 2, NaN fill", (12, 6)),
    "strides": ("rank 2, element strides", (4, 0)),
    "wide": ("rank 2, a wide box", (0, 0)),
    "padded": ("rank 2, padded rows", (4, 2)),
    "rank-1": ("rank 1", (4,)),
    "rank-3": ("rank 3", (4, 2, 1)),
    "rank-4": ("rank 4", (4, 2, 1, 1)),
    "rank-5": ("rank 5", (4, 2, 1, 1, 0)),
}
EXAMPLES: tuple[Example, ...] = (
    *(Example(name, label, BOX_MAPS[name], BOX_COORDS[name], first) for name, (label, first) in _LABELS.items()),
    Example("refused", "refused by the driver", REFUSED_MAP, ((0, 0),), (0, 0)),
    Example("fault", "refused by the engine", BOX_MAPS["plane"], (FAULT_COORDS,), FAULT_COORDS),
)


def place(coords: tuple[int, ...]) -> str:
    """Coordinates as a key: 4.2"""
    return ".".join(map(str, coords))


def fields_of(tm: TensorMap) -> dict[str, Any]:
    """The fields that the figure shows, and a reader may change."""
    said = tm.to_dict()
    return {name: said[name] for name in FIELDS}


def box_spec(observe: Observe | None, title: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Everything that the figure shows without computing, and where it was measured: (spec, provenance), plain JSON.

    A copy's `line` is the number of its provenance, -1 where nothing is recorded; `outcome` what became of it there;
    `changed` the box elements that hold something else than the model says, in words; `differing` counts bytes.
    """
    lines: dict[str, int] = {}
    gpu = gpu_name(None)
    examples = []
    for example in EXAMPLES:
        copies = {}
        for coords in example.coords:
            answer = explore({"tensor_map": example.tensor_map.to_dict(), "coords": list(coords)})
            seen = recorded_of(observe, example.case(coords))
            if seen is not None:
                gpu = gpu_name(seen)
            line = -1 if seen is None else lines.setdefault(source_line(seen), len(lines))
            said = {name: value for name, value in answer.items() if name not in (*OF_THE_MAP, "schema")}
            copies[place(coords)] = {**said, "line": line, **_measured(example, coords, answer, seen)}
        examples.append(
            {
                "name": example.name, "label": example.label, "fields": fields_of(example.tensor_map),
                "first": list(example.first), "window": _window(example),
                "map": {name: answer[name] for name in OF_THE_MAP}, "copies": copies,
            }
        )  # fmt: skip
    spec = {
        "schema": 1, "name": "box", "title": title, "examples": examples, "rules": "rules.html#rule-",
        "choices": {"example": [example.name for example in EXAMPLES], "view": list(VIEWS)},
        "words": {
            "dtype": ["uint8", "float16", "bfloat16", "float32", "float64"],
            "swizzle": ["none", "32B", "64B", "128B"], "oob_fill": ["none", "nan"],
        },
    }  # fmt: skip
    return spec, {"lines": list(lines), "gpu": gpu}


def _window(example: Example) -> list[list[int]]:
    """What of the plane of the two innermost dimensions is drawn: the tensor, and wherever the box is put."""
    found = []
    for size, box, *starts in zip(
        example.tensor_map.global_dim, example.tensor_map.box_dim, *example.coords, strict=True
    ):
        found.append([min(0, *starts), max(size, max(starts) + box)])
    return [*found, [0, 1]][:2]


def _measured(
    example: Example, coords: tuple[int, ...], answer: dict[str, Any], seen: Observation | None
) -> dict[str, Any]:
    """`outcome`, `differing` and `changed` of one observation; nothing of them without one."""
    if seen is None:
        return {}
    if "accepted" in seen.values:
        return {"outcome": "accepted" if seen["accepted"] else "refused"}
    if error := seen.values.get("error") or (None if seen.values.get("completed", True) else "TIMEOUT"):
        return {"outcome": error}
    memory = make_bytes(BOX_MEMORY)[BOX_OFFSET:]
    said = model.load(example.tensor_map, memory, coords, smem_bytes=BOX_SMEM_BYTES).tobytes()
    held = seen["smem"].tobytes()
    differing = sum(one != other for one, other in zip(held, said, strict=True))
    changed = [
        {"element": element, "holds": holds(found, example.tensor_map), "hex": found.hex()}
        for element, byte in enumerate(answer["shared"])
        if (found := held[byte : byte + 4]) != said[byte : byte + 4]
    ]  # fmt: skip
    return {"outcome": "ran", "differing": differing, "of": len(said), "changed": changed}


# The bytes of each element of the longest tensor, and its number.
_KNOWN = {
    make_bytes(BOX_MEMORY)[start : start + 4].tobytes(): start // 4 - BOX_OFFSET // 4
    for start in range(BOX_OFFSET, BOX_MEMORY["bytes"], 4)  # type: ignore[call-overload]
}


def holds(content: bytes, tm: TensorMap) -> str:
    """Four bytes of shared memory in words: the element of the tensor that they are, or their hex digits."""
    number = _KNOWN.get(content)
    if number is None:
        return f"bytes {content.hex()}"
    indices = []
    for size in tm.global_dim:
        number, index = divmod(number, size)
        indices.append(index)
    return f"element ({', '.join(map(str, indices))})" if number == 0 else f"bytes {content.hex()}"


def elements(copied: list[int]) -> list[tuple[int, ...]]:
    """The positions in a box of that size, innermost dimension fastest."""
    return [position[::-1] for position in product(*map(range, reversed(copied)))]

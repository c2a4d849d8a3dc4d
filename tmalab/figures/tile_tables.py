"""What Figure 1 shows, as tables: for each of its 324 states what shared memory held, and what the model says.

    shared memory, 16 bytes ──looked up among the tensor's──▶ chunk 3 * 16 + 5: row 3, column 5
                              all 0xCD                    ──▶ untouched
                              anything else               ──▶ changed: its bytes, and where they differ

>>> tensor = make_bytes({"pattern": "iota16", "bytes": 4096})
>>> decode(bytes(tensor[16:32]) + b"\\xcd" * 16 + b"?" * 16, tensor)
[1, -1, -2]
>>> pack([-1, 1, 255, -2, -1])
'1:01ff!!'

The hardware's table is read from its bytes alone; the model takes no part in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any

from tmalab import model
from tmalab.experiment.catalogue import (
    TILE_BASES,
    TILE_BOXES,
    TILE_COLS,
    TILE_MEMORY,
    TILE_ROWS,
    tile_figure_case,
    tile_figure_map,
)
from tmalab.experiment.memory import make_bytes
from tmalab.experiment.observation import Observation
from tmalab.experiment.transfer_case import BACKGROUND
from tmalab.figures.answers import Observe, answer_of
from tmalab.model.tensor_map import TensorMap

if TYPE_CHECKING:
    import numpy as np


CHUNK = 16  # bytes
LINE = 128  # bytes: one word of each of the 32 banks
TENSOR_ROWS, TENSOR_CHUNKS = 16, 16  # 16 rows of 128 fp16 elements
SMEM_BYTES = 3072
DRAWN_LINES = 16  # as many as the tensor has rows; further ones are drawn where something stands in them
UNTOUCHED, CHANGED = -1, -2

# The states' parts in the order in which they are counted, the last one fastest.
STATES: dict[str, Sequence[Any]] = {
    "swizzle": tuple(TILE_BOXES), "row": TILE_ROWS, "col": TILE_COLS, "base": TILE_BASES,
}  # fmt: skip
VIEWS = ("hardware", "model", "difference")


def decode(smem: bytes, tensor: np.ndarray) -> list[int]:
    """For each 16-byte chunk of `smem`: which chunk of `tensor` it is, UNTOUCHED or CHANGED.

    A chunk of the tensor is counted row by row. Each is unlike all others (the tensor holds 0, 1, 2 …), so its
    bytes alone say where it came from.
    """
    whole = tensor.tobytes()
    known = {whole[start : start + CHUNK]: start // CHUNK for start in range(0, len(whole), CHUNK)}
    known[bytes([BACKGROUND]) * CHUNK] = UNTOUCHED
    return [known.get(smem[start : start + CHUNK], CHANGED) for start in range(0, len(smem), CHUNK)]


def pack(chunks: Sequence[int]) -> str:
    """A table as short text: where its first touched chunk stands, and two characters a chunk up to its last."""
    touched = [place for place, chunk in enumerate(chunks) if chunk != UNTOUCHED]
    if not touched:
        return "0:"
    symbols = {UNTOUCHED: "..", CHANGED: "!!"}
    first, last = touched[0], touched[-1]
    return f"{first}:" + "".join(symbols.get(chunk) or f"{chunk:02x}" for chunk in chunks[first : last + 1])


def states() -> Iterator[tuple[str, int, int, int]]:
    """All states, as the arguments of `tile_figure_case`, in the order of STATES."""
    return product(*STATES.values())


@lru_cache(maxsize=1)
def predictions() -> tuple[bytes, ...]:
    """Shared memory after the load, as the model has it, for each state."""
    memory = make_bytes(TILE_MEMORY)
    return tuple(
        model.load(
            tile_figure_map(swizzle), memory, (col, row), smem_bytes=SMEM_BYTES, smem_base=base, background=BACKGROUND
        ).tobytes()
        for swizzle, row, col, base in states()
    )


def observed(observe: Observe) -> Iterator[Observation | None]:
    """The observation of each state; None where there is no recording of it.

    Raises HardwareError where the experiment itself failed: its bytes are then no answer.
    """
    for state in states():
        yield answer_of(observe, tile_figure_case(*state))


def changes(smem: bytes, predicted: bytes, chunks: Sequence[int]) -> list[dict[str, Any]]:
    """Of each CHANGED chunk: its bytes in hex, and the first one that is not as the model says."""
    found = []
    for chunk in (place for place, what in enumerate(chunks) if what == CHANGED):
        start = chunk * CHUNK
        byte = next(at for at in range(start, start + CHUNK) if smem[at] != predicted[at])
        found.append(
            {
                "chunk": chunk, "bytes": smem[start : start + CHUNK].hex(), "byte": byte,
                "is": f"{smem[byte]:02x}", "not": f"{predicted[byte]:02x}",
            }
        )  # fmt: skip
    return found


def swizzle_words(swizzle: str) -> dict[str, Any]:
    """What the sentence about the XOR needs of one mode; each number is asked of the model.

    linear: the chunk, counted from the box's own start, that each chunk of the box would have without a swizzle
    phases: what the chunk's number is XORed with, for each 128-byte line of shared memory
    period: after how many lines the phases repeat
    """
    tensor_map, lines = tile_figure_map(swizzle), SMEM_BYTES // LINE
    element = tensor_map.element.bytes
    plain = TensorMap.tiled(tensor_map.dtype, tensor_map.global_dim, tensor_map.global_strides, tensor_map.box_dim)
    linear = model.shared_offsets(plain)[:: CHUNK // element].T.ravel() // CHUNK
    phases = [int(model.shared_offsets(tensor_map, smem_base=line * LINE)[0, 0]) // CHUNK % 8 for line in range(lines)]
    period = next(length for length in range(1, lines) if phases[length:] == phases[:-length])
    return {
        "box": list(tensor_map.box_dim), "chunks": tensor_map.box_dim[0] * element // CHUNK,
        "bytes": tensor_map.transaction_bytes(), "linear": linear.tolist(), "phases": phases, "period": period,
    }  # fmt: skip


def tile_spec(observe: Observe | None, title: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Everything that Figure 1 draws, and where it was measured: (spec, provenance), both plain JSON.

    `spec["model"]` and `spec["hardware"]` give for each state the number of its table in `spec["tables"]`; tables
    that are equal are held once, and -1 is a state that was not measured.
    """
    tensor = make_bytes(TILE_MEMORY)
    predicted = predictions()
    seen = list(observed(observe)) if observe else [None] * len(predicted)
    tables: dict[str, int] = {}
    lines: dict[str, int] = {}
    hardware, of, changed = [], [], {}
    model_tables = [tables.setdefault(pack(decode(smem, tensor)), len(tables)) for smem in predicted]
    for number, observation in enumerate(seen):
        if observation is None:
            hardware.append(-1)
            of.append(-1)
            continue
        smem = observation["smem"].tobytes()
        chunks = decode(smem, tensor)
        hardware.append(tables.setdefault(pack(chunks), len(tables)))
        of.append(lines.setdefault(source_line(observation), len(lines)))
        if found := changes(smem, predicted[number], chunks):
            changed[str(number)] = found
    spec = {
        "schema": 1, "name": "tile", "title": title,
        "tensor": {"rows": TENSOR_ROWS, "chunks": TENSOR_CHUNKS, "label": "16 × 128 fp16"},
        "smem": {"chunks": SMEM_BYTES // CHUNK, "lines": DRAWN_LINES, "background": f"{BACKGROUND:02x}"},
        "banks": [f"{bank}–{bank + 3}" for bank in range(0, 32, 4)],
        "choices": {**{name: list(values) for name, values in STATES.items()}, "view": list(VIEWS)},
        "columns": [col * 2 // CHUNK for col in TILE_COLS],
        "swizzles": {swizzle: swizzle_words(swizzle) for swizzle in TILE_BOXES},
        "tables": list(tables), "model": model_tables, "hardware": hardware, "changed": changed,
    }  # fmt: skip
    first = next((observation for observation in seen if observation), None)
    provenance: dict[str, Any] = {"lines": list(lines), "gpu": gpu_name(first)}
    if len(lines) > 1:
        provenance["of"] = of
    return spec, provenance


def source_line(observation: Observation) -> str:
    """The provenance in one line, with the word that says whether it was recorded or run just now."""
    return f"{'Recorded on' if observation.source == 'recorded' else 'Run just now on'} {observation.provenance.line()}"


def gpu_name(observation: Observation | None) -> str:
    """The GPU as a sentence calls it: H200, not NVIDIA H200."""
    return observation.provenance.gpu.removeprefix("NVIDIA ") if observation else "GPU"

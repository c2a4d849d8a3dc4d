"""What "Tiling and bank conflicts" shows, as tables: four layouts of one grid of chunks, and what each column costs.

    layout     grouped or not, swizzled or not: where each chunk stands by the model, and as the H200 left it through
               each of four element types
    state      a layout, a column, eight rows of it: the wavefronts foretold and measured, one digit a state
    times      cycles of each state: of the provenance, since a second run has others

>>> filled("local_col {local} XOR ((2*{row} + {half}) % 8) = {group}", chunk=16 * 3 + 13, group=2)
'local_col 5 XOR ((2*3 + 1) % 8) = 2'

The hardware's table is read from its bytes alone; the model takes no part in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from tmalab import model
from tmalab.experiment.memory import make_bytes
from tmalab.experiment.observation import Observation
from tmalab.experiment.tiling_cases import (
    COLUMNS,
    FIRST_ROWS,
    READ_ROWS,
    TILING_COLUMNS,
    TILING_DTYPES,
    TILING_ROWS,
    TILING_SWIZZLES,
    TILINGS,
    banks_case,
    column_addresses,
    refused_case,
    refused_map,
    tiling_case,
    tiling_map,
)
from tmalab.figures.answers import Observe, answer_of
from tmalab.figures.tile_tables import changes, decode, gpu_name, pack, source_line
from tmalab.model.element_types import element_type
from tmalab.model.swizzle import CHUNK_BYTES, LINE_BYTES
from tmalab.model.tensor_map import TensorMap
from tmalab.model.wavefronts import WarpAccess

LINE_CHUNKS = LINE_BYTES // CHUNK_BYTES  # as many as there are bank groups S0 … S7, of four banks each
CHUNKS = TILING_ROWS * TILING_COLUMNS
VIEWS = ("hardware", "model", "difference")
LAYOUTS = tuple(product(TILINGS, TILING_SWIZZLES))

# The bank group of a chunk, in words and with its numbers filled in; tests hold them to the model.
_FORMULAS = {
    ("yes", "128B"): ("local_col XOR (row % 8)", "local_col {local} XOR ({row} % 8) = {group}"),
    ("no", "128B"): (
        "local_col XOR ((2*row + col // 8) % 8)",
        "local_col {local} XOR ((2*{row} + {half}) % 8) = {group}",
    ),
    ("yes", "none"): ("local_col", "local_col {local}, no XOR"),
    ("no", "none"): ("local_col", "local_col {local}, no XOR"),
}
_ABOUT = {
    ("yes", "128B"): "Each row is split: g0 takes its first 128 bytes, g1 the rest. One copy brings both.",
    ("yes", "none"): "Each row is split into g0 and g1, and nothing is swizzled: a column stays in its banks.",
    ("no", "none"): "Rows stay whole, 256 bytes apart, and nothing is swizzled: a column stays in its banks.",
    ("no", "128B"): "A reader's layout: rows stay whole, 256 bytes apart. Here {loaded} left it, which reads the same "
    "bytes as 32 rows of 128.",
}  # fmt: skip


def filled(template: str, chunk: int, group: int) -> str:
    """The bank group of a chunk of the grid as arithmetic, its numbers filled in; `template` is a layout's."""
    row, column = divmod(chunk, TILING_COLUMNS)
    half, local = divmod(column, LINE_CHUNKS)
    return template.format(local=local, row=row, half=half, group=group)


def predictions(tiling: str, swizzle: str) -> tuple[bytes, ...]:
    """Shared memory after the copy, as the model has it, for each element type."""
    found = []
    for dtype in TILING_DTYPES:
        params = tiling_case(tiling, swizzle, dtype).params
        smem = model.load(
            tiling_map(tiling, swizzle, dtype), make_bytes(params["memory"]), params["coords"],
            smem_bytes=params["smem_bytes"], smem_base=params["smem_base"],
        )  # fmt: skip
        found.append(smem.tobytes())
    return tuple(found)


def tiling_spec(observe: Observe | None, title: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Everything that the figure draws, and where it was measured: (spec, provenance), both plain JSON.

    A layout's `hardware` has a table's number for each element type, -1 where nothing is recorded; `counted`, of the
    provenance, is null where nobody counted the reads' wavefronts. Raises HardwareError where an experiment failed: it
    is no answer.
    """
    tables: dict[str, int] = {}
    lines: dict[str, int] = {}
    seen = {
        (layout, dtype): answer_of(observe, tiling_case(*layout, dtype))
        for layout in LAYOUTS
        for dtype in TILING_DTYPES
    }
    reads, accesses = answer_of(observe, banks_case()), accesses_of_states()
    layouts = [_layout(layout, seen, tables, observe) for layout in LAYOUTS]
    of = [-1 if one is None else lines.setdefault(source_line(one), len(lines)) for one in seen.values()]
    spec = {
        "schema": 1, "name": "tiling", "title": title,
        "grid": {"rows": TILING_ROWS, "columns": TILING_COLUMNS, "reads": READ_ROWS},
        "keys": [_key(dtype) for dtype in TILING_DTYPES],
        "banks": [f"{4 * group}–{4 * group + 3}" for group in range(LINE_CHUNKS)],
        "choices": {
            "tiling": list(TILINGS), "swizzle": list(TILING_SWIZZLES), "column": list(COLUMNS),
            "first_row": list(FIRST_ROWS), "dtype": list(TILING_DTYPES), "view": list(VIEWS),
        },
        "tables": list(tables), "layouts": layouts, "predicted": _digits([one.count for one in accesses]),
        "paces": {str(one.count): _pace(one) for one in accesses},
    }  # fmt: skip
    first = next((one for one in [*seen.values(), reads] if one), None)
    provenance = {"lines": list(lines), "of": of, "gpu": gpu_name(first), "reads": _timed(reads)}
    provenance["counted"] = _counted(reads)  # beside the times: a run without the profiler has none
    return spec, provenance


def accesses_of_states() -> list[WarpAccess]:
    """What the model says of the eight reads of each state."""
    states = product(TILINGS, TILING_SWIZZLES, COLUMNS, FIRST_ROWS)
    return [model.warp_access(column_addresses(*state), CHUNK_BYTES) for state in states]


def _digits(counts: Sequence[int]) -> str:
    return "".join(str(min(int(count), 9)) for count in counts)  # eight reads take eight wavefronts at most


def _pace(access: WarpAccess) -> str:
    """Why a conflict shows in the wait for the data, and not always in the rate."""
    returns = access.return_cycles
    if access.count <= returns:
        fits = (
            "one wavefront fits in that."
            if access.count == 1
            else f"{access.count} wavefronts fit in that, and only the wait is longer."
        )
        return f"The data of a {CHUNK_BYTES}-byte read take {returns} cycles to come back: {fits}"
    return f"The data take {returns} cycles to come back; {access.count} wavefronts hold up the next read too."


def _counted(reads: Observation | None) -> str | None:
    """The wavefronts that the GPU's own counters gave, where they were read; a time alone is no count."""
    return None if reads is None or "ncu_wavefronts" not in reads.arrays else _digits(reads["ncu_wavefronts"])


def _timed(reads: Observation | None) -> dict[str, Any] | None:
    """Cycles of each state: from address to data, and from one such read to the next while the pipe is full."""
    if reads is None:
        return None
    counted = reads.values.get("counted_by")
    by = f"; wavefronts counted by {counted['kernel']} {counted['kernel_sha256'][:8]}" if counted else ""
    times = {name: [round(float(one), 1) for one in reads[name]] for name in ("latency_cycles", "cycles")}
    return {"line": f"{source_line(reads)}{by}", **times}


def _layout(
    layout: tuple[str, str], seen: Mapping[Any, Observation | None], tables: dict[str, int], observe: Observe | None
) -> dict[str, Any]:
    predicted = predictions(*layout)
    tensor = make_bytes(tiling_case(*layout, "float16").params["memory"])
    hardware, changed = [], {}
    for number, dtype in enumerate(TILING_DTYPES):
        one = seen[layout, dtype]
        if one is None:
            hardware.append(-1)
            continue
        smem = one["smem"].tobytes()
        chunks = decode(smem, tensor)
        hardware.append(tables.setdefault(pack(chunks), len(tables)))
        if found := changes(smem, predicted[number], chunks):
            changed[str(number)] = found
    formula, template = _FORMULAS[layout]
    foretold = [tables.setdefault(pack(decode(smem, tensor)), len(tables)) for smem in predicted]
    return {
        "model": foretold, "same": _same(hardware, foretold),
        "hardware": hardware, "changed": changed, "starts": _starts(layout[0]), "formula": formula, "filled": template,
        "maps": [_map_words(*layout, dtype) for dtype in TILING_DTYPES],
        "refused": [_refused(dtype, observe) for dtype in TILING_DTYPES] if layout == ("no", "128B") else None,
    }  # fmt: skip


def _same(hardware: Sequence[int], foretold: Sequence[int]) -> str:
    """Whether the element type makes a difference to the map of chunks, as a sentence."""
    types = f"{', '.join(TILING_DTYPES[:-1])} and {TILING_DTYPES[-1]}"
    measured = -1 not in hardware
    if len(set(hardware if measured else foretold)) == 1:
        return f"{types}: the same map of chunks, {'measured' if measured else 'by the model'}."
    return f"{types}: not the same map of chunks."


def _starts(tiling: str) -> list[list[int]]:
    """The first chunk of the two 128-byte lines that are drawn side by side, for each drawn row."""
    if tiling == "yes":
        return [[LINE_CHUNKS * row, LINE_CHUNKS * (TILING_ROWS + row)] for row in range(TILING_ROWS)]
    return [[TILING_COLUMNS * row, TILING_COLUMNS * row + LINE_CHUNKS] for row in range(TILING_ROWS)]


def _map_words(tiling: str, swizzle: str, dtype: str) -> dict[str, str]:
    """The copy that was run, as the drawing names it, and what it does."""
    tm = tiling_map(tiling, swizzle, dtype)
    return {"copy": _words(tm), "about": _ABOUT[tiling, swizzle].format(loaded=f"box {_list(tm.box_dim)}")}


def _key(dtype: str) -> str:
    elements = CHUNK_BYTES // element_type(dtype).bytes
    return f"A cell is {CHUNK_BYTES} bytes, {elements} {dtype} elements; its number is its column."


def _words(tm: TensorMap) -> str:
    swizzle = "no swizzle" if tm.swizzle == "none" else f"SWIZZLE_{tm.swizzle}"
    return f"{tm.dtype}, box {_list(tm.box_dim)}, strides {_list(tm.global_strides)}, {swizzle}"


def _list(numbers: Sequence[int]) -> str:
    return f"{{{', '.join(map(str, numbers))}}}"


def _refused(dtype: str, observe: Observe | None) -> dict[str, Any]:
    """The map that the ungrouped layout asks for: the rule that it breaks, and the driver's recorded answer."""
    tm = refused_map(dtype)
    (broken,) = tm.violations()
    seen = answer_of(observe, refused_case(dtype))
    return {
        "copy": _words(tm), "rule": broken.rule, "message": broken.message,
        "accepted": None if seen is None else seen["accepted"],
    }  # fmt: skip

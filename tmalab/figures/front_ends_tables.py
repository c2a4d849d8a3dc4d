"""What "One tile, many front ends" shows, as tables: for each way its 256 chunks of shared memory and its descriptor.

    chunks      "0:0001…": what each 16-byte chunk of shared memory holds, counted from the dump's first byte
    fields      [field, asked of everybody, in this descriptor, in the driver's own for the same map]
    refused     what the front end raised, where it did

>>> spec, provenance = front_ends_spec(None, "One tile, many front ends")
>>> [way["name"] for way in spec["ways"]][:3], spec["ways"][0]["hardware"], spec["lines"]
(['raw PTX', 'CuTe DSL', 'TIRx default'], None, 32)

A chunk of the box is counted row by row, 8 a row. Versions and PTX lines stand in the provenance: another machine has
others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tmalab import model
from tmalab.experiment.case import Case
from tmalab.experiment.frontend_tile_cases import (
    MEMORY,
    SMEM_BYTES,
    TASK,
    frontend_tile_cases,
    task_map,
    tile_case,
    way_names,
)
from tmalab.experiment.frontend_tiles import RAW_PTX, TileVerdict, expected_tile
from tmalab.experiment.memory import make_bytes
from tmalab.experiment.observation import Observation
from tmalab.figures.answers import Observe, answer_of
from tmalab.figures.tile_tables import CHUNK, LINE, changes, decode, pack, source_line
from tmalab.model import encoded_map
from tmalab.model.encoded_map import ENCODED_BYTES, read_bits
from tmalab.model.tensor_map import TensorMap

if TYPE_CHECKING:
    import numpy as np

VIEWS = ("hardware", "model", "difference")
LINES = SMEM_BYTES // LINE
RAW = "raw PTX"
_FIELDS = (
    "rank", "dtype", "global_dim", "global_strides", "box_dim", "element_strides", "interleave", "swizzle",
    "l2_promotion", "oob_fill",
)  # fmt: skip
UNWRITTEN = "never written"
_DERIVED = ("box_bytes", "pattern_bytes")  # no fields: the driver works them out and writes them beside the others


def ways() -> dict[str, Case]:
    """Every way by the name that the figure gives it; the first is this package's own kernel."""
    return {RAW: _raw_cases()[0], **{name: tile_case(*way) for way, name in way_names().items()}}


def _raw_cases() -> list[Case]:
    """The engine's own load, and the driver's own encoding."""
    return [case for case in frontend_tile_cases() if case.name.startswith("frontends/raw/")]


def front_ends_spec(observe: Observe | None, title: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Everything that the figure draws: (spec, provenance), plain JSON. Raises HardwareError for a run that failed."""
    own = answer_of(observe, _raw_cases()[1])
    told, measured = [], []
    for name, case in ways().items():
        seen = answer_of(observe, case)
        if name == RAW and seen is not None:  # the driver encodes it, this package's kernel loads it
            seen = _raw(seen, own)
        told.append(_told(name, seen, own))
        measured.append(_measured(seen))
    rows, cols = TASK["box"]
    spec = {
        "schema": 1, "name": "front_ends", "title": title, "lines": LINES, "chunks": cols * 2 // CHUNK,
        "task": {"shape": list(TASK["shape"]), "box": [rows, cols], "at": list(TASK["at"])},
        "ways": told, "choices": {"view": list(VIEWS), "way": [way["name"] for way in told]},
    }  # fmt: skip
    return spec, {"ways": measured}


def _raw(seen: Observation, own: Observation | None) -> Observation:
    """The engine's own load, with the driver's descriptor and the lines of PTX that the kernel is written in."""
    given = {} if own is None else {"descriptor": own["encoded"], "driver_descriptor": own["encoded"]}
    values = {**seen.values, "ptx": list(RAW_PTX), "captured": "driver"}
    return replace(seen, arrays={**seen.arrays, **given}, values=values)


@lru_cache(maxsize=1)
def _box() -> np.ndarray:
    """The box's bytes without a swizzle, row by row: what a chunk of shared memory is looked up in."""
    plain = TensorMap.tiled("float16", task_map().global_dim, task_map().global_strides, task_map().box_dim)
    return model.load(plain, make_bytes(MEMORY), TASK["at"][::-1], smem_bytes=SMEM_BYTES)


def _told(name: str, seen: Observation | None, own: Observation | None) -> dict[str, Any]:
    """One way: what the model says, and what was seen; None and empty where nothing was."""
    if seen is None:
        plain = expected_tile(task_map(), TASK["at"][::-1]).tobytes()
        return {
            "name": name, "model": pack(decode(plain, _box())), "hardware": None, "changed": [], "differ": None,
            "fields": list(_fields(None, None, own)), "unlike": None, "refused": None, "call": "",
            "coords": list(TASK["at"][::-1]), "captured": None,
        }  # fmt: skip
    judged = TileVerdict(seen)
    predicted, smem = judged.expected.tobytes(), seen.arrays["smem"].tobytes() if "smem" in seen.arrays else None
    chunks = None if smem is None else decode(smem, _box())
    fields = _fields(judged.descriptor, seen.arrays.get("driver_descriptor"), own, half_written=judged.half_written)
    return {
        "name": name, "model": pack(decode(predicted, _box())),
        "hardware": None if chunks is None else pack(chunks),
        "changed": [] if smem is None or chunks is None else changes(smem, predicted, chunks),
        "differ": judged.bytes_differing, "fields": list(fields), "unlike": judged.unlike_the_driver,
        "refused": _refusal(seen), "call": _call(seen), "coords": list(judged.coords),
        "captured": seen.values.get("captured"),
    }  # fmt: skip


def _fields(
    descriptor: bytes | None, driver: Any, own: Observation | None, *, half_written: bool = False
) -> Iterator[list[str]]:
    """[field, asked, in the descriptor, in the driver's own]; "–" for what is not known."""
    asked = task_map().to_dict()
    reference = None if own is None else own["encoded"].tobytes()
    made, drivers = _texts(descriptor), _texts(None if driver is None else driver.tobytes())
    if half_written:
        made |= dict.fromkeys(_DERIVED, UNWRITTEN)
    for field in _FIELDS:
        wanted = len(asked["global_dim"]) if field == "rank" else asked[field]
        yield [field, _text(wanted), made.get(field, "–"), drivers.get(field, "–")]
    for field in _DERIVED:
        wanted = "–" if reference is None else str(read_bits(reference, field))
        yield [field, wanted, made.get(field, "–"), drivers.get(field, "–")]


def _texts(encoded: bytes | None) -> dict[str, str]:
    if encoded is None or len(encoded) != ENCODED_BYTES:
        return {}
    fields = encoded_map.decode(encoded).to_dict()
    found = {field: _text(len(fields["global_dim"]) if field == "rank" else fields[field]) for field in _FIELDS}
    return {**found, **{field: str(read_bits(encoded, field)) for field in _DERIVED}}


def _text(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _refusal(seen: Observation) -> dict[str, str] | None:
    """What was raised; in one order, which a recording and a run just now do not share."""
    said = seen.values.get("raised")
    return None if said is None else {name: said[name] for name in ("type", "message", "where")}


def _call(seen: Observation) -> str:
    """The copy's mnemonic as it stands in the PTX, without its predicate and its operands."""
    for line in seen.values.get("ptx") or ():
        for word in line.split():
            if word.startswith("cp.async.bulk.tensor"):
                return str(word)
    return ""


def _measured(seen: Observation | None) -> dict[str, Any] | None:
    if seen is None:
        return None
    package = seen.values.get("package") or {}
    ptx = [" ".join(line.split()) for line in seen.values.get("ptx") or ()]
    return {
        "line": source_line(seen), "version": package.get("version") or "", "ptx": ptx,
        "package_mb": seen.values.get("package_mb"),
    }  # fmt: skip

"""The parameters of the pipeline's probes and of the copy, looked at before anything is launched.

>>> ring = {"tile_bytes": 6000, "place": "hbm", "consumers": 1, "stages": [2], "fma": [0], "tiles": 64, "kept": 24}
>>> check_pipeline("pipeline", ring)
Traceback (most recent call last):
tmalab.errors.InputError: tile_bytes=6000: not possible. Fix: use a multiple of 4096, 32768 at most.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tmalab.errors import InputError
from tmalab.experiment.pipeline_cases import PLACES
from tmalab.hardware.cuda_device import MOST_SHARED_BYTES
from tmalab.hardware.pipeline_probe import KEPT_TILES, MOST_STAGES
from tmalab.hardware.tma_copy_probe import ORDERS

_SHARE_BYTES, _MOST_TILE_BYTES, _MOST_TILES = 4096, 32768, 4096
_MOST_CONSUMERS, _FMA_STEP, _MOST_FMA = 2, 32, 1 << 14
_BULK_BYTES, _MOST_COPY_STAGES, _MOST_HELD, _MOST_ROWS, _MOST_BLOCKS = 16, 32, 4, 256, 32
_NEEDED = {
    "pipeline": ("place", "tile_bytes", "consumers", "stages", "fma", "tiles", "kept"),
    "pipeline_costs": ("tile_bytes", "fma", "consumers", "paces"), "tma_copy": ("bytes", "versions"),
}  # fmt: skip


def check_pipeline(probe: str, params: Mapping[str, Any]) -> None:
    """Raises InputError, with the field, for what the probe could not run."""
    for name in _NEEDED[probe]:
        if name not in params:
            raise InputError("missing", field=name, value=None, fix=f"give {name}")
    if probe == "tma_copy":
        for at, version in enumerate(params["versions"]):
            _check_copy(f"versions[{at}]", version, params["bytes"])
        return
    for size in params["tile_bytes"] if probe == "pipeline_costs" else (params.get("tile_bytes"),):
        _number("tile_bytes", size, _SHARE_BYTES, _MOST_TILE_BYTES, _SHARE_BYTES)
    for fma in params["fma"]:
        _number("fma", fma, 0, _MOST_FMA, _FMA_STEP)
    if probe == "pipeline":
        if params["place"] not in PLACES:
            fix = f"use one of {', '.join(PLACES)}"
            raise InputError("unknown", field="place", value=params["place"], fix=fix)
        _number("consumers", params["consumers"], 1, _MOST_CONSUMERS)
        _number("tile_bytes", params["tile_bytes"], 1, _MOST_TILE_BYTES, _SHARE_BYTES * params["consumers"])
        _number("kept", params["kept"], 1, KEPT_TILES)
        _number("tiles", params["tiles"], params["kept"], _MOST_TILES)
        for stages in params["stages"]:
            _number("stages", stages, 1, MOST_STAGES)


def _check_copy(field: str, version: Any, size: int) -> None:
    if not isinstance(version, list) or len(version) != 9 or version[0] not in ORDERS:
        fix = f"give order ({', '.join(ORDERS)}), blocks, bytes, stages, held, at once, evicts first, rows, spare bytes"
        raise InputError("no version of the copy", field=field, value=version, fix=fix)
    order, blocks, tile_bytes, stages, held, at_once, _, rows, spare_bytes = version
    _number(field, blocks, 0 if order == "one tile a block" else 1, _MOST_BLOCKS)
    _number(field, tile_bytes, _BULK_BYTES, 1 << 18, _BULK_BYTES)
    if size % tile_bytes:
        raise InputError("tiles do not fill it", field="bytes", value=size, limit=tile_bytes, fix="use a multiple")
    _number(field, stages, 1, _MOST_COPY_STAGES)
    _number(field, held, 0, min(_MOST_HELD, stages - 1))
    _number(field, at_once, 1, size // tile_bytes)
    _number(field, rows, 0, _MOST_ROWS)
    _number(field, spare_bytes, 0, MOST_SHARED_BYTES)
    room = MOST_SHARED_BYTES - _MOST_COPY_STAGES * 12  # a barrier and a tile's number a stage
    if stages * tile_bytes + spare_bytes > room:
        raise InputError("no room", field=field, value=version, limit=room, fix="give fewer stages")
    if rows and tile_bytes % (rows * _BULK_BYTES):
        raise InputError(
            "rows are no whole 16 bytes", field=field, value=rows, limit=_BULK_BYTES, fix="give fewer rows"
        )


def _number(field: str, value: Any, low: int, high: int, step: int = 1) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high or value % step:
        fix = f"use a multiple of {step}, {high} at most" if step > 1 else f"use {low} to {high}"
        raise InputError("not possible", field=field, value=value, limit=step if step > 1 else high, fix=fix)

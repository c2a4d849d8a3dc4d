"""`transfer_case`: the case that moves one box through the TMA engine, its parameters complete and in one form.

    load     memory ──box──▶ smem      observed: "smem", all of it, after a background of 0xCD
    store    smem ──box──▶ memory      observed: "memory", all of it
    reduce   smem ──op──▶ memory       observed: "memory", all of it

>>> from tmalab import TensorMap
>>> tm = TensorMap.tiled("float16", (128, 16), (256,), (64, 8), swizzle="128B")
>>> case = transfer_case("demo", tm, "load", (0, 0), memory={"pattern": "iota16", "bytes": 4096}, smem_bytes=2048)
>>> case.probe, case.params["smem"]
('transfer', {'pattern': 'fill', 'value': 205, 'bytes': 2048})
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tmalab.errors import InputError
from tmalab.experiment.case import Case
from tmalab.model.tensor_map import TensorMap

DIRECTIONS = ("load", "store", "reduce")
BACKGROUND = 0xCD  # what shared memory holds before a load: a byte that stays 0xCD was not written


def transfer_case(
    name: str, tensor_map: TensorMap, direction: str, coords: Sequence[int], *, memory: Mapping[str, Any],
    smem_bytes: int, smem: Mapping[str, Any] | None = None, smem_base: int = 0, offsets: Sequence[int] = (),
    op: str | None = None, expect_tx_bytes: int | None = None, address_offset: int = 0,
    descriptor_space: str = "param", descriptor_align: int = 64,
) -> Case:  # fmt: skip
    """The case `name`: move the box of `tensor_map` at `coords` (innermost first) in `direction`.

    `memory` and `smem` are `make_bytes` specs of the tensor's global memory and of what shared memory holds
    before (0xCD everywhere for a load). `smem_base` is where the box stands in shared memory, `offsets` an im2col
    load's, `op` a reduction's. What few cases are about stands in the parameters only where it is not the usual:
    `expect_tx_bytes` arms the barrier (None: the right number), `address_offset` is where in `memory` the tensor
    starts, `descriptor_space` and `descriptor_align` say where the descriptor lies. Raises InputError for an unknown
    direction or an `op` that doesn't fit it.
    """
    if direction not in DIRECTIONS:
        raise InputError(
            "unknown direction", field="direction", value=direction, fix=f"use one of {', '.join(DIRECTIONS)}"
        )
    if (op is not None) != (direction == "reduce"):
        raise InputError("a reduction has an op, a load or a store none", field="op", value=op, fix="set op to match")
    background = {"pattern": "fill", "value": BACKGROUND, "bytes": smem_bytes}
    params = {
        "tensor_map": tensor_map.to_dict(),
        "direction": direction,
        "coords": list(coords),
        "offsets": list(offsets),
        "op": op,
        "smem_base": smem_base,
        "smem_bytes": smem_bytes,
        "memory": dict(memory),
        "smem": background if smem is None else dict(smem),
    }
    unusual = {
        "expect_tx_bytes": (expect_tx_bytes, None), "address_offset": (address_offset, 0),
        "descriptor_space": (descriptor_space, "param"), "descriptor_align": (descriptor_align, 64),
    }  # fmt: skip
    params |= {key: value for key, (value, usual) in unusual.items() if value != usual}
    return Case(name, "transfer", params)

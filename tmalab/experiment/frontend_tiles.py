"""What a way through a front end did with the tile: its bytes against the model's, its descriptor against the driver's.

    smem ──────────────── the model's, for the decoded map at those coordinates ─────▶ 0 of 4096 bytes differ
    descriptor ─ decode ─ the driver's own 128 bytes for that same map ──────────────▶ [] or the fields that differ
                        └ the task's map ───────────────────────────────────────────▶ what the front end chose itself

>>> from tmalab.experiment.frontend_tile_cases import task_map
>>> expected_tile(task_map(), (128, 96)).view("<u2")[:2].tolist()   # row 96, columns 128 and 129
[30848, 30849]
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from tmalab import model
from tmalab.experiment.frontend_tile_cases import MEMORY, SMEM_BYTES, TASK, task_map
from tmalab.experiment.memory import make_bytes
from tmalab.experiment.observation import Observation
from tmalab.model.encoded_map import FIELDS, bits_of, decode, differing
from tmalab.model.tensor_map import TensorMap

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

_FIELDS = (
    "dtype", "global_dim", "global_strides", "box_dim", "element_strides", "interleave", "swizzle", "l2_promotion",
    "oob_fill",
)  # fmt: skip
# What the raw way is written in, as the kernel's headers have it (tmalab/hardware/kernels/ptx*.cuh).
RAW_PTX = (
    "mbarrier.init.shared::cta.b64 [addr], count;",
    "fence.mbarrier_init.release.cluster;",
    "mbarrier.arrive.expect_tx.shared::cta.b64 state, [addr], tx_count;",
    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [dstMem], [tensorMap, {c0, c1}], "
    "[mbar];",
    "mbarrier.try_wait.parity.shared::cta.b64 waitComplete, [addr], phaseParity;",
)
REST = "bytes 64 to 127"
_HALF, _KNOWN_BYTES = 64, 80  # the driver writes numbers into bytes 64 to 79, and none behind them
_ATOM = 1024  # where shared memory begins anew for the 128-byte swizzle


def expected_tile(tm: TensorMap, coords: Sequence[int], smem_address: int = 0) -> np.ndarray:
    """The tile's bytes in shared memory as the model has them, uint8, when its first byte stands at that address."""
    base = smem_address % _ATOM
    whole = model.load(tm, make_bytes(MEMORY), coords, smem_bytes=base + SMEM_BYTES, smem_base=base)
    return whole[base:]


@dataclass(frozen=True)
class TileVerdict:
    """One observation of the group "frontends", judged. What was not captured is None."""

    seen: Observation

    @cached_property
    def descriptor(self) -> bytes | None:
        """The 128 bytes as the kernel had them."""
        found = self.seen.arrays.get("descriptor")
        return None if found is None else found.tobytes()

    @cached_property
    def map(self) -> TensorMap:
        """The map that the descriptor holds; the task's own where none was captured."""
        return task_map() if self.descriptor is None else decode(self.descriptor)

    @cached_property
    def coords(self) -> tuple[int, ...]:
        """The coordinates of the instruction, innermost first."""
        return tuple(self.seen.values.get("coords") or TASK["at"][::-1])

    @cached_property
    def expected(self) -> np.ndarray:
        """What the model has in shared memory."""
        return expected_tile(self.map, self.coords, self.seen.values.get("smem_address") or 0)

    @cached_property
    def bytes_differing(self) -> int | None:
        """Bytes of the dump that are not the model's; None where the front end loaded nothing."""
        found = self.seen.arrays.get("smem")
        return None if found is None else int((found != self.expected).sum())

    @cached_property
    def half_written(self) -> bool:
        """Whether the descriptor's second half holds what nobody wrote: bytes where the driver's own are always 0."""
        return self.descriptor is not None and any(self.descriptor[_KNOWN_BYTES:])

    @cached_property
    def unlike_the_driver(self) -> list[str] | None:
        """The fields in which the descriptor is not what the driver itself writes for the same map.

        `bit 65` and the like for bits of no field; REST for a second half that was never written.
        """
        own = self.seen.arrays.get("driver_descriptor")
        if self.descriptor is None or own is None:
            return None
        one, other = self.descriptor, own.tobytes()
        if self.half_written:
            one, other = one[:_HALF] + bytes(_HALF), other[:_HALF] + bytes(_HALF)
        named = [name for name in differing(one, other) if name != "other"]
        bits = int.from_bytes(one, "little") ^ int.from_bytes(other, "little")
        for first, count in (place for name in FIELDS for place in bits_of(name)):
            bits &= ~((1 << count) - 1 << first)
        named += [f"bit {at}" for at in range(8 * len(one)) if bits >> at & 1]
        return [*named, REST] if self.half_written else named

    @cached_property
    def chosen(self) -> dict[str, tuple[object, object]]:
        """Fields of the map in which it is not the task's: what was asked, and what the front end made of it."""
        asked, made = task_map().to_dict(), self.map.to_dict()
        return {name: (asked[name], made[name]) for name in _FIELDS if asked[name] != made[name]}

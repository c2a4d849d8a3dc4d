"""Whether the tensor that a map describes ends inside its allocation, which the map itself does not know.

    first byte                          last byte = (global_dim[0] * bytes - 1) + Σ (global_dim[i] - 1) * stride
    ├─── the tensor ─────────────────────────┤
    ├─── storage_bytes ───────────┤           ╰ in bounds for the engine all the same

>>> from tmalab import TensorMap
>>> [found] = extent_warnings(TensorMap.tiled("float32", (288, 2), (2048,), (32, 2), swizzle="128B"), 3076)
>>> found.fix
'Declare global_dim[0]=257, or allocate 3200 bytes.'
"""

from __future__ import annotations

from collections.abc import Iterator

from tmalab.model.rules.rule import SM_90, Arch, Finding, rule, show
from tmalab.model.rules.shared import LARGEST_DIM, LARGEST_STRIDE
from tmalab.model.tensor_map_fields import TensorMapFields, integer
from tmalab.model.violation import Violation


def is_plausible(tm: TensorMapFields) -> bool:
    """Whether rank, sizes and strides are such as the driver takes: of others nothing is said or multiplied here."""
    if not 1 <= tm.rank <= 5 or not all(1 <= size <= LARGEST_DIM for size in tm.global_dim):
        return False
    return all(0 <= stride < LARGEST_STRIDE + 16 for stride in tm.global_strides)


@rule(
    "descriptor_extent_exceeds_allocation", "The tensor reaches past its allocation",
    written="CUDA driver API, cuTensorMapEncodeTiled, globalDim",
)  # fmt: skip
def descriptor_extent_exceeds_allocation(subject: tuple[TensorMapFields, int], arch: Arch) -> Iterator[Finding]:
    """Whatever lies inside `global_dim` is in bounds for the engine: out-of-bounds fill does not protect the end."""
    tm, storage_bytes = subject
    if not is_plausible(tm):
        return
    outer = sum((size - 1) * stride for size, stride in zip(tm.global_dim[1:], tm.global_strides, strict=True))
    last_byte = outer + (tm.global_dim[0] * tm.element.bits + 7) // 8 - 1
    if last_byte >= storage_bytes:
        fits = (storage_bytes - outer) * 8 // tm.element.bits
        declare = f"Declare global_dim[0]={fits}, or allocate" if fits > 0 else "Allocate"
        yield (
            "global_dim", last_byte, storage_bytes,
            f"The tensor's last byte is {last_byte}; the allocation has {show(storage_bytes)} bytes, and fill protects "
            "only what lies outside global_dim.",
            f"{declare} {last_byte + 1} bytes.",
        )  # fmt: skip


def extent_warnings(tm: TensorMapFields, storage_bytes: int) -> list[Violation]:
    """What `storage_bytes`, the bytes from the tensor's first one to the allocation's end, says of `tm`.

    Legal to the driver, so it is a warning. Raises InputError where `storage_bytes` is not an integer.
    """
    return list(descriptor_extent_exceeds_allocation.broken_by((tm, integer("storage_bytes", storage_bytes)), SM_90))

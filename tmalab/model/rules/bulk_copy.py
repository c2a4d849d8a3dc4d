"""The rules of `cp.async.bulk`, the copy that has no tensor map: whole 16-byte pieces, from and to multiples of 16.

    cp.async.bulk [smem_address], [gmem_address], size_bytes

>>> bulk_gmem_align_16.source
'PTX ISA, cp.async.bulk'
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tmalab.model.rules.rule import Arch, Finding, rule, show

PTX = "PTX ISA, cp.async.bulk"


class BulkCopy(NamedTuple):
    """The operands of one copy."""

    gmem_address: int
    smem_address: int
    size_bytes: int


def _sixteenths(copy: BulkCopy, field: str, fix: str) -> Iterator[Finding]:
    value = getattr(copy, field)
    if value % 16:
        yield (
            field, value, 16,
            f"{field}={show(value)} leaves {value % 16} after division by 16; cp.async.bulk moves 16-byte pieces.",
            fix,
        )  # fmt: skip


@rule("bulk_gmem_align_16", "The global address is a multiple of 16", written=PTX, cuda_error="MISALIGNED_ADDRESS")
def bulk_gmem_align_16(copy: BulkCopy, arch: Arch) -> Iterator[Finding]:
    """The global address is a multiple of 16. A `__device__` array is only as aligned as its elements are."""
    yield from _sixteenths(copy, "gmem_address", "Declare the array alignas(16).")


@rule("bulk_smem_align_16", "The shared address is a multiple of 16", written=PTX, cuda_error="MISALIGNED_ADDRESS")
def bulk_smem_align_16(copy: BulkCopy, arch: Arch) -> Iterator[Finding]:
    """The shared address is a multiple of 16, where a tensor copy needs 128."""
    yield from _sixteenths(copy, "smem_address", "Declare the buffer alignas(16), or alignas(128) for tensor copies.")


@rule("bulk_size_multiple_16", "The size is a multiple of 16", written=PTX, cuda_error="ILLEGAL_INSTRUCTION")
def bulk_size_multiple_16(copy: BulkCopy, arch: Arch) -> Iterator[Finding]:
    """The number of bytes is a multiple of 16."""
    yield from _sixteenths(copy, "size_bytes", "Copy the last bytes with plain loads, or pad the buffer.")

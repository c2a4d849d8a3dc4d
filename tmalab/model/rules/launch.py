"""The launch rules: what the engine refuses although the encoder took the map, with the CUDA error that it raises.

    cp.async.bulk.tensor [smem_base], [descriptor, {coords}], offsets
                          │            │            ╰ inner one: a multiple of 16 bytes; a store's: not negative
                          │            ╰ in param, const or global memory, 64-byte aligned
                          ╰ a multiple of 128

>>> inner_coordinate_16b.cuda_error, smem_dst_align_128.cuda_error
('ILLEGAL_INSTRUCTION', 'MISALIGNED_ADDRESS')

`tmalab.model.launch_rules.launch_violations` asks them all.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tmalab.model import box_bytes
from tmalab.model.rules.box import BLOCK_SMEM_BYTES
from tmalab.model.rules.im2col import first_axis
from tmalab.model.rules.rule import MEASURED, Arch, Finding, rule, show
from tmalab.model.rules.shared import PADDED_TYPES
from tmalab.model.tensor_map_fields import TensorMapFields

# Which reductions exist, each pair tried on the H200.
_BITWISE = ("int32", "uint32", "uint64")
_SINGLES = ("float32", "float32_ftz", "tfloat32", "tfloat32_ftz")
_ORDERED = ("int32", "uint32", "int64", "uint64", "float16", "bfloat16")
REDUCTION_TYPES = {
    "add": ("int32", "uint32", "uint64", "float16", "bfloat16", *_SINGLES, "float64"),
    "min": _ORDERED,
    "max": _ORDERED,
    "inc": ("uint32",),
    "dec": ("uint32",),
    "and": _BITWISE,
    "or": _BITWISE,
    "xor": _BITWISE,
}

PTX = "PTX ISA, cp.async.bulk.tensor"
PTX_RESTRICTIONS = "PTX ISA, Restriction on Tensor Copy instructions"


class Launch(NamedTuple):
    """One copy: the map, and the operands of the instruction that uses it.

    `legal` says whether the map can be encoded; only then has its box a size in shared memory.
    """

    tm: TensorMapFields
    legal: bool
    coords: tuple[int, ...]
    direction: str
    op: str | None
    smem_base: int
    offsets: tuple[int, ...]
    smem_bytes: int | None
    descriptor_space: str
    descriptor_align: int


# --- Where in the tensor ---------------------------------------------------------------------------------------------


def inner_coordinate_step(tm: TensorMapFields) -> int:
    """The elements from one allowed inner coordinate to the next: 16 bytes, or 128 values of a padded packed type."""
    return 128 if tm.dtype in PADDED_TYPES else 128 // tm.element.bits


@rule(
    "inner_coordinate_16B", "The inner coordinate is a multiple of 16 bytes",
    written="PTX ISA, Tiled mode, Bounding Box", measured=MEASURED, cuda_error="ILLEGAL_INSTRUCTION",
)  # fmt: skip
def inner_coordinate_16b(launch: Launch, arch: Arch) -> Iterator[Finding]:
    """`coords[0]` times the element size is a multiple of 16, in loads, stores and reductions, negative ones too.

    An interleaved map counts dimension 0 in slices of 16 or 32 bytes, so that every coordinate is such a multiple.
    """
    tm, coord = launch.tm, launch.coords[0] if launch.coords and launch.tm.interleave == "none" else 0
    step = inner_coordinate_step(tm)
    if coord % step:
        before = coord - coord % step
        yield (
            "coords[0]", coord, step,
            f"coords[0]={show(coord)} {tm.dtype} element{'s'[: coord != 1]} is {show(coord * tm.element.bits // 8)} "
            f"bytes; the inner coordinate must be a multiple of {step * tm.element.bits // 8} bytes.",
            f"Use {show(before)} or {show(before + step)}, or copy this tile without TMA.",
        )  # fmt: skip


@rule(
    "store_coordinate_not_negative", "A store has no negative coordinates", written=PTX_RESTRICTIONS,
    measured=MEASURED, cuda_error="ILLEGAL_INSTRUCTION",
)  # fmt: skip
def store_coordinate_not_negative(launch: Launch, arch: Arch) -> Iterator[Finding]:
    """No coordinate of a store or a reduction is negative. A load may start before the tensor: that part is filled."""
    if launch.direction != "load":
        for position, coord in enumerate(launch.coords):
            if coord < 0:
                yield (
                    f"coords[{position}]", coord, 0,
                    f"coords[{position}]={show(coord)}; a {launch.direction} has no negative coordinates.",
                    "Start at 0, with a box that leaves out what lies before the tensor.",
                )  # fmt: skip


@rule("coordinate_is_32_bit", "A coordinate has 32 bits", written=f"{PTX}, tensorCoords")
def coordinate_is_32_bit(launch: Launch, arch: Arch) -> Iterator[Finding]:
    """Coordinates are signed 32-bit operands. Another number wraps before it reaches the engine; no error is raised."""
    for position, coord in enumerate(launch.coords):
        if not -(1 << 31) <= coord < 1 << 31:
            yield (
                f"coords[{position}]", coord, (1 << 31) - 1 if coord > 0 else -(1 << 31),
                f"coords[{position}]={show(coord)}; a coordinate is a signed 32-bit number.",
                "Split the tensor among several maps, each with a base address of its own.",
            )  # fmt: skip


@rule(
    "im2col_start_inside_box", "An im2col walk starts inside its bounding box", kinds=("im2col",), measured=MEASURED,
    cuda_error="ILLEGAL_INSTRUCTION",
)  # fmt: skip
def im2col_start_inside_box(launch: Launch, arch: Arch) -> Iterator[Finding]:
    """Along W, H and D the coordinates lie from the lower corner to the size plus the upper corner, minus 1.

    The channel and the batch may lie outside the tensor, and are filled; so may the walk's later pixels. A start
    between two element strides is taken.
    """
    if launch.tm.kind == "im2col" and launch.legal:
        for position, (lower, upper) in enumerate(zip(launch.tm.lower_corner, launch.tm.upper_corner, strict=True)):
            axis = position + first_axis(launch.tm)
            coord, last = launch.coords[axis], launch.tm.global_dim[axis] + upper - 1
            if not lower <= coord <= last:
                yield (
                    f"coords[{axis}]", coord, lower if coord < lower else last,
                    f"coords[{axis}]={show(coord)}; an im2col copy starts inside its bounding box, here {lower} to "
                    f"{last}.",
                    "Start the walk at a window origin, and reach past the tensor with the corners and offsets.",
                )  # fmt: skip


@rule("im2col_offset_is_16_bit", "An im2col offset has 16 bits", kinds=("im2col",), written=f"{PTX}, im2colInfo")
def im2col_offset_is_16_bit(launch: Launch, arch: Arch) -> Iterator[Finding]:
    """Offsets are unsigned 16-bit operands. Another number wraps before it reaches the engine; no error is raised."""
    for position, offset in enumerate(launch.offsets):
        if not 0 <= offset < 1 << 16:
            yield (
                f"offsets[{position}]", offset, 0 if offset < 0 else (1 << 16) - 1,
                f"offsets[{position}]={show(offset)}; an im2col offset is an unsigned 16-bit number.",
                "Move the coordinates instead.",
            )  # fmt: skip


@rule(
    "im2col_store_box_inside", "An im2col store's bounding box stays inside the tensor", kinds=("im2col",),
    written=PTX_RESTRICTIONS, measured=MEASURED, cuda_error="ILLEGAL_INSTRUCTION",
)  # fmt: skip
def im2col_store_box_inside(launch: Launch, arch: Arch) -> Iterator[Finding]:
    """A store through an im2col map needs lower corners of at least 0 and upper corners of at most 0."""
    if launch.tm.kind == "im2col" and launch.direction != "load":
        for name, sign in (("lower_corner", 1), ("upper_corner", -1)):
            for position, corner in enumerate(getattr(launch.tm, name)):
                if corner * sign < 0:
                    yield (
                        f"{name}[{position}]", corner, 0,
                        f"{name}[{position}]={show(corner)}; a {launch.direction} needs its bounding box inside the "
                        "tensor.",
                        f"Use a map whose {name}[{position}] is 0.",
                    )  # fmt: skip


@rule(
    "null_global_address", "The tensor's address is not null", written="CUDA driver API, globalAddress",
    measured=MEASURED, cuda_error="ILLEGAL_ADDRESS",
)  # fmt: skip
def null_global_address(launch: Launch, arch: Arch) -> Iterator[Finding]:
    """The encoder takes a null base. Each load through it faults; a store or a reduction faults if it writes."""
    if launch.tm.address == 0 and (launch.direction == "load" or _touches_the_tensor(launch)):
        yield (
            "address", 0, None, "address=0; a copy through a null base faults.",
            "Encode with the tensor's address, or patch the map with cuTensorMapReplaceAddress first.",
        )  # fmt: skip


def _touches_the_tensor(launch: Launch) -> bool:
    """Whether any element of the box lies in the tensor; of an im2col walk this is taken for granted."""
    axes = zip(launch.coords, launch.tm.box_dim, launch.tm.element_strides, launch.tm.global_dim, strict=False)
    for coord, box, stride, size in axes:
        steps_before = max(0, -(coord // stride)) if stride > 0 else 0  # the first element that is not before it
        if steps_before * stride >= box or coord + steps_before * stride >= size:
            return False
    return True


# --- Where in shared memory ------------------------------------------------------------------------------------------


@rule(
    "smem_dst_align_128", "The shared address is a multiple of 128",
    written="CUDA programming guide, Tensor Memory Accelerator", measured=MEASURED, cuda_error="MISALIGNED_ADDRESS",
)  # fmt: skip
def smem_dst_align_128(launch: Launch, arch: Arch) -> Iterator[Finding]:
    """The shared address of a tensor copy is a multiple of 128, of rank 1 as well; a swizzle's pattern may need more.

    `cp.async.bulk`, which has no map, needs 16 only. A copy that faults never completes its barrier, so that a
    misalignment can look like a hang.
    """
    if launch.smem_base % 128:
        yield (
            "smem_base", launch.smem_base, 128,
            f"smem_base={show(launch.smem_base)} leaves {launch.smem_base % 128} after division by 128; the shared "
            "address of a tensor copy must be a multiple of 128.",
            "Align the buffer, and pad each stage to a multiple of 128 bytes.",
        )  # fmt: skip


@rule(
    "box_past_shared_memory", "The box lies inside the block's shared memory", written=f"{PTX}, dstMem and srcMem",
    measured=MEASURED, cuda_error="ILLEGAL_ADDRESS",
)  # fmt: skip
def box_past_shared_memory(launch: Launch, arch: Arch) -> Iterator[Finding]:
    """The box begins at 0 or later, and ends within the block's `smem_bytes`; no block has more than 232448 (227 KiB).

    A store that lies wholly outside the tensor reads no shared memory, and has nothing to fault on.
    """
    if launch.smem_base < 0:
        yield (
            "smem_base", launch.smem_base, 0,
            f"smem_base={show(launch.smem_base)}; shared memory begins at 0.", "Use 0 or a multiple of 128.",
        )  # fmt: skip
    elif launch.legal and (launch.direction == "load" or _touches_the_tensor(launch)):
        footprint = box_bytes.footprint_bytes(launch.tm)
        end, last = launch.smem_base + footprint, (BLOCK_SMEM_BYTES - footprint) // 128 * 128
        room = min(BLOCK_SMEM_BYTES if launch.smem_bytes is None else launch.smem_bytes, BLOCK_SMEM_BYTES)
        if end > room:
            yield (
                "smem_base", end, room,
                f"smem_base={show(launch.smem_base)} and a box of {footprint} bytes end at {show(end)}; the block has "
                f"{'' if room == launch.smem_bytes else 'at most '}{show(room)} bytes of shared memory.",
                f"Allocate at least {show(end)} bytes, or use a smaller box." if end <= BLOCK_SMEM_BYTES else
                f"Use at most {last}, or a smaller box." if last >= 0 else "Use a smaller box.",
            )  # fmt: skip


# --- What is done ----------------------------------------------------------------------------------------------------


@rule("reduction_op_and_type", "The reduction exists for the type", measured=MEASURED, cuda_error="ILLEGAL_INSTRUCTION")
def reduction_op_and_type(launch: Launch, arch: Arch) -> Iterator[Finding]:
    """Each op exists for a few types only: no add for int64, no min for float32, none for 8 and 16-bit integers.

    The encoder does not know what a map will be used for, so it is the engine that refuses.
    """
    op, dtype = launch.op, launch.tm.dtype
    if op is not None and dtype not in REDUCTION_TYPES[op]:
        allowed = ", ".join(REDUCTION_TYPES[op])
        # Two's complement: a signed sum and the bitwise ops have the bits of the unsigned ones.
        as_unsigned = dtype == "int64" and op in ("add", "and", "or", "xor")
        yield (
            "op", op, allowed,
            f"op={op} with {dtype} elements; the engine has it for {allowed} only.",
            f"Describe the elements as uint64: {op} gives the same bits." if as_unsigned else
            "Reduce in the kernel, or with an op that the type has.",
        )  # fmt: skip


# --- Where the descriptor is -----------------------------------------------------------------------------------------


@rule(
    "descriptor_must_be_param_const_or_global", "The descriptor is in param, const or global memory",
    written="PTX ISA, Tensor-map", measured=MEASURED, cuda_error="ILLEGAL_ADDRESS",
)  # fmt: skip
def descriptor_must_be_param_const_or_global(launch: Launch, arch: Arch) -> Iterator[Finding]:
    """The engine reads the map from a `const __grid_constant__` parameter, from constant or from global memory.

    A copy in a local variable has the same bytes, but in local memory, where the engine does not read them.
    """
    if launch.descriptor_space in ("local", "shared"):
        yield (
            "descriptor_space", launch.descriptor_space, "param, const, global",
            f"descriptor_space={launch.descriptor_space}; the engine reads a tensor map from param, const or global "
            "memory only.",
            "Take a reference to the const __grid_constant__ parameter, not a copy of it.",
        )  # fmt: skip


@rule(
    "tensormap_address_align_64", "The descriptor is 64-byte aligned",
    written="CUDA driver API, cuTensorMapEncodeTiled, tensorMap", measured=MEASURED, cuda_error="MISALIGNED_ADDRESS",
)  # fmt: skip
def tensormap_address_align_64(launch: Launch, arch: Arch) -> Iterator[Finding]:
    """The 128 bytes of a tensor map start at a multiple of 64. CUDA 13's type asks the compiler for 128."""
    if launch.descriptor_align % 64:
        yield (
            "descriptor_align", launch.descriptor_align, 64,
            f"descriptor_align={show(launch.descriptor_align)}; a tensor map starts at a multiple of 64 bytes.",
            "Declare it alignas(128), as CUDA 13's CUtensorMap is.",
        )  # fmt: skip

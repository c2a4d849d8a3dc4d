"""Every call of the kernel, taken apart while it is traced: what it was given and what it gave; and the swaps, refused.

make_tiled_tma_atom(op, view, layout, tile) ─▶ TmaInfo: atom, (0,0) o (8448,1792):(1@1,1@0)
                                                        a start and strides that are coordinates: no array
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from tmalab.frontends.programs import cute_cluster, cute_prefetch, cute_stages, cute_strips
from tmalab.frontends.programs import cute_common as common
from tmalab.frontends.programs.cute_common import (
    COLS,
    ROWS,
    TILE,
    TILE_BYTES,
    TILE_COLS,
    TILE_ROWS,
    WARP,
    SmemAllocator,
    cpasync,
    cute,
    cutlass,
)

SEEN: dict[str, str] = {}  # name → text, filled while a function is traced


def see(name: str, thing: object) -> None:
    """Keep a thing's text under a name: called while a function is traced, and no part of what is compiled."""
    SEEN[name] = str(thing)


def moved_offsets(one: object, other: object) -> str:
    """How many of the first elements of the tile's chunks, 16 bytes each, two layouts put at different offsets."""
    corners = [(row, col) for row in range(TILE_ROWS) for col in range(0, TILE_COLS, 8)]
    return f"{sum(one(corner) != other(corner) for corner in corners)} of {len(corners)}"


def strides_of(tensor: object) -> str:
    """The strides of a coordinate tensor: how much of which coordinate a step is."""
    return ", ".join(f"{stride.value} of coordinate {stride.mode}" for stride in tensor.stride)


# --- the calls --------------------------------------------------------------------------------------------------------


@cute.kernel
def look(
    load_atom: cute.CopyAtom, coordinates: cute.Tensor, cast_atom: cute.CopyAtom, cast_coordinates: cute.Tensor,
    report: cute.Tensor, descriptor: cute.Tensor, view: cute.Tensor, source: cute.Tensor,
    shared_layout: cute.ComposedLayout,
):  # fmt: skip
    """The calls on the device's side, for tile (1, 2)."""
    shared = SmemAllocator()
    tile = shared.allocate_tensor(cutlass.Float16, shared_layout, byte_alignment=128)
    barrier = shared.allocate_array(cutlass.Int64, 1, byte_alignment=8)
    see("allocate_tensor", tile.type)
    see("allocate_array", barrier.type)
    chosen = cute.local_tile(coordinates, TILE, (1, 2))
    see("local_tile", chosen)
    shared_group, global_group = cute.group_modes(tile, 0, 2), cute.group_modes(chosen, 0, 2)
    see("group_modes(shared).before", tile.layout)
    see("group_modes(shared)", shared_group.layout)
    see("group_modes(global)", global_group)
    see("size before and after", (cute.size(chosen), cute.size(global_group)))
    see("rank before and after", (cute.rank(chosen), cute.rank(global_group)))
    one = cute.make_layout(1)
    see("make_layout(1)", one)
    shared_part, global_part = cpasync.tma_partition(load_atom, 0, one, shared_group, global_group)
    see("tma_partition.shared", shared_part.layout)
    see("tma_partition.global", global_part)
    first = cute.group_modes(cute.local_tile(coordinates, TILE, (0, 0)), 0, 2)
    see("tma_partition of tile (0, 0)", cpasync.tma_partition(load_atom, 0, one, shared_group, first)[1])
    cast_group = cute.group_modes(cute.local_tile(cast_coordinates, TILE, (1, 2)), 0, 2)
    for cta in cutlass.range_constexpr(2):
        parts = cpasync.tma_partition(cast_atom, cta, cute.make_layout(2), shared_group, cast_group)
        see(f"multicast.shared.{cta}", parts[0].layout)
        see(f"multicast.global.{cta}", parts[1])
    report[0], report[1] = view.iterator.toint(), source.iterator.toint()
    cpasync.copy_tensormap(load_atom, descriptor.iterator)


@cute.jit
def take_apart(source: cute.Tensor, report: cute.Tensor, descriptor: cute.Tensor, stream: common.cuda_driver.CUstream):
    """The calls on the host's side."""
    layout = cute.make_layout((ROWS, COLS), stride=(COLS, 1))
    see("make_layout", layout)
    see("layout((0, 1))", layout((0, 1)))
    see("layout((1, 0))", layout((1, 0)))
    see("layout((64, 512))", layout((64, 512)))
    view = cute.make_tensor(source.iterator, layout)
    see("make_tensor", view.type)
    swizzle = cute.make_swizzle(0, 4, 3)
    see("make_swizzle", swizzle)
    tile_layout = cute.make_layout(TILE, stride=(TILE_COLS, 1))
    see("make_layout(tile)", tile_layout)
    shared_layout = cute.make_composed_layout(swizzle, 0, tile_layout)
    see("make_composed_layout", shared_layout)
    see("offsets that the swizzle moves", moved_offsets(shared_layout, tile_layout))
    operation = cpasync.CopyBulkTensorTileG2SOp()
    see("CopyBulkTensorTileG2SOp", operation)
    made = cpasync.make_tiled_tma_atom(operation, view, shared_layout, TILE)
    load_atom, coordinates = made
    see("make_tiled_tma_atom", type(made).__name__)
    see("results", len(made))
    see("atom", load_atom)
    see("atom.type", load_atom._trait.value.type)
    see("coordinate tensor", coordinates)
    see("coordinate tensor.type", coordinates.type)
    see("coordinate tensor.iterator", coordinates.iterator)
    see("coordinate tensor.stride", strides_of(coordinates))
    see("coordinate tensor[64, 512]", coordinates[64, 512])
    cast_atom, cast_coordinates = cpasync.make_tiled_tma_atom(
        cpasync.CopyBulkTensorTileG2SMulticastOp(), view, shared_layout, TILE, num_multicast=2
    )
    see("multicast atom", cast_atom)
    see("multicast atom.type", cast_atom._trait.value.type)
    look(load_atom, coordinates, cast_atom, cast_coordinates, report, descriptor, view, source, shared_layout).launch(
        grid=(1, 1, 1), block=(WARP, 1, 1), smem=TILE_BYTES + 8, stream=stream
    )


# --- the swaps --------------------------------------------------------------------------------------------------------


@cute.kernel
def swapped(
    load_atom: cute.CopyAtom, coordinates: cute.Tensor, shared_layout: cute.ComposedLayout, how: cutlass.Constexpr[str]
):
    """The call with two of its operands in each other's place, or without the grouping."""
    shared = SmemAllocator()
    tile = shared.allocate_tensor(cutlass.Float16, shared_layout, byte_alignment=128)
    barrier = shared.allocate_array(cutlass.Int64, 1, byte_alignment=8)
    chosen = cute.local_tile(coordinates, TILE, (1, 2))
    one = cute.make_layout(1)
    shared_group, global_group = cute.group_modes(tile, 0, 2), cute.group_modes(chosen, 0, 2)
    if cutlass.const_expr(how == "tma_partition given global first"):
        cpasync.tma_partition(load_atom, 0, one, global_group, shared_group)
    elif cutlass.const_expr(how == "modes not grouped"):
        cpasync.tma_partition(load_atom, 0, one, tile, chosen)
    elif cutlass.const_expr(how == "seven tiles in the first mode"):
        strip = cute.local_tile(coordinates, TILE, (1, None))
        cpasync.tma_partition(load_atom, 0, one, shared_group, cute.group_modes(strip, 0, 3))
    elif cutlass.const_expr(how == "seven tiles in a mode of their own"):
        strip = cute.local_tile(coordinates, TILE, (1, None))
        cpasync.tma_partition(load_atom, 0, one, shared_group, cute.group_modes(strip, 0, 2))
    elif cutlass.const_expr(how == "results taken as global, shared"):
        global_part, shared_part = cpasync.tma_partition(load_atom, 0, one, shared_group, global_group)
        cute.copy(load_atom, global_part, shared_part, tma_bar_ptr=barrier)
    elif cutlass.const_expr(how == "copy given shared first"):
        shared_part, global_part = cpasync.tma_partition(load_atom, 0, one, shared_group, global_group)
        cute.copy(load_atom, shared_part, global_part, tma_bar_ptr=barrier)
    elif cutlass.const_expr(how == "copy without a barrier"):
        shared_part, global_part = cpasync.tma_partition(load_atom, 0, one, shared_group, global_group)
        cute.copy(load_atom, global_part, shared_part)
    else:
        shared_part, global_part = cpasync.tma_partition(load_atom, 0, one, shared_group, global_group)
        cute.copy(load_atom, global_part, shared_part, tma_bar_ptr=barrier)


@cute.jit
def swap(source: cute.Tensor, how: cutlass.Constexpr[str], stream: common.cuda_driver.CUstream):
    """Compiled only."""
    shared_layout = common.tile_layout()
    load_atom, coordinates = cpasync.make_tiled_tma_atom(
        cpasync.CopyBulkTensorTileG2SOp(), common.row_major(source, ROWS, COLS), shared_layout, TILE
    )
    swapped(load_atom, coordinates, shared_layout, how).launch(
        grid=(1, 1, 1), block=(WARP, 1, 1), smem=TILE_BYTES + 8, stream=stream
    )


SWAPS = (
    "as it is", "tma_partition given global first", "modes not grouped", "seven tiles in the first mode",
    "seven tiles in a mode of their own", "results taken as global, shared",
    "copy given shared first", "copy without a barrier",
)  # fmt: skip


def refusals() -> dict[str, str]:
    """What compiling each swap comes to: an empty text, or the error's name and first telling line."""
    found = {}
    for how in SWAPS:
        try:
            common.compiled(swap, common.matrix(ROWS, COLS), how)
            found[how] = ""
        except Exception as error:
            found[how] = f"{type(error).__name__}: {telling(str(error))}"
    return found


def telling(text: str) -> str:
    """What an error says is wrong, on one line: without colours, suggestions and paths."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text).split("suggestion:")[0]
    said = " ".join(plain.split()).split("error: ")[-1].removeprefix("unknown: ")
    return re.sub(r"(?:/[\w.@-]+)+/", "", said).strip()


# --- the election in the PTX ------------------------------------------------------------------------------------------

_TOLD = re.compile(r"elect\.sync|mbarrier|cp\.async\.bulk|fence|bar\.sync|^@|^\$L|reqntid")


def ptx_lines() -> list[str]:
    """The kernel's PTX, but for its arithmetic and its loads and stores of elements."""
    with tempfile.TemporaryDirectory() as folder:
        cute_strips.compile_all(options=f"--keep-ptx --dump-dir {folder}")
        (path,) = Path(folder).glob("*.ptx")
        return [line.strip() for line in path.read_text().splitlines() if _TOLD.search(line.strip())]


def elections() -> dict[str, bool]:
    """Whether cute.copy and cute.prefetch elect a lane by themselves, by what they issue: read in their PTX."""
    made = {
        "load": ("cp.async.bulk.tensor.2d.shared::cta", cute_strips.compile_all),
        "multicast": (
            "cp.async.bulk.tensor.2d.shared::cluster",
            lambda options: cute_cluster.compile_one(True, options),
        ),
        "store": (
            "cp.async.bulk.tensor.2d.global",
            lambda options: cute_stages.compile_one(
                common.STRIPS, common.STRIPS, 1, "tma by 32 lanes", options=options
            ),
        ),
        "prefetch": (
            "cp.async.bulk.prefetch.tensor",
            lambda options: cute_prefetch.compile_one("tile by 32 lanes", options),
        ),
    }
    found = {}
    for name, (sign, build) in made.items():
        with tempfile.TemporaryDirectory() as folder:
            build(options=f"--keep-ptx --dump-dir {folder}")
            (path,) = Path(folder).glob("*.ptx")
            found[name] = is_elected(path.read_text().splitlines(), sign)
    return found


def is_elected(lines: list[str], sign: str) -> bool:
    """Whether an election stands between the last label and the instruction that begins with `sign`."""
    plain = [line.strip() for line in lines]
    at = next(number for number, line in enumerate(plain) if line.startswith(sign))
    label = max((number for number in range(at) if plain[number].startswith("$L")), default=0)
    return any(line.startswith("elect.sync") for line in plain[label:at])


def compile_all(options: str = "") -> dict[str, object]:
    """The look at the calls."""
    SEEN.clear()
    descriptor = cute.runtime.make_fake_compact_tensor(cutlass.Int64, (16,), stride_order=(0,), assumed_align=64)
    arguments = common.matrix(ROWS, COLS), common.vector(cutlass.Int64, 2), descriptor
    return {"take_apart": common.compiled(take_apart, *arguments, options=options)}


def told() -> dict[str, object]:
    """All that needs no GPU: `seen`, `refusals`, `ptx`, `elects`."""
    compile_all()
    return {"seen": dict(SEEN), "refusals": refusals(), "ptx": ptx_lines(), "elects": elections()}


def run(params: dict) -> tuple[dict, dict]:
    """`told`; from the GPU `view_is_source`: whether the view's address is the matrix's own; and array `descriptor`."""
    import cupy
    import numpy as np
    from cutlass.cute.runtime import from_dlpack

    launch = compile_all()["take_apart"]
    source, report, descriptor = common.pattern(ROWS, COLS), cupy.zeros(2, cupy.int64), cupy.zeros(16, cupy.int64)
    free = cupy.cuda.runtime.memGetInfo()[0]
    launch(common.given(source), common.given(report), from_dlpack(descriptor, assumed_align=64), common.stream())
    cupy.cuda.runtime.deviceSynchronize()
    free_after = cupy.cuda.runtime.memGetInfo()[0]
    view, given = (int(one) for one in report.get())
    words = descriptor.get()
    at = [index for index, word in enumerate(words) if word == source.data.ptr]
    arrays = {"descriptor": np.where(words == source.data.ptr, 0, words).view(np.uint8)}
    values = {
        "view_is_source": view == given == source.data.ptr,
        "allocated_bytes": free - free_after,
        "address_at": at,
    }
    return {**told(), **values}, arrays

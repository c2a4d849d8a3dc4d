"""The task's tile through CuTe DSL: the swizzle comes from the layout in shared memory, and the map is the host code's.

make_smem_layout_atom(K_SW128, Float16)  ─▶  S<3,4,3> o 0 o (8,64):(64,1)  ─▶  tile_to_shape (32,64)
local_tile(coordinate_view, (32, 64), (3, 2))                            the tile's index, not its corner
"""

from __future__ import annotations

from tmalab.frontends.driver_watch import watch_driver
from tmalab.frontends.programs import cute_common as cute_shared
from tmalab.frontends.programs import tile_common as common
from tmalab.frontends.programs.cute_common import DEADLINE_NS, WARP, SmemAllocator, bounded_wait, cpasync, cute, cutlass

warpgroup = cute.nvgpu.warpgroup
KINDS = {
    "128B": warpgroup.SmemLayoutAtomKind.K_SW128, "64B": warpgroup.SmemLayoutAtomKind.K_SW64,
    "32B": warpgroup.SmemLayoutAtomKind.K_SW32, "none": warpgroup.SmemLayoutAtomKind.K_INTER,
}  # fmt: skip


# [kernel]
@cute.kernel
def load_tile(
    load_atom: cute.CopyAtom, coordinate_view: cute.Tensor, words: cute.Tensor, report: cute.Tensor,
    shared_layout: cute.ComposedLayout, box: cutlass.Constexpr[tuple], index: cutlass.Constexpr[tuple],
):  # fmt: skip
    """One warp, one load; then shared memory as it lies, 4 bytes a word."""
    lane, _, _ = cute.arch.thread_idx()
    count = cute.size(words)
    shared = SmemAllocator()
    raw = shared.allocate_array(cutlass.Uint32, count, byte_alignment=1024)
    barrier = shared.allocate_array(cutlass.Int64, 1, byte_alignment=8)
    elements = cute.recast_ptr(raw, shared_layout.inner, dtype=cutlass.Float16)
    tile = cute.make_tensor(elements, shared_layout.outer)
    with cute.arch.elect_one():
        cute.arch.mbarrier_init(barrier, 1)
    cute.arch.mbarrier_init_fence()
    cute.arch.barrier()

    chosen = cute.local_tile(coordinate_view, box, index)
    shared_part, global_part = cpasync.tma_partition(
        load_atom, 0, cute.make_layout(1), cute.group_modes(tile, 0, 2), cute.group_modes(chosen, 0, 2)
    )
    with cute.arch.elect_one():
        cute.arch.mbarrier_arrive_and_expect_tx(barrier, 4 * count)
    cute.copy(load_atom, global_part, shared_part, tma_bar_ptr=barrier)
    done = bounded_wait(barrier, 0, DEADLINE_NS)
    if done:
        for word in cutlass.range(lane, count, WARP):
            words[word] = cute.make_tensor(raw, cute.make_layout(count))[word]
    if lane == 0:
        report[0], report[1] = cutlass.Uint32(done), cutlass.Uint32(raw.toint())


# [/kernel]


# [host]
@cute.jit
def load(
    source: cute.Tensor, words: cute.Tensor, report: cute.Tensor, box: cutlass.Constexpr[tuple],
    index: cutlass.Constexpr[tuple], swizzle: cutlass.Constexpr[str], stream: cute_shared.cuda_driver.CUstream,
):  # fmt: skip
    """The layout in shared memory, the atom with its map, the launch."""
    atom_layout = warpgroup.make_smem_layout_atom(KINDS[swizzle], cutlass.Float16)
    shared_layout = cute.tile_to_shape(atom_layout, box, (0, 1))
    load_atom, coordinate_view = cpasync.make_tiled_tma_atom(
        cpasync.CopyBulkTensorTileG2SOp(), source, shared_layout, box
    )
    load_tile(load_atom, coordinate_view, words, report, shared_layout, box, index).launch(
        grid=(1, 1, 1), block=(WARP, 1, 1), smem=4 * cute.size(words) + 16, stream=stream
    )


# [/host]


def compiled(params: dict, options: str = "") -> object:
    """The host function for the task's sizes. CuTe cuts a tensor into a grid of tiles; the task's is one of them."""
    (rows, cols), (row, col), box = params["shape"], params["at"], tuple(params["box"])
    index = row // box[0], col // box[1]
    return cute_shared.compiled(
        load, cute_shared.matrix(rows, cols), cute_shared.vector(cutlass.Uint32, box[0] * box[1] // 2),
        cute_shared.vector(cutlass.Uint32, 2), box, index, params["swizzle"], options=options,
    )  # fmt: skip


def ptx_of(params: dict) -> str:
    """The PTX, which CuTe DSL leaves in a folder when it is asked to keep it."""
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        compiled(params, options=f"--keep-ptx --dump-dir {folder}")
        return "\n".join(path.read_text() for path in sorted(Path(folder).glob("*.ptx")))


compile_only = ptx_of


def run(params: dict) -> tuple[dict, dict]:
    """The task's tile."""
    import cupy

    source = common.cupy_memory(params)
    words = common.cupy_output(common.tile_bytes(params)).view(cupy.uint32)
    report = cupy.zeros(2, cupy.uint32)
    try:
        launch = compiled(params)
        with watch_driver() as seen:
            launch(*(cute_shared.given(array) for array in (source, words, report)), cute_shared.stream())
            cupy.cuda.runtime.deviceSynchronize()
    except Exception as error:
        return common.refused(params, error, "CuTe DSL"), {}
    (descriptor, *_) = seen.descriptors()
    box, done = params["box"], bool(report[0].get())
    values = {
        "completed": done, "smem_address": int(report[1].get()), "coords": params["at"][::-1],
        "captured": "launch parameter",
        "given": {"shape": params["shape"], "strides": [params["shape"][1], 1], "box": box,
                  "tile index": [params["at"][0] // box[0], params["at"][1] // box[1]]},
        "encode_calls": common.encode_calls(seen.encoded), "watch_missed": seen.missed,
        "ptx": common.transfer_lines(ptx_of(params)), "exposes": exposes(),
        **common.installed(
            "nvidia-cutlass-dsl", "nvidia-cutlass-dsl-libs-core", "nvidia-cutlass-dsl-libs-base",
            "nvidia-cutlass-dsl-libs-cu13", folders=[cutlass],
        ), "raised": None, "driver_answer": common.driver_answer(params),
    }  # fmt: skip
    return values, {"smem": words.view(cupy.uint8).get(), **common.descriptor_arrays(descriptor)}


def exposes() -> dict:
    """What CuTe's copies and the makers of their maps name."""
    maker, load_op = ("make_tiled_tma_atom", cpasync.make_tiled_tma_atom), ("cpasync", cpasync)
    made = [maker, ("make_im2col_tma_atom", cpasync.make_im2col_tma_atom)]
    sought = {
        "swizzle": ([("SmemLayoutAtomKind", warpgroup.SmemLayoutAtomKind)], "^K_SW"),
        "element_strides": ([maker], "element_stride|traversal"), "fill": (made, "oob|fill"),
        "l2_promotion": (made, "l2|promotion"), "im2col": ([load_op], "^make_im2col|Im2Col.*Op$"),
        "multicast": ([maker, load_op], "num_multicast|MulticastOp$"), "reductions": ([load_op], "^CopyReduce.*Op$"),
        "prefetch": ([("cute", cute)], "^prefetch"),
    }  # fmt: skip
    return common.exposed({name: [(*place, word) for place in places] for name, (places, word) in sought.items()})

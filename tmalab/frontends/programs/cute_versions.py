"""What changed between CuTe DSL 4.2.1 and today, asked of whichever is installed: one program for both.

    4.2.1   make_tiled_tma_atom → (atom, tensor)      cutlass.utils.SmemAllocator
    4.8.1   make_tiled_tma_atom → TmaInfo, still two  cutlass.memory.SmemAllocator; the old name warns

Run as a file it prints its answer as JSON: `python cute_versions.py`, in an environment of either version.
"""

from __future__ import annotations

import json
import os
import warnings
from importlib.metadata import version
from importlib.util import find_spec

os.environ.setdefault("CUTE_DSL_ARCH", "sm_90a")

import cutlass
import cutlass.cute as cute
import cutlass.utils
from cutlass.cute.nvgpu import cpasync

SHAPE, TILE = (8448, 1792), (64, 256)
ANSWER: dict[str, object] = {}


@cute.kernel
def load(atom: cute.CopyAtom, coordinates: cute.Tensor, layout: cute.ComposedLayout):
    """Tile (1, 2), through the allocator of the old name."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        shared = cutlass.utils.SmemAllocator()
        ANSWER["warned"] = warned(caught)
    tile = shared.allocate_tensor(cutlass.Float16, layout, byte_alignment=128)
    barrier = shared.allocate_array(cutlass.Int64, 1)
    chosen = cute.local_tile(coordinates, TILE, (1, 2))
    ANSWER["local_tile"] = str(chosen)
    shared_part, global_part = cpasync.tma_partition(
        atom, 0, cute.make_layout(1), cute.group_modes(tile, 0, 2), cute.group_modes(chosen, 0, 2)
    )
    ANSWER["tma_partition"] = str(global_part)
    with cute.arch.elect_one():
        cute.arch.mbarrier_init(barrier, 1)
    cute.copy(atom, global_part, shared_part, tma_bar_ptr=barrier)


@cute.jit
def host(source: cute.Pointer):
    """The atom, unpacked as the guide does."""
    view = cute.make_tensor(source, cute.make_layout(SHAPE, stride=(SHAPE[1], 1)))
    layout = cute.make_composed_layout(cute.make_swizzle(0, 4, 3), 0, cute.make_layout(TILE, stride=(TILE[1], 1)))
    made = cpasync.make_tiled_tma_atom(cpasync.CopyBulkTensorTileG2SOp(), view, layout, TILE)
    atom, coordinates = made
    ANSWER["returns"], ANSWER["length"] = type(made).__name__, len(made)
    ANSWER["attributes"] = [name for name in ("atom", "tma_tensor", "smem_layout") if hasattr(made, name)]
    load(atom, coordinates, layout).launch(grid=(1, 1, 1), block=(32, 1, 1), smem=32776)


def warned(caught: list) -> list[str]:
    """The deprecations among the warnings, without the places."""
    return sorted({" ".join(str(one.message).split()) for one in caught if "deprecated" in str(one.message).lower()})


def told() -> dict[str, object]:
    """What the installed version answers. No GPU is needed."""
    ANSWER.clear()
    ANSWER["version"] = version("nvidia-cutlass-dsl")
    ANSWER["cutlass.memory"] = find_spec("cutlass.memory") is not None
    source = cute.runtime.make_ptr(cutlass.Float16, 1 << 20, cute.AddressSpace.gmem, assumed_align=16)
    try:
        cute.compile(host, source)
    except RuntimeError as error:  # 4.2.1 links at once, and finds no driver's symbols where there is no driver
        if "Unknown function" not in str(error):
            raise
    return dict(ANSWER)


def run(params: dict) -> tuple[dict, dict]:
    """`told`, for the version that is installed where it runs."""
    return told(), {}


if __name__ == "__main__":
    print(json.dumps(told(), sort_keys=True))  # noqa: T201

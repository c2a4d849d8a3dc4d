"""What the CuTe DSL programs share: the seed's sizes, a wait with a deadline, compiling from shapes alone, clocks.

8448 x 1792 fp16  =  132 strips of 64 rows  x  7 tiles of 256 columns        one tile: 32,768 bytes
"""

from __future__ import annotations

import os

# The target must be known before cutlass is imported where there is no GPU.
os.environ.setdefault("CUTE_DSL_ARCH", "sm_90a")

import cuda.bindings.driver as cuda_driver
import cutlass
import cutlass.cute as cute
from cutlass.cute.nvgpu import cpasync

try:
    from cutlass.memory import SmemAllocator
except ImportError:  # 4.2.1 has it here; there 4.8.1 keeps a deprecated alias
    from cutlass.utils import SmemAllocator

TILE = TILE_ROWS, TILE_COLS = 64, 256
STRIPS, TILES = 132, 7
ROWS, COLS = STRIPS * TILE_ROWS, TILES * TILE_COLS
WARP = 32
TILE_BYTES = TILE_ROWS * TILE_COLS * 2
BARRIER_BYTES = 8
DEADLINE_NS = 2_000_000  # of one wait; a load takes a microsecond or two

__all__ = ["SmemAllocator", "cpasync", "cute", "cutlass"]


# [bounded-wait]
@cute.jit
def bounded_wait(barrier: cute.Pointer, phase: cutlass.Int32, deadline_ns: cutlass.Constexpr[int]) -> cutlass.Boolean:
    """Wait for the phase of that parity; False once `deadline_ns` have passed without it."""
    done = cute.arch.mbarrier_try_wait(barrier, phase)
    if not done:
        began = cute.arch.globaltimer()
        late = cutlass.Boolean(False)
        while not done and not late:
            done = cute.arch.mbarrier_try_wait(barrier, phase)
            late = cute.arch.globaltimer() - began > deadline_ns
    return done


# [/bounded-wait]


def tile_layout() -> cute.ComposedLayout:
    """The tile's layout in shared memory: row-major, under a swizzle of no bits, which changes nothing."""
    rows_first = cute.make_layout(TILE, stride=(TILE_COLS, 1))
    return cute.make_composed_layout(cute.make_swizzle(0, 4, 3), 0, rows_first)


def row_major(tensor: cute.Tensor, rows: int, cols: int) -> cute.Tensor:
    """A view of that memory as `rows` x `cols`, a row's elements side by side."""
    return cute.make_tensor(tensor.iterator, cute.make_layout((rows, cols), stride=(cols, 1)))


def warp_copy(threads: int = WARP) -> cute.TiledCopy:
    """How `threads` copy a tile out of shared memory: a warp a row, 16 bytes a lane."""
    atom = cute.make_copy_atom(cute.nvgpu.CopyUniversalOp(), cutlass.Float16, num_bits_per_copy=128)
    lanes = cute.make_layout((threads // WARP, WARP), stride=(WARP, 1))
    return cute.make_tiled_copy_tv(atom, lanes, cute.make_layout((1, 8), stride=(8, 1)))


# --- compiling: from shapes, so that no GPU and no tensor is needed ---------------------------------------------------


def matrix(rows: int, cols: int) -> object:
    """A stand-in for a row-major fp16 matrix."""
    return cute.runtime.make_fake_compact_tensor(cutlass.Float16, (rows, cols), stride_order=(1, 0), assumed_align=16)


def vector(dtype: type, length: int) -> object:
    """A stand-in for a row of numbers."""
    return cute.runtime.make_fake_compact_tensor(dtype, (length,), stride_order=(0,), assumed_align=16)


def compiled(function: object, *arguments: object, options: str = "") -> object:
    """`function`, compiled for arguments of these shapes; its last argument is a stream."""
    return cute.compile(function, *arguments, cuda_driver.CUstream(0), options=options)


# --- running: CuPy owns the memory ------------------------------------------------------------------------------------


def given(array: object) -> object:
    """A CuPy array as a compiled function takes it."""
    from cutlass.cute.runtime import from_dlpack

    return from_dlpack(array, assumed_align=16)


def stream() -> cuda_driver.CUstream:
    """CuPy's present stream."""
    import cupy

    return cuda_driver.CUstream(cupy.cuda.get_current_stream().ptr)


def pattern(rows: int, cols: int, half: str = "low") -> object:
    """A matrix whose 16-bit words tell their place: the low or the high 16 bits of row * cols + col."""
    import cupy

    index = cupy.arange(rows * cols, dtype=cupy.uint32).reshape(rows, cols)
    words = index if half == "low" else index >> 16
    return (words & 0xFFFF).astype(cupy.uint16).view(cupy.float16)


def unlike(rows: int, cols: int) -> object:
    """A matrix that no pattern leaves as it is: every word is 0xA5A5."""
    import cupy

    return cupy.full((rows, cols), 0xA5A5, cupy.uint16).view(cupy.float16)


def count_differing(one: object, other: object) -> int:
    """How many 16-bit words of two matrices differ."""
    import cupy

    return int((one.view(cupy.uint16) != other.view(cupy.uint16)).sum())

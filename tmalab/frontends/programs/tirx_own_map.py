"""A map of one's own: encoded by the kernel's own launcher code, handed to `apply`, read back by the kernel itself.

tensormap_encode_tiled(map, address, dims, strides, box, element strides)   innermost first, in bytes
apply(…, T.address_of(map), box=…, coords=…, swizzle=…)                     outermost first; must say the same
"""

from __future__ import annotations

from tmalab.frontends.programs import tirx_common as common
from tmalab.frontends.programs.tirx_boxes import layout_of
from tmalab.frontends.programs.tirx_common import LOAD, T, bounded_wait

ROWS, COLS = 16, 128
BOX = 8, 64
READ_MAP = r"""
__device__ __forceinline__ unsigned map_word(unsigned long long map, int word) { return ((const unsigned*)map)[word]; }
"""
PREFETCH = "cp.async.bulk.prefetch.tensor.2d.L2.global.tile"


def kernel_of(encoded_swizzle: int, told_swizzle: int, prefetch: bool = False) -> object:
    """The map has `encoded_swizzle`; `apply` and the shared layout are told `told_swizzle`."""
    layout, load = layout_of(BOX, "float16", told_swizzle), LOAD.format(2)

    # [kernel]
    @T.function
    def load_by_own_map(
        A: T.Tensor((16, 128), "float16", align=16), out: T.Tensor((8, 64), "float16", align=16),
        raw_out: T.Tensor((256,), "uint32", align=16), map_out: T.Tensor((32,), "uint32", align=16),
        late: T.Tensor((1,), "int32", align=4),
    ):  # fmt: skip
        tensor_map: T.let = T.stack_alloca("tensormap", 1)
        T.cuda.tensormap_encode_tiled(
            tensor_map, A.ptr_to([0, 0]), 128, 16, 256, 64, 8, 1, 1,
            descriptor_dtype="float16", rank=2, swizzle=encoded_swizzle,
        )  # fmt: skip
        T.device_entry(launch=T.cuda.LaunchConfig(grid=1, block=32))
        lane = T.cuda.lane_id()
        raw = T.alloc_shared((512,), "float16", layout="default", align=1024)
        mbar = T.alloc_shared((1,), "uint64", align=8)
        tile = raw.view(8, 64, layout=layout)
        words = raw.view("uint32")
        if lane == 0:
            T.ptx.mbarrier.init.shared.b64(mbar.ptr_to([0]), T.uint32(1))
            T.ptx.mbarrier.arrive.expect_tx.shared.b64(mbar.ptr_to([0]), T.uint32(1024))
            if T.constexpr(prefetch):
                T.ptx[PREFETCH](T.address_of(tensor_map), 64, 8)
        T.ptx.fence.proxy.async_.shared__cta()
        T.cuda.cta_sync()
        if lane == 0:
            T.cuda.tile.apply(
                T.ptx[load], tile, T.address_of(tensor_map),
                box=(8, 64), coords=(8, 64), swizzle=told_swizzle, mbar=mbar.ptr_to([0]),
            )  # fmt: skip
        done = bounded_wait(mbar.ptr_to([0]), 0)
        if lane == 0:
            late[0] = T.Select(done, 0, 1)
        map_out[lane] = T.cuda.func_call("map_word", T.address_of(tensor_map), lane, READ_MAP, ty="uint32")
        for i in range(8):
            raw_out[i * 32 + lane] = words[i * 32 + lane]
        for row in range(8):
            for half in range(2):
                out[row, half * 32 + lane] = tile[row, half * 32 + lane]

    # [/kernel]
    return load_by_own_map


def compile_all() -> dict[str, object]:
    """A map that is as told, one that is not, a prefetch."""
    ways = {"match": (3, 3), "mismatch": (1, 3), "prefetch": (3, 3, True)}
    return {name: common.build(kernel_of(*way)) for name, way in ways.items()}


def run(params: dict) -> tuple[dict, dict]:
    """Arrays `smem` as it lies, `tile` as the kernel indexed it, `descriptor` as the kernel read it and as encoded."""
    import cupy
    import numpy as np

    executable = common.build(kernel_of(params["encoded"], params["told"], params.get("prefetch", False)))
    maps = common.encoded()
    source = cupy.arange(ROWS * COLS, dtype=cupy.uint16).view(cupy.float16).reshape(ROWS, COLS)
    seen = []
    for _ in range(params.get("repeats", 1)):
        out, late = cupy.zeros(BOX, cupy.float16), cupy.zeros(1, cupy.int32)
        raw, own = cupy.zeros(256, cupy.uint32), cupy.zeros(32, cupy.uint32)
        executable(*map(common.given, (source, out, raw, own, late)))
        cupy.cuda.runtime.deviceSynchronize()
        seen.append((out.get().view(np.uint16), raw.get().view(np.uint8), bool(late.get()[0])))
    found, smem, _ = seen[0]
    wanted = source.get().view(np.uint16)[8:, 64:]
    values = {
        "late": any(one[2] for one in seen), "told": common.told(executable), "differ": int((found != wanted).sum()),
        "elements": found.size, "given": [one["given"] for one in maps[:2]],
        "runs_differing": sum(not np.array_equal(one[1], smem) for one in seen),
    }  # fmt: skip
    arrays = {"smem": smem, "tile": found, "descriptor": own.get().view(np.uint8)}
    return values, arrays | {"encoded": common.rows_of(maps)[0]}

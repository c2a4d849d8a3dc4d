"""The task's tile through cuda.core: a view of the array makes the descriptor, any kernel takes it as an argument.

StridedMemoryView(array).as_tensor_map((32, 64), swizzle=…) ─▶ TensorMapDescriptor ─▶ launch(…, descriptor, …)
outermost first, in elements                                   128 bytes             the kernel itself is CUDA C++
"""

from __future__ import annotations

import numpy as np
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

from tmalab.frontends.driver_watch import watch_driver
from tmalab.frontends.programs import tile_common as common
from tmalab.hardware.compile import KERNELS

WAIT_NS = 2_000_000
# [kernel]
SOURCE = """
#include "bounded_wait.cuh"
#include "ptx_tensor.cuh"

extern "C" __global__ void tile(const __grid_constant__ CUtensorMap map, int row, int col, u32 bytes, u64 wait_ns,
                                unsigned char* out, u32* report) {
  extern __shared__ __align__(1024) unsigned char shared[];
  u64* barrier = reinterpret_cast<u64*>(shared + bytes);
  if (threadIdx.x == 0) {
    mbarrier_init(barrier, 1);
    fence_mbarrier_init();
    mbarrier_arrive_expect_tx(barrier, bytes);
    cp_async_bulk_tensor_2d_shared_cluster_global_tile(shared, &map, col, row, barrier);  // innermost first
  }
  __syncthreads();
  if (!wait_for_phase(barrier, 0, wait_ns)) report[1] = 1;
  for (u32 at = threadIdx.x; at < bytes; at += blockDim.x) out[at] = shared[at];
  report[0] = shared_address(shared);
}
"""
# [/kernel]
_SWIZZLES = {"none": "NONE", "32B": "SWIZZLE_32B", "64B": "SWIZZLE_64B", "128B": "SWIZZLE_128B"}


def compiled() -> object:
    """The kernel, for sm_90a."""
    return Program(SOURCE, "c++", ProgramOptions(std="c++17", arch="sm_90a", include_path=[str(KERNELS)])).compile(
        "cubin"
    )


def compile_only(params: dict) -> str:
    """The PTX, by the NVRTC that cuda.core asks: its own compile("ptx") wants a driver to compare versions with."""
    from cuda.bindings import nvrtc

    _, program = nvrtc.nvrtcCreateProgram(SOURCE.encode(), b"tile.cu", 0, [], [])
    options = [b"--gpu-architecture=compute_90a", b"--std=c++17", f"-I{KERNELS}".encode()]
    nvrtc.nvrtcCompileProgram(program, len(options), options)
    text = bytearray(nvrtc.nvrtcGetPTXSize(program)[1])
    nvrtc.nvrtcGetPTX(program, text)
    return text.decode()


# [host]
def tensor_map(params: dict, array: object) -> object:
    """The descriptor of an array: box and options in the array's own order."""
    from cuda.core._tensor_map import TensorMapSwizzle  # 1.2.2 gives the mode's names no public place
    from cuda.core.utils import StridedMemoryView

    swizzle = getattr(TensorMapSwizzle, _SWIZZLES[params["swizzle"]])
    view = StridedMemoryView.from_any_interface(array, stream_ptr=-1)
    return view.as_tensor_map(tuple(params["box"]), swizzle=swizzle)


# [/host]


def run(params: dict) -> tuple[dict, dict]:
    """The task's tile."""
    import cupy

    source = common.cupy_memory(params)
    out, report = common.cupy_output(common.tile_bytes(params)), cupy.zeros(2, cupy.uint32)
    device = Device()
    device.set_current()
    stream = device.create_stream()
    cupy.cuda.Device().synchronize()
    with watch_driver() as seen:
        try:
            descriptor = tensor_map(params, source)
        except Exception as error:
            return common.refused(params, error, "as_tensor_map"), {}
        kernel = compiled().get_kernel("tile")
        config = LaunchConfig(grid=1, block=128, shmem_size=common.tile_bytes(params) + 8)
        where = np.int32(params["at"][0]), np.int32(params["at"][1])
        numbers = *where, np.uint32(common.tile_bytes(params)), np.uint64(WAIT_NS)
        launch(stream, config, kernel, descriptor, *numbers, out.data.ptr, report.data.ptr)
        stream.sync()
    address, late = report.get().tolist()
    found = seen.descriptors()
    values = {
        "smem_address": address, "coords": params["at"][::-1], "late": bool(late),
        "captured": "launch parameter" if found else "nothing", "watch_missed": seen.missed,
        "given": {"box": params["box"]},  # shape and strides are the array's own
        "encode_calls": common.encode_calls(seen.encoded), "ptx": common.transfer_lines(compile_only(params)),
        "exposes": exposes(), **common.installed("cuda-core", "cuda-bindings", "cuda-pathfinder"), "raised": None,
        "driver_answer": common.driver_answer(params),
    }  # fmt: skip
    return values, {"smem": out.get(), **(common.descriptor_arrays(found[0]) if found else {})}


def exposes() -> dict:
    """What the descriptor's parameters name; the copy itself is the kernel's own, in CUDA C++."""
    import cuda.core as core

    options = [("TensorMapDescriptorOptions", core.TensorMapDescriptorOptions)]
    made = [("TensorMapDescriptor", core.TensorMapDescriptor), *options]
    package = [*made, ("cuda.core", core)]
    sought = {
        "swizzle": (options, "swizzle"), "element_strides": (options, "element_strides"), "fill": (options, "fill"),
        "l2_promotion": (options, "l2_promotion"), "im2col": (made, "im2col"), "multicast": (package, "multicast"),
        "reductions": (package, "reduc"), "prefetch": (made, "prefetch"),
    }  # fmt: skip
    return common.exposed({name: [(*place, word) for place in places] for name, (places, word) in sought.items()})

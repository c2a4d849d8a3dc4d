"""The task's tile through CCCL: cuda::make_tma_descriptor for the map, cuda::ptx for the instructions, all of it C++.

DLTensor{shape, strides} + box + element strides ─▶ checks of its own ─▶ cuTensorMapEncodeTiled ─▶ CUtensorMap

Its headers come as a wheel, `nvidia-cuda-cccl`; nvcc compiles this text with them, and no GPU is needed for that.
"""

from __future__ import annotations

import ctypes
import re
import subprocess
import tempfile
from functools import cache
from importlib.metadata import distribution
from importlib.util import find_spec
from pathlib import Path

from tmalab.errors import HardwareError
from tmalab.frontends.programs import tile_common as common

SWIZZLES = {"none": 0, "32B": 1, "64B": 2, "128B": 3}
SOURCE = r"""
#include <cstring>
#include <cuda/ptx>
#include <cuda/tma>
#include <stdexcept>
namespace ptx = cuda::ptx;

// [kernel]
extern "C" __global__ void load_tile(
  const __grid_constant__ CUtensorMap map, int row, int col, int bytes, int room, unsigned char* out, unsigned* report)
{
  extern __shared__ __align__(1024) unsigned char tile[];
  __shared__ cuda::std::uint64_t bar;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&bar, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    const cuda::std::int32_t coords[2] = {col, row};
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, &map, coords, &bar);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, bytes);
  }
  __syncthreads();
  unsigned long long began, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(began));
  bool done;
  do {
    done = ptx::mbarrier_try_wait_parity(&bar, 0);
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (!done && now - began < 2000000);
  for (int i = threadIdx.x; done && i < room; i += blockDim.x) out[i] = tile[i];
  if (threadIdx.x == 0) { report[0] = done; report[1] = (unsigned)__cvta_generic_to_shared(tile); }
}
// [/kernel]

// [host]
CUtensorMap make_map(void* data, int64_t* shape, int64_t* strides, const int* box, const int* steps, int swizzle)
{
  DLTensor tensor{data, {kDLCUDA, 0}, 2, {kDLFloat, 16, 1}, shape, strides, 0};
  return cuda::make_tma_descriptor(tensor, {box, 2}, {steps, 2}, cuda::tma_interleave_layout::none,
                                   static_cast<cuda::tma_swizzle>(swizzle));
}
// [/host]

extern "C" int try_map(void* data, int64_t* shape, int64_t* strides, const int* box, const int* steps, int swizzle,
                       void* into, char* said, int room)
{
  try {
    CUtensorMap map = make_map(data, shape, strides, box, steps, swizzle);
    std::memcpy(into, &map, sizeof(map));
    return 0;
  } catch (const std::exception& error) {
    std::strncpy(said, error.what(), room - 1);
    return 1;
  }
}

extern "C" int launch(const void* map, int row, int col, int bytes, int room, unsigned char* out, unsigned* report)
{
  CUtensorMap given;
  std::memcpy(&given, map, sizeof(given));
  cudaFuncSetAttribute(load_tile, cudaFuncAttributeMaxDynamicSharedMemorySize, room);
  load_tile<<<1, 32, room>>>(given, row, col, bytes, room, out, report);
  cudaError_t answer = cudaGetLastError();
  return answer ? answer : cudaDeviceSynchronize();
}
"""


def headers() -> Path:
    """The folder of CCCL's headers that is in the wheel. Raises HardwareError."""
    for path in distribution("nvidia-cuda-cccl").files or ():
        if path.name == "make_tma_descriptor.h":
            return Path(str(path.locate())).parents[2]
    raise HardwareError("this CCCL has no <cuda/tma>", fix="install nvidia-cuda-cccl 13.2 or later")


def cccl_version() -> str:
    """CCCL's own version, which is not its wheel's: 3.4.3."""
    text = (headers() / "cuda/std/__cccl/version.h").read_text(encoding="utf-8")
    (number,) = re.findall(r"#define CCCL_VERSION (\d+)", text)
    return f"{int(number) // 1_000_000}.{int(number) // 1000 % 1000}.{int(number) % 1000}"


def build(kind: str) -> bytes:
    """SOURCE as nvcc makes it: "ptx", or "shared" for a library. DLPack's header is lent by cuda-core."""
    lender = find_spec("cuda.core")
    if lender is None:
        raise HardwareError("DLPack's header is missing", fix="pip install cuda-core, which has it")
    lent = Path(next(iter(lender.submodule_search_locations or ()))) / "_include/dlpack.h"
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        (here / "dlpack").mkdir()
        (here / "dlpack/dlpack.h").write_text(f'#include "{lent}"\n')
        (here / "tile.cu").write_text(SOURCE)
        options = ["-ptx"] if kind == "ptx" else ["-shared", "-Xcompiler", "-fPIC"]
        command = ["nvcc", "-std=c++17", "-arch=sm_90a", *options, "-I", headers(), "-I", here, here / "tile.cu"]
        done = subprocess.run([*command, "-o", here / "built"], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise HardwareError(f"nvcc: {done.stderr[-800:]}", fix="install the CUDA toolkit, or read the recording")
        return (here / "built").read_bytes()


@cache
def library() -> ctypes.CDLL:
    """The compiled text, loaded."""
    with tempfile.NamedTemporaryFile(suffix=".so") as file:
        file.write(build("shared"))
        file.flush()
        return ctypes.CDLL(file.name)


def compile_only(params: dict) -> str:
    """The PTX, made without a GPU; the task's sizes are not in it."""
    return build("ptx").decode()


def make_map(params: dict, address: int) -> tuple[bytes | None, str]:
    """The 128 bytes for the task's map, or None and what CCCL said."""
    strides = params.get("strides", [params["shape"][1], 1])
    numbers = [(ctypes.c_int64 * 2)(*params["shape"]), (ctypes.c_int64 * 2)(*strides)]
    numbers += [(ctypes.c_int * 2)(*params["box"]), (ctypes.c_int * 2)(*params.get("steps", [1, 1]))]
    into, said = ctypes.create_string_buffer(128), ctypes.create_string_buffer(1024)
    swizzle = SWIZZLES[params["swizzle"]]
    refused = library().try_map(ctypes.c_void_p(address), *numbers, swizzle, into, said, len(said))
    return (None, re.sub(r"\S*/include/cccl/", "", said.value.decode())) if refused else (into.raw, "")


def run(params: dict) -> tuple[dict, dict]:
    """The task's tile. The map is whole before anything is launched: where CCCL refuses, nothing is."""
    import cupy

    from tmalab.frontends.driver_watch import watch_driver

    # What a load completes, and what it spans: a row that is narrower than the swizzle's span is padded to it.
    size, room = common.task_map(params).transaction_bytes(), common.task_map(params).footprint_bytes()
    source, out, report = common.cupy_memory(params), common.cupy_output(room), cupy.zeros(2, cupy.uint32)
    found = {"cccl_version": cccl_version()}
    library()
    with watch_driver() as seen:
        descriptor, said = make_map(params, source.data.ptr)
        if descriptor is not None:
            row, col = params["at"]
            ends = ctypes.c_void_p(out.data.ptr), ctypes.c_void_p(report.data.ptr)
            answer = library().launch(descriptor, row, col, size, room, *ends)
    if descriptor is None:
        refused = common.refused(params, ValueError(said), "cuda::make_tma_descriptor")
        asked = common.encode_calls(seen.encoded)
        return {**found, **refused, "encode_calls": asked, "watch_missed": seen.missed}, {}
    values = {
        **found, "completed": answer == 0 and bool(report[0].get()), "smem_address": int(report[1].get()),
        "coords": params["at"][::-1], "captured": "launch parameter" if seen.descriptors() else "its return value",
        "given": {"shape": params["shape"], "strides": params.get("strides", [params["shape"][1], 1]),
                  "box": params["box"], "at": params["at"][::-1]},
        "encode_calls": common.encode_calls(seen.encoded), "watch_missed": seen.missed,
        "ptx": common.transfer_lines(compile_only(params)), "exposes": exposes(),
        **common.installed("nvidia-cuda-cccl"), "raised": None, "driver_answer": common.driver_answer(params),
    }  # fmt: skip
    handed = seen.descriptors()[0] if seen.descriptors() else descriptor
    return values, {"smem": out.get(), **common.descriptor_arrays(handed)}


def exposes() -> dict:
    """What the headers name: the parameters of make_tma_descriptor, and cuda::ptx's instructions."""
    maker = (headers() / "cuda/__tma/make_tma_descriptor.h").read_text(encoding="utf-8")
    instructions = sorted((headers() / "cuda/__ptx/instructions/generated").glob("*.h"))
    made = [("make_tma_descriptor", maker[maker.index("Public API") :])]
    moved = [("cuda::ptx", " ".join(path.stem for path in instructions))]
    sought = {
        "swizzle": (made, "tma_swizzle$"), "element_strides": (made, "^__elem_strides$"),
        "fill": (made, "tma_oob_fill$"), "l2_promotion": (made, "tma_l2_fetch_size$"), "im2col": (made, "im2col"),
        "multicast": (moved, "multicast"), "reductions": (moved, "^cp_reduce_async_bulk_tensor"),
        "prefetch": (moved, "prefetch"),
    }  # fmt: skip
    return common.exposed({name: [(*place, word) for place in places] for name, (places, word) in sought.items()})

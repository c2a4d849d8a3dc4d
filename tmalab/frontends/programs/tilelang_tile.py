"""The task's tile through tilelang: its compiler derives the map from the buffer, its layout and where the copy begins.

T.annotate_layout({tile: make_full_bank_swizzled_layout(tile)})     the 128-byte swizzle, by name
T.tma_copy(source[96, 128], tile, barrier=ready)                    box and coordinates, as NumPy counts

The host code that it generates checks the map by its own rules and then has the driver encode it.
"""

from pathlib import Path

import tilelang
import tilelang.language as T  # noqa: N812  (its users' name for it)
from tilelang import layout, tvm
from tilelang.contrib import nvcc

from tmalab.frontends.driver_watch import watch_driver
from tmalab.frontends.programs import tile_common as common

THREADS = 128
LAYOUTS = {
    "128B": layout.make_full_bank_swizzled_layout, "64B": layout.make_half_bank_swizzled_layout,
    "32B": layout.make_quarter_bank_swizzled_layout,
}  # fmt: skip
# No function of the language reads shared memory as it lies; a function of one's own does.
DUMP = """
extern "C" __device__ void dump_raw(const void* tile, unsigned char* bytes, unsigned* address, int count) {
  const unsigned at = (unsigned)__cvta_generic_to_shared(tile);
  for (int i = threadIdx.x; i < count; i += blockDim.x) {
    unsigned value;
    asm volatile("ld.shared.u8 %0, [%1];" : "=r"(value) : "r"(at + i) : "memory");
    bytes[i] = (unsigned char)value;
  }
  if (threadIdx.x == 0) *address = at;
}
"""


def program(params: dict) -> object:
    """The kernel for the task's sizes. `way` "tma_copy" has a barrier of its own, "copy" leaves all to the compiler."""
    shape, strides, (rows, cols), (row, col) = params["shape"], strides_of(params), params["box"], params["at"]
    size, make_layout, explicit = rows * cols * 2, LAYOUTS.get(params["swizzle"]), params["way"] == "tma_copy"

    # [kernel]
    @T.prim_func
    def load_tile(
        source: T.StridedTensor(shape, strides, "float16"), out: T.Tensor((size,), "uint8"),
        address: T.Tensor((1,), "uint32"),
    ):  # fmt: skip
        with T.Kernel(1, threads=THREADS):
            T.import_source(DUMP)
            tile = T.alloc_shared((rows, cols), "float16")
            if make_layout is not None:
                T.annotate_layout({tile: make_layout(tile)})
            if explicit:
                ready = T.alloc_barrier(THREADS)  # every thread arrives below
                T.tma_copy(source[row, col], tile, barrier=ready)
                T.barrier_arrive(ready)
                T.mbarrier_wait_parity(ready, 0)
            else:
                T.copy(source[row, col], tile, prefer_instruction="tma")
            T.call_extern(
                "handle", "dump_raw", tile.access_ptr("r"), out.access_ptr("w"), address.access_ptr("w"), size
            )

    # [/kernel]
    return load_tile


def strides_of(params: dict) -> list[int]:
    """The tensor's strides in elements: the task's, else row-major."""
    return params.get("strides", [params["shape"][1], 1])


def target() -> object:
    """Hopper, with what only it has."""
    return tvm.target.Target({"kind": "cuda", "arch": "sm_90a"})


def compile_only(params: dict) -> str:
    """The PTX, made without a GPU by the options that tilelang itself gives nvcc."""
    with target():
        return ptx_of(tilelang.lower(program(params), target=target()).kernel_source)


def ptx_of(source: str) -> str:
    """A kernel's CUDA C++ as PTX."""
    options = ["-std=c++20", f"-I{nvcc.TILELANG_TEMPLATE_PATH}", f"-I{nvcc.CUTLASS_INCLUDE_DIR}"]
    return nvcc.compile_cuda(source, "ptx", ["-arch=sm_90a"], options=options).decode()


def run(params: dict) -> tuple[dict, dict]:
    """The task's tile by `way` "tma_copy" or "copy"."""
    import numpy as np
    import torch

    memory, strides = common.memory(params), strides_of(params)
    whole = torch.from_numpy(memory.view(np.float16)).cuda()
    source = whole.as_strided(params["shape"], strides)
    out = torch.full((common.tile_bytes(params),), common.BACKGROUND, dtype=torch.uint8, device="cuda")
    address = torch.zeros(1, dtype=torch.uint32, device="cuda")
    seen = None
    try:
        # [host]
        kernel = tilelang.compile(program(params), target=target())
        with watch_driver() as seen:
            kernel(source, out, address)
            torch.cuda.synchronize()
        # [/host]
    except Exception as error:
        refused = common.refused(params, error, "tilelang")
        refused["raised"]["message"] = refused["raised"]["message"].replace(f"{Path(__file__).parent}/", "")
        return {**refused, "encode_calls": common.encode_calls(seen.encoded) if seen else []}, {}
    (descriptor, *_) = seen.descriptors()
    values = {
        "smem_address": int(address.cpu()[0]), "coords": params["at"][::-1], "captured": "launch parameter",
        "given": {"shape": params["shape"], "strides": strides, "box": params["box"], "at": params["at"]},
        "encode_calls": common.encode_calls(seen.encoded), "watch_missed": seen.missed,
        "ptx": common.transfer_lines(ptx_of(kernel.get_kernel_source())), "exposes": exposes(),
        **common.installed("tilelang", "apache-tvm-ffi", "z3-solver", folders=[tilelang]), "raised": None,
        "driver_answer": common.driver_answer(params),
    }  # fmt: skip
    return values, {"smem": out.cpu().numpy(), **common.descriptor_arrays(descriptor)}


def exposes() -> dict:
    """What the copies and layouts of tilelang name."""
    copies = [("T.copy", T.copy), ("T.tma_copy", T.tma_copy), ("T.copy_cluster", T.copy_cluster)]
    sought = {
        "swizzle": ([("tilelang.layout", layout)], "(bank_|make_)swizzled_layout"),
        "element_strides": (copies, "element_stride|traversal|step"), "fill": (copies, "oob|fill|pad"),
        "l2_promotion": (copies, "l2|promotion"),
        "im2col": ([("tilelang.language", T)], "^c2d_im2col"),
        "multicast": (copies, "cluster_mask|multicast"), "reductions": ([("T.atomic_add", T.atomic_add)], "use_tma"),
        "prefetch": ([*copies, ("tilelang.language", T)], "prefetch"),
    }  # fmt: skip
    return common.exposed({name: [(*place, word) for place in places] for name, (places, word) in sought.items()})

"""Which rules each front end checks by itself before it asks the driver: read in its source, each with its own words.

    rule of the driver   ─ checked by ─▶ CCCL: "box_sizes[i] must be between 1 …"     a front end without it leaves it
    no rule of the driver ─ checked by ─▶ CCCL: "Stride must be 0 or greater …"       to the driver, or to nobody

>>> [check.front_end for check in CHECKS if check.rule == "box_fits_shared_memory"]
['cccl']

What is `only_here` the driver does not want; a situation of the group "refusals" shows it where one could be asked. A
test finds the words in the installed package. CuTe DSL, which asks no driver, has no such text; numba-cuda has no maps.
`comparison.check_table` shows them all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

# Where to look: a front end's distributions and the ends of the files' names.
SOURCES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "cccl": (("nvidia-cuda-cccl", "cuda/__tma/make_tma_descriptor.h"),),
    "tilelang": (
        ("tilelang", "tilelang/src/cuda/runtime.cc"), ("tilelang", "tilelang/src/cuda/op/copy_analysis.cc"),
        ("tilelang", "tilelang/src/layout/gemm_layouts.cc"),
    ),
    "pallas": (
        ("jax", "jax/experimental/mosaic/gpu/launch_context.py"), ("jax", "jax/_src/pallas/mosaic_gpu/core.py"),
        ("jax", "jax/_src/state/indexing.py"), ("jax-cuda13-plugin", "libmosaic_gpu_runtime.so"),
    ),
    "triton": (
        ("triton", "triton/tools/tensor_descriptor.py"), ("triton", "triton/_utils.py"),
        ("triton", "triton/language/semantic.py"),
    ),
    "cudacore": (("cuda-core", "cuda/core/cu13/_tensor_map.pyi"),),
    "tirx": (("apache-tvm-tirx", "tvm_tirx/backend/cuda/tile/patterns/tma.py"),),
}  # fmt: skip


@dataclass(frozen=True)
class Check:
    """`rule` is a rule's id, or a warning's where the driver takes what the front end refuses (`only_here`).

    `situation` is the case that shows it: refusals/SITUATION/…; None where it was only read.
    """

    rule: str
    front_end: str
    words: str
    only_here: bool = False
    situation: str | None = None


def _driver_s(rule: str, **words: str) -> Iterator[Check]:
    for front_end, said in words.items():
        yield Check(rule, front_end, said)


CHECKS = (
    *_driver_s(
        "rank_range_1_5", cccl="tensor.ndim (rank) must be between 1 and 5", tilelang="tensorRank must be in [1, 5]",
        pallas="Rank must be in [1, 5]", triton="rank cannot be more than 5", cudacore="tensor rank is outside [1, 5]",
    ),
    *_driver_s(
        "interleave_needs_rank_3", cccl="must be greater than or equal to 3 for interleaved layout",
        tilelang="tensorRank must be >= 3 when interleave is not NONE",
        tirx="TMA interleave requires rank 3..5",
    ),
    *_driver_s(
        "base_address_align_16", cccl="(address) is not sufficiently aligned", tilelang="globalAddress must be ",
        triton="base must be 16-byte aligned", cudacore="16-byte aligned", tirx="TMA global origin requires ",
    ),
    *_driver_s(
        "global_dim_range_1_2pow32", cccl="must be greater than 0 and less than or equal to 2^32",
        tilelang="must be <= 2^32", pallas="TMA size must be less than 2**32", triton="shape must be positive",
        tirx="TMA dimensions must be in 1..2^32",
    ),
    *_driver_s(
        "global_stride_multiple_16", cccl="Stride in bytes is not a multiple of the alignment",
        tilelang="TMA bulk copy cannot support a global stride of",
        pallas="async_copy requires all GMEM strides except the last one", triton="strides must be 16-byte aligned",
        tirx="TMA global byte strides must be multiples of",
    ),
    *_driver_s(
        "global_stride_range_0_2pow40", cccl="Stride in bytes is greater than or equal to 2^40",
        tilelang="must be < 2^40", pallas="less than 2**40", tirx="TMA byte strides must be in 1..2^40-1",
    ),
    *_driver_s(
        "box_dim_range_1_256", cccl="box_sizes[i] must be between 1 and min", tilelang="must be <= 256",
        pallas="Window shape must be in [0, 256]", cudacore="each value must be in [1, 256]",
        tirx="TMA box must have rank extents in 1..256",
    ),
    *_driver_s(
        "box_inner_bytes_multiple_16", cccl="requires box_sizes innermost dimension (box_sizes[__rank - 1]) in bytes",
        tilelang="boxDim[0] * elementSize must be a multiple of 16 bytes", pallas="bytewidth divisible by 16",
        triton="must have at least 16 bytes in the last dimension",
        tirx="TMA innermost box width must be a multiple of 16 bytes",
    ),
    *_driver_s(
        "box_inner_le_swizzle_span", cccl="be less than or equal to 128", tilelang="must be <= swizzle span",
        pallas="require the last dimension of the", tirx="TMA innermost box width must not exceed its swizzle span",
    ),
    *_driver_s("box_fits_shared_memory", cccl="Box sizes do not fit in shared memory"),
    *_driver_s(
        "element_stride_range_1_8", cccl="elem_strides[i] must be greater than 0", tilelang="must be in [1, 8]",
        tirx="TMA element_strides must have rank entries in 1..8",
    ),
    *_driver_s(
        "nan_fill_needs_float_dtype", cccl="only supported for floating-point data types",
        tilelang="only be used with floating-point tensorDataType", triton="only supported for floating point tensors",
        tirx="TMA NaN OOB fill requires a floating-point descriptor format",
    ),
    *_driver_s("atom_swizzle_needs_sm100", cccl="bytes128_atom* are not supported with compute capability 9"),
    *_driver_s("packed_type_needs_sm100", cccl="U4x16 is not supported with compute capability 9"),
    *_driver_s("packed_row_is_128_values", tirx="TMA packed FP4 requires inner box 128"),
    Check("box_wider_than_tensor", "cccl", "min(tensor.shape[rank - 1 - i], 256)", True, "past"),
    Check("strides_overlap", "cccl", "Stride must be 0 or greater than or equal to the product", True, "overlap"),
    Check("strides_overlap", "tilelang", "]) must be non-zero", True, "repeat"),
    Check("element_stride_range_1_8", "cccl", "less than or equal to min(tensor.shape", True, "step"),
    Check("box_inner_le_swizzle_span", "pallas", "requires the trailing dimension to be of", True, "narrow"),
    Check("box_inner_le_swizzle_span", "tilelang", "continuous % (vector_size * 8) == 0", True, "narrow"),
    Check("box_dim_range_1_256", "triton", "must be a power of 2", True, "odd"),
    Check("null_global_address", "cccl", "Address is null", True),
    Check("null_global_address", "tilelang", "globalAddress must be non-null", True),
    Check("interleave_32B_without_swizzle_32B", "cccl", "bytes32 requires tma_swizzle::bytes32", True),
    Check("interleave_32B_without_swizzle_32B", "tilelang", "swizzle must be CU_TENSOR_MAP_SWIZZLE_32B when", True),
    Check("interleave_32B_without_swizzle_32B", "tirx", "TMA interleave=2 requires swizzle=1", True),
    Check("inner_element_stride_ignored", "tirx", "TMA innermost element stride must be one without", True),
    Check("strides_overlap", "tirx", "TMA byte strides must be in 1..2^40-1", True),
)  # fmt: skip


def source_of(front_end: str) -> str:
    """The text of the installed files that hold a front end's checks; empty where it is not installed."""
    texts = []
    for name, end in SOURCES[front_end]:
        try:
            files = distribution(name).files or ()
        except PackageNotFoundError:
            continue
        found = (Path(str(path.locate())) for path in files if str(path).endswith(end))
        texts += [path.read_text(encoding="utf-8", errors="replace") for path in found]
    return "\n".join(texts)

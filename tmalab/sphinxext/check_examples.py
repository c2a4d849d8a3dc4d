"""The questions that the page *Check my descriptor* offers: public reports, in each form that the checker reads.

    report ──▶ Example(name, title, source, text)  ──page_answer, when the book is built──▶  its recorded answer

>>> [example.name for example in EXAMPLES][:3]
['copy-of-512-rows', 'cutlass-dump', 'tilelang-dump']

Where a report gives no numbers, these are ours. `source` is the report's repository and number, or None for ours.
"""

from __future__ import annotations

from typing import NamedTuple


class Example(NamedTuple):
    """A question to choose from, as somebody would paste it."""

    name: str
    title: str
    source: str | None
    text: str


EXAMPLES = (
    Example(
        "copy-of-512-rows", "C++: 512 rows in one copy", "triton-lang/triton#6776", """\
// A tile of 512 rows of 64 float16, in one copy.
constexpr uint32_t BLOCK_M = 512, BLOCK_K = 64;
cuuint64_t dims[2] = {4096, 4096};
cuuint64_t strides[1] = {4096 * sizeof(__half)};
cuuint32_t box[2] = {BLOCK_K, BLOCK_M};
cuuint32_t ones[2] = {1, 1};
cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, ptr, dims, strides, box, ones,
                       CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                       CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
""",
    ),
    Example(
        "cutlass-dump", "CUTLASS: Failed to initialize the TMA descriptor 1", "NVIDIA/cutlass#947", """\
TMA Desc Addr:   0x7ffd7d2800c0
format         6
dim            3
gmem_address   0x0
globalDim      (1024,1024,1,1,1)
globalStrides  (2,2048,2097152,0,0)
boxDim         (64,128,1,1,1)
elementStrides (1,1,1,1,1)
interleave     0
swizzle        3
l2Promotion    0
oobFill        0
Error: Failed to initialize the TMA descriptor 1
""",
    ),
    Example(
        "tilelang-dump", "TileLang: works only if N is a multiple of 8", "tile-ai/tilelang#460", """\
TMA Desc Addr:   0x55d0c0 (mod64=0)
format         6 (CU_TENSOR_MAP_DATA_TYPE_FLOAT16)
dim            2
gmem_address   0x7f2a00000000 (mod16=0, mod32=0)
globalDim      [1004, 1024]
globalStridesRaw [2, 2008]
cudaGlobalStrides [2008]
boxDim         [64, 128]
elementStrides [1, 1]
interleave     0 (CU_TENSOR_MAP_INTERLEAVE_NONE)
swizzle        3 (CU_TENSOR_MAP_SWIZZLE_128B)
l2Promotion    2 (CU_TENSOR_MAP_L2_PROMOTION_L2_128B)
oobFill        0 (CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
""",
    ),
    Example(
        "triton-descriptor", "Triton: a block of 96 rows, and rows of 1000 bytes", None, """\
M, K = 4096, 500
BLOCK_M, BLOCK_K = 96, 64
a = torch.randn((M, K), device="cuda").to(torch.float16)
a_desc = TensorDescriptor(a, shape=[M, K], strides=[K, 1], block_shape=[BLOCK_M, BLOCK_K])
""",
    ),
    Example(
        "tvm-call", "TVM: a box of 128 columns under the 128B swizzle", None, """\
M, K, BLK_M, BLK_K = 4096, 512, 128, 128
A_map: T.let = T.stack_alloca("tensormap", 1)
T.call_packed("runtime.cuTensorMapEncodeTiled", A_map, "float16", 2, A.data,
              K, M, K * 2, BLK_K, BLK_M, 1, 1, 0, 3, 2, 0)
""",
    ),
    Example(
        "bytes-in-a-debugger", "cuda-gdb: the 128 bytes of a map in a struct", None, """\
(cuda-gdb) x/32xw &params->map
0x7fffc4a00220:	0x00000000	0x00007f00	0x00000340	0x00000008
0x7fffc4a00230:	0x00000080	0x00000400	0x00001000	0x00000000
0x7fffc4a00240:	0x0000003f	0x0000000f	0x00000007	0x00000003
0x7fffc4a00250:	0x00000001	0x0f000000	0x00000001	0x00000000
0x7fffc4a00260:	0x00000040	0x00000000	0x00000010	0x00000000
0x7fffc4a00270:	0x00000000	0x00000000	0x00000000	0x00000000
0x7fffc4a00280:	0x00000000	0x00000000	0x00000000	0x00000000
0x7fffc4a00290:	0x00000000	0x00000000	0x00000000	0x00000000
""",
    ),
    Example(
        "hang-of-a-barrier", "A hang: armed for the whole cluster, fed by two blocks", "tile-ai/tilelang#2644", """\
{"events": [
  {"t": "init", "op": "init", "bar": "full", "count": 1},
  {"t": "t0", "op": "arrive_expect_tx", "bar": "full", "bytes": 65536},
  {"t": "c0", "op": "tma_load", "bar": "full", "bytes": 16384},
  {"t": "c1", "op": "tma_load", "bar": "full", "bytes": 16384},
  {"t": "c", "op": "wait", "bar": "full", "parity": 0}
]}
""",
    ),
    Example(
        "one-width-of-many", "JSON: float32, and N = 1733 alone fails", "tile-ai/tilelang#1931", """\
{
  "dtype": "float32",
  "global_dim": [1733, 128],
  "global_strides": [6932],
  "box_dim": [64, 32],
  "base_align": 16
}
""",
    ),
    Example(
        "blocks-of-48", "JSON, a set: K blocks of 48 and 80 abort, 64 works", "tile-ai/tilelang#2555", """\
{"mode": "tiled_set", "variants": [
  {"dtype": "float16", "global_dim": [96, 128], "global_strides": [192], "box_dim": [48, 128], "swizzle": "32B"},
  {"dtype": "float16", "global_dim": [160, 128], "global_strides": [320], "box_dim": [80, 128], "swizzle": "32B"},
  {"dtype": "float16", "global_dim": [128, 128], "global_strides": [256], "box_dim": [64, 128], "swizzle": "128B"}
]}
""",
    ),
    Example(
        "a-map-copied-to-a-local", "JSON: a legal map, used from a local variable", "NVIDIA/cutlass#2081", """\
{
  "dtype": "float16",
  "global_dim": [128, 16],
  "global_strides": [256],
  "box_dim": [64, 8],
  "swizzle": "128B",
  "coords": [0, 0],
  "descriptor_space": "local"
}
""",
    ),
    Example(
        "every-other-element", "An array: a view with a stride of 2 elements", "NVIDIA/cccl#10546", """\
64:2:float32
""",
    ),
    Example(
        "cute-layout", "A CuTe layout with its swizzle", None, """\
Sw<3,4,3> o 0 o (8,64):(64,1)
""",
    ),
    Example(
        "legal-map", "Flags: the box of the first figure, legal", None, """\
--dtype float16 --global-dim 128,16 --global-strides 256
--box-dim 64,8 --swizzle 128B
""",
    ),
)  # fmt: skip

"""The swizzle and the box that an installed Triton chooses for sm_90 are those that the checker foretells."""

from __future__ import annotations

import pytest

from tmalab.checker.triton import choose

SWIZZLES = {0: 0, 1: 32, 2: 64, 3: 128}
BLOCKS = [
    ("fp16", (32, 64)), ("fp16", (64, 256)), ("fp16", (32, 32)), ("fp16", (32, 16)), ("fp16", (32, 8)),
    ("fp16", (4, 64)), ("fp16", (8, 64)), ("fp16", (512, 64)), ("fp16", (512,)),
    ("fp16", (2, 4, 64)), ("fp16", (1, 4, 64)),
    ("fp8e4nv", (128, 128)), ("fp8e4nv", (128, 64)), ("fp8e5", (128, 256)), ("fp32", (32, 64)), ("fp32", (32, 16)),
    ("bf16", (64, 64)), ("i8", (64, 128)), ("i32", (32, 32)), ("fp64", (32, 8)), ("i64", (32, 16)),
]  # fmt: skip


@pytest.fixture(scope="module")
def compiled():
    """What Triton's compiler says of a descriptor's block; a GPU is not needed."""
    triton = pytest.importorskip("triton", reason="needs Triton: pip install 'tmalab[triton]'")
    import triton.language as tl
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    @triton.jit
    def row(made, out, A: tl.constexpr):
        tl.store(out + tl.arange(0, A), made.load([0]))

    @triton.jit
    def tile(made, out, A: tl.constexpr, B: tl.constexpr):
        tl.store(out + tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :], made.load([0, 0]))

    @triton.jit
    def tiles(made, out, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
        line = tl.arange(0, A)[:, None, None] * B + tl.arange(0, B)[None, :, None]
        tl.store(out + line * C + tl.arange(0, C)[None, None, :], made.load([0, 0, 0]))

    def meta(dtype, block):
        constants = dict(zip("ABC", block, strict=False))
        signature = {"made": f"tensordesc<{dtype}{list(block)}>", "out": f"*{dtype}"}
        signature |= dict.fromkeys(constants, "constexpr")
        source = ASTSource((row, tile, tiles)[len(block) - 1], signature=signature, constexprs=constants)
        return triton.compile(source, target=GPUTarget("cuda", 90, 32)).metadata.tensordesc_meta[0]

    return meta


@pytest.mark.parametrize(("dtype", "block"), BLOCKS)
def test_the_choice_is_triton_s(compiled, dtype, block):
    found = compiled(dtype, block)
    assert (SWIZZLES[found["swizzle"]], found["block_size"]) == choose(list(block), found["elem_size"])

"""The PTX headers keep their rule: one instruction a function, its line above it, and the asm is that line."""

import re

import pytest

from tmalab.hardware.compile import GEMM, KERNELS

HEADERS = ("ptx.cuh", "ptx_tensor.cuh", "ptx_reduce.cuh", "ptx_shared.cuh", "ptx_matrix.cuh", "ptx_barrier.cuh",
           "ptx_multicast.cuh", "ptx_tensormap.cuh", "ptx_wgmma.cuh", "ptx_mma.cuh", "ptx_cluster.cuh",
           "ptx_bulk.cuh", "ptx_named_barrier.cuh")  # fmt: skip
FUNCTION = re.compile(r"__device__ __forceinline__ [\w ]+?(\w+)\(.*?\)\s*\{\n(.*?)\n\}\n", re.DOTALL)
# Not instructions: they make the operands that instructions take, or hold the compiler to their order.
HELPERS = {"shared_address", "matrix_descriptor", "keep_accumulators"}
# Their PTX is `mov`: they are named after the register that they read.
READS = {"globaltimer": "mov.u64", "clock64_now": "mov.u64", "cluster_ctarank": "mov.u32", "smid": "mov.u32"}


def functions():
    for header in HEADERS:
        text = (KERNELS / header).read_text(encoding="utf-8")
        for found in FUNCTION.finditer(text):
            if found[1] not in HELPERS:
                above = text[: found.start()].rsplit("\n\n", 1)[-1]
                yield pytest.param(above, found[1], found[2], id=found[1])


ALL = list(functions())


def test_the_headers_hold_every_family():
    names = {parameter.id for parameter in ALL}
    loads = {f"cp_async_bulk_tensor_{n}d_shared_cluster_global_tile" for n in range(1, 6)}
    loads |= {f"cp_async_bulk_tensor_{n}d_shared_cluster_global_im2col" for n in range(3, 6)}
    for kind in ("cp_async_bulk_tensor", "cp_reduce_async_bulk_tensor"):
        loads |= {f"{kind}_{n}d_global_shared_cta_tile" for n in range(1, 6)}
        loads |= {f"{kind}_{n}d_global_shared_cta_im2col_no_offs" for n in range(3, 6)}
    barrier = ("init", "inval", "arrive", "arrive_expect_tx", "expect_tx", "complete_tx", "test_wait_parity")
    assert names >= loads | {f"mbarrier_{name}" for name in (*barrier, "try_wait_parity")}
    assert len(names) == len(ALL), "a name stands for one instruction"


def mnemonic(text: str) -> str:
    return text.split(maxsplit=1)[0].rstrip(";")


def assembly(body: str) -> str:
    """The instruction inside the asm template, without the block that holds its predicate."""
    template = re.match(r'(?:\s*"(?:[^"\\]|\\.)*")+', re.split(r"asm(?: volatile)?\(", body)[1])[0]
    text = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', template)).replace("%%", "%")
    lines = [line.strip("{} ") for line in text.split(r"\n\t")]
    (instruction,) = [line for line in lines if line and not line.startswith((".reg", "selp", "setp"))]
    return instruction


@pytest.mark.parametrize(("above", "name", "body"), ALL)
def test_the_line_above_is_the_instruction(above, name, body):
    comment = [line.removeprefix("// ") for line in above.splitlines() if line.startswith("// ")]
    line = next(text for text in comment if ";" in text)
    needs = " ".join(comment)
    assert re.search(r"PTX ISA \d\.\d, sm_\d\d", needs), "PTX ISA version and SM"
    written = mnemonic(assembly(body)).replace("%0", ".redOp")
    assert written == mnemonic(line)


@pytest.mark.parametrize(("above", "name", "body"), ALL)
def test_the_function_is_named_after_it(above, name, body):
    if name in READS:
        assert mnemonic(assembly(body)) == READS[name]
        return
    # Every word of the name is one of the mnemonic's, in its order; qualifiers may be left out.
    words = iter(re.split(r"[._:]+", mnemonic(assembly(body)).replace("%0", "")))
    assert all(word in words for word in name.removesuffix("_16").split("_"))


@pytest.mark.parametrize(("above", "name", "body"), ALL)
def test_it_is_volatile_and_clobbers_memory_unless_it_says_why(above, name, body):
    if "not volatile" not in above:
        assert "asm volatile(" in body
    if "no clobber" not in above:
        assert '"memory"' in body


# Where try_wait may stand: the instruction, the bounded loops, one look as a step, sixty-four as a measurement.
WAITS = {"ptx.cuh", "bounded_wait.cuh", "counted_wait.cuh", "watch.cuh", "gemm.cuh", "barrier_ops.cu", "clocks.cu"}


def test_no_kernel_waits_without_a_bound():
    for path in [*KERNELS.glob("*.cu"), *KERNELS.glob("*.cuh"), *GEMM.glob("*.cu")]:
        if path.name not in WAITS:
            assert "try_wait" not in re.sub(r"//.*", "", path.read_text(encoding="utf-8")), path.name

"""What this version of TIRx does not offer on Hopper, or offers otherwise: each asked for, and what it says.

T.cuda.tile.apply ─ the pattern's own checks ─▶ ValueError      NVRTC for sm_90a ─▶ ptxas' error
"""

from __future__ import annotations

from collections.abc import Callable

from tmalab.frontends.programs import tirx_add_one, tirx_boxes
from tmalab.frontends.programs import tirx_common as common
from tmalab.frontends.programs.tirx_common import STORE, T, tvm_tirx

BOX = {"dtype": "uint16", "shape": [16, 128], "box": [8, 64], "at": [0, 0]}


def issue(instruction: str, *, box: tuple[int, ...] = (8, 64), align: int = 1024, fields: dict | None = None) -> object:
    """A kernel that applies any instruction to a tile of a 4-D or 2-D tensor."""
    fields = {"coords": (0,) * len(box), "box": box, **(fields or {})}
    shape = (16, 128) if len(box) == 2 else (4, 8, 8, 64)
    held = (4, box[1]) if "gather4" in fields else box

    @T.function
    def kernel(A: T.Tensor(shape, "uint16", align=16)):
        T.device_entry(launch=T.cuda.LaunchConfig(grid=1, block=32))
        tile = T.alloc_shared(held, "uint16", layout="default", align=align)
        mbar = T.alloc_shared((1,), "uint64", align=8)
        if T.constexpr("global.shared::cta" in instruction):
            T.cuda.tile.apply(T.ptx[instruction], A, tile, **fields)
        elif T.constexpr("prefetch" in instruction):
            T.cuda.tile.apply(T.ptx[instruction], tile, A, **fields)
        else:
            T.cuda.tile.apply(T.ptx[instruction], tile, A, mbar=mbar.ptr_to([0]), **fields)

    return kernel


def boxes(**changes: object) -> Callable[[], object]:
    """The plain box, changed."""
    return lambda: tirx_boxes.kernel_of({**BOX, **changes})


def loading(mode: str, suffix: str = "", dims: int = 2) -> str:
    """A load's name."""
    return f"cp.async.bulk.tensor.{dims}d.shared::cta.global.{mode}.mbarrier::complete_tx::bytes{suffix}"


ATTEMPTS: dict[str, Callable[[], object]] = {
    "swizzle 3, layout of swizzle 0": boxes(fields={"swizzle": 3}, shared_swizzle=0),
    "swizzle 3, layout of swizzle 2": boxes(fields={"swizzle": 3}, shared_swizzle=2),
    "swizzle 4 (128B_ATOM_32B)": boxes(fields={"swizzle": 4}, shared_swizzle=0),
    "a box wider than its swizzle": boxes(fields={"swizzle": 2}, shared_swizzle=2),
    "a box of 8 bytes a row": boxes(box=[8, 4]),
    "a box of 512 rows": boxes(shape=[1024, 64], box=[512, 64]),
    "an element stride of 2, innermost": boxes(fields={"element_strides": [1, 2]}),
    "NaN fill of integers": boxes(fields={"oob_fill": 1}),
    "interleave 2 without swizzle 1": boxes(
        shape=[2, 4, 8, 8, 16], box=[1, 1, 4, 4], at=[0, 0, 0, 0], fields={"interleave": 2}
    ),
    "a transposed view": boxes(stored=[16, 128], shape=[128, 16], strides=[1, 128], box=[64, 8]),
    "rows of 130 elements": boxes(shape=[16, 130]),
    "format float32_ftz": boxes(dtype="float32", shape=[32, 32], box=[8, 16], fields={"format": "float32_ftz"}),
    "two boxes without coord_steps": boxes(repeat=[2]),
    "a base aligned to 64": lambda: issue(loading("tile"), align=64),
    "im2col by apply": lambda: issue(loading("im2col", dims=4), box=(1, 4, 4, 64)),
    "prefetch by apply": lambda: issue("cp.async.bulk.prefetch.tensor.2d.L2.global.tile"),
    "gather4": lambda: issue(loading("tile::gather4"), box=(1, 64), fields={"gather4": (0, 3, 5, 9)}),
    "cta_group::1": lambda: issue(loading("tile", ".cta_group::1")),
    "packed 4-bit store": lambda: issue(STORE.format(2), fields={"format": "float4_e2m1fn", "box": (8, 128)}),
}


def attempt(name: str) -> dict:
    """What one of them says; a kernel that TIRx takes is compiled to the end, for sm_90a."""
    try:
        source = common.cuda_source(common.build(ATTEMPTS[name]()))
        common.ptx_of(source, fmt="cubin")
    except Exception as error:  # of any kind: its text is what is asked for
        return common.said(error)
    return {"type": "", "message": "compiles"}


def others() -> dict[str, dict]:
    """The guide's name of the compiler, and the plain C launcher."""
    asked = {
        "tvm_tirx.compile": lambda: tvm_tirx.compile,
        "the launcher in plain C": lambda: common.build(tirx_add_one.tma_add_one, host="c"),
        "executable(…) of a CUDA C++ launcher": lambda: common.build(tirx_add_one.tma_add_one, host="cuda_host").jit(),
    }
    found = {}
    for name, ask in asked.items():
        try:
            ask()
        except Exception as error:
            found[name] = common.said(error)
        else:
            found[name] = {"type": "", "message": "works"}
    return found


def compile_all() -> dict[str, object]:
    """Nothing here is to compile."""
    return {}


def run(params: dict) -> tuple[dict, dict]:
    """Value `said`: attempt → type and message; an empty type is one that compiled after all. `versions`."""
    said = {name: attempt(name) for name in ATTEMPTS} | others()
    return {"said": said, "versions": common.installed()}, {}

"""The guide's kernel: a tile of 8 x 32 floats comes in, one is added, it goes out; and what each of its lines became.

line of TIRx ─(the IR's locations)─▶ line of CUDA C ─(NVRTC's .loc)─▶ lines of PTX
"""

from __future__ import annotations

import inspect
import re
from collections import defaultdict

from tmalab.frontends.driver_watch import watch_driver
from tmalab.frontends.programs import tirx_common as common
from tmalab.frontends.programs.tirx_common import T, tvm_tirx

SHAPE = (8, 32)


# fmt: off
# [kernel]
@T.function
def tma_add_one(
    A: T.Tensor((8, 32), "float32", align=16),
    B: T.Tensor((8, 32), "float32", align=16),
):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=1, block=32))
    lane = T.cuda.lane_id()
    shared = T.alloc_shared((8, 32), "float32", layout="default", align=128)
    mbar = T.alloc_shared((1,), "uint64", align=8)
    if lane == 0:
        T.ptx.mbarrier.init.shared.b64(mbar.ptr_to([0]), T.uint32(1))
        T.ptx.mbarrier.arrive.expect_tx.shared.b64(mbar.ptr_to([0]), T.uint32(1024))
    T.ptx.fence.proxy.async_.shared__cta()
    T.cuda.cta_sync()
    if lane == 0:
        T.cuda.tile.apply(
            T.ptx["cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes"],
            shared, A, box=(8, 32), coords=(0, 0), mbar=mbar.ptr_to([0]),
        )
    T.cuda.mbarrier_wait(mbar.ptr_to([0]), 0)
    for row in range(8):
        shared[row, lane] = shared[row, lane] + 1
    T.ptx.fence.proxy.async_.shared__cta()
    T.cuda.cta_sync()
    if lane == 0:
        T.cuda.tile.apply(
            T.ptx["cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group"],
            B, shared, box=(8, 32), coords=(0, 0),
        )
        T.ptx.cp.async_.bulk.commit_group()
        T.ptx.cp.async_.bulk.wait_group(0)
    T.cuda.cta_sync()
# [/kernel]
# fmt: on


# --- what each line became --------------------------------------------------------------------------------------------


def line_table() -> list[dict]:
    """A row a statement: its line of TIRx, the CUDA C that it became, and the PTX that NVRTC says is of that C."""
    kept = []
    compiling = tvm_tirx.tirx._compile
    build_for_target = compiling._build_for_target

    def keeping(module: object, target: object) -> object:
        kept.append((target.kind.name, module))
        return build_for_target(module, target)

    compiling._build_for_target = keeping
    try:
        source = common.cuda_source(common.build(tma_add_one))
    finally:
        compiling._build_for_target = build_for_target
    ((lowered,),) = (module.functions.values() for kind, module in kept if kind == "cuda")
    wrote = [(kind, line) for kind, line in statements(tma_add_one.body) if kind != "device_entry"]
    became = list(statements(lowered.body))
    # The two applications lose their places when they are lowered; all that keep one stand in the written order.
    assert [kind for kind, _ in wrote] == [kind for kind, _ in became]
    assert all(line in (None, told) for (_, told), (_, line) in zip(wrote, became, strict=True))
    texts = inspect.getsource(__import__(__name__, fromlist=["x"])).splitlines()
    of_line = ptx_by_line(source)
    first = len(source.rstrip().splitlines()) - len(common.kernel_lines(source)) + 1
    rows, numbers = [], iter(range(first + 1, first + len(common.kernel_lines(source))))
    c_lines = source.splitlines()
    for (_, (begin, end)), number in zip(wrote, _openings(numbers, c_lines), strict=True):
        written = " ".join(line.strip() for line in texts[begin - 1 : end])
        rows.append({"tirx": written, "cuda": c_lines[number - 1].strip(), "ptx": of_line[number]})
    return rows


def statements(body: object) -> list[tuple[str, tuple[int, int] | None]]:
    """Kind and lines of each statement of a function, in their order; None where the IR does not say."""
    kind = type(body).__name__
    if kind == "SeqStmt":
        return [found for one in body.seq for found in statements(one)]
    inner = [part for name in ("then_case", "body") if (part := getattr(body, name, None)) is not None]
    inside = [found for one in inner for found in statements(one)]
    place = where(body) or where(getattr(body, "condition", None))  # an if is where its condition is
    if place is None and kind == "For" and inside[0][1]:  # a loop says nothing: it begins above its first statement
        place = (inside[0][1][0] - 1,) * 2
    return [("device_entry" if kind == "RegionStmt" else kind, place), *inside]


def where(node: object) -> tuple[int, int] | None:
    """First and last line of a node of the IR, or None where it does not say."""
    found = re.findall(r", (\d+), \d+, (\d+), \d+\)", str(getattr(node, "loc", "")))
    return (int(found[0][0]), int(found[0][1])) if found else None


def _openings(numbers: object, lines: list[str]) -> list[int]:
    """The lines of C that a statement of their own begins: all but closing braces."""
    return [number for number in numbers if lines[number - 1].strip() != "}"]


def ptx_by_line(source: str) -> dict[int, list[str]]:
    """Line of the generated C → its instructions, by NVRTC's own line numbers: .loc, and inlined_at in a callee."""
    ptx = common.ptx_of(source, lines=True)
    kernel = ptx[ptx.index(".entry") :]
    header = next(i for i, line in enumerate(source.splitlines(), 1) if line.endswith("{") and "__global__" in line)
    shift = int(re.search(r"\.loc\s+1 (\d+)", kernel)[1]) - header  # the package puts its own prelude in front
    found, at = defaultdict(list), 0
    body = re.split(r"^\s*\.(?:file|section)\b", kernel[kernel.index("{") + 1 :], maxsplit=1, flags=re.MULTILINE)[0]
    for line in (" ".join(line.split()) for line in body.splitlines()):
        if place := re.match(r"\.loc\s+1 (\d+).*?(?:inlined_at 1 (\d+).*)?$", line):
            at = int(place[2] or place[1]) - shift
        elif line and not line.startswith(("//", ".", "$")) and line not in ("{", "}"):
            found[at].append(line)
    return found


# --- running ----------------------------------------------------------------------------------------------------------


def launcher_text(executable: object) -> list[str]:
    """What the host side says of the encoding: the call of CUDA C++, or the constants of the LLVM module."""
    source = executable.mod.inspect_source()
    if executable.mod.kind != "c":
        return [line.strip() for line in source.splitlines() if ENCODE_NAME in line and "constant" in line]
    body = source[source.index("alignas(64) CUtensorMap cuda_tensormap[1]") :]
    wanted = ("auto tensormap_arg", "cuuint", "CUresult tensormap_error = ")
    return [
        line.strip()
        for line in body[: body.index("cuda_tensormap_1[1]")].splitlines()
        if line.strip().startswith(wanted)
    ]


ENCODE_NAME = "cuTensorMapEncodeTiled"


def dispatched() -> list[str]:
    """The IR after the tile pattern was dispatched: where the encode calls and the instructions stand."""
    from tvm_tirx.tirx import compilation_pipeline, transform

    with common.quiet():
        target = common.Target({"kind": "cuda", "arch": common.ARCH, "host": {"kind": "llvm"}})
    module = compilation_pipeline._bind_target(tvm_tirx.IRModule.from_expr(tma_add_one), target)
    lines = transform.TileDispatch()(module).script().splitlines()
    return [line.strip() for line in lines if "tensormap_encode_tiled" in line or "stack_alloca" in line]


def compile_all() -> dict[str, object]:
    """Both launchers."""
    return {host: common.build(tma_add_one, host) for host in ("llvm", "cuda_host")}


def run(params: dict) -> tuple[dict, dict]:
    """Values `differ`, `elements`, the sources, `asked` of the driver; array `descriptors`, as the kernel got them."""
    import cupy
    import numpy as np

    host, compiler = params["host"], params["compiler"]
    executable = common.build(tma_add_one, host, compiler)
    launch, maps = common.launcher(executable), common.encoded()
    a = cupy.arange(256, dtype=cupy.float32).reshape(SHAPE)
    differ = []
    with watch_driver() as seen:
        for _ in range(params.get("repeats", 1)):
            b = cupy.full(SHAPE, -1, cupy.float32)
            launch(common.given(a), common.given(b))
            cupy.cuda.runtime.deviceSynchronize()
            differ.append(int((b != a + 1).sum()))
    names = {a.data.ptr: "A", b.data.ptr: "B"}
    asked = [{name: one for name, one in call.items() if name != "bytes"} for call in seen.encoded[-2:]]
    found = [one for launched in seen.launched for one in launched if len(one) == 128][-2:]  # of the last launch
    values = {
        "differ": max(differ), "elements": a.size, "versions": common.installed(), "host_kind": executable.mod.kind,
        "launcher": launcher_text(executable), "told": common.told(executable, compiler),
        "given": [one["given"] for one in maps[-2:]], "missed": seen.missed,
        "asked": [{**call, "address": names.get(call["address"], "elsewhere")} for call in asked],
    }  # fmt: skip
    if params.get("lines"):
        values |= {"lines": line_table(), "dispatched": dispatched()}
    rows = np.frombuffer(b"".join(found), np.uint8).reshape(-1, 128).copy()
    return values, {"output": b.get(), "descriptors": rows}

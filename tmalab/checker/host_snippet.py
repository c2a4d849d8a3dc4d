"""The host code that encodes a legal tensor map, ready to paste: `tmalab check … --cuda`.

    cuuint64_t global_dim[2] = {128, 16};
    cuuint64_t global_strides[1] = {256};  // bytes
    CUresult result = cuTensorMapEncodeTiled(&tensor_map, …);

>>> from tmalab import TensorMap
>>> print(host_snippet(TensorMap.tiled("float16", (64,), (), (64,))).splitlines()[2])
alignas(64) CUtensorMap tensor_map;
"""

from __future__ import annotations

from tmalab.model.tensor_map import TensorMap

_PROLOGUE = """\
#include <cuda.h>

alignas(64) CUtensorMap tensor_map;"""


def _constant(prefix: str, word: str) -> str:
    spelled = "NAN_REQUEST_ZERO_FMA" if word == "nan" else word.upper()
    return f"CU_TENSOR_MAP_{prefix}_{spelled}"


def _array(kind: str, name: str, values: tuple[int, ...], remark: str = "") -> str:
    """A declaration; an empty one is a null pointer, which the driver does not read for rank 1."""
    if not values:
        return f"const {kind}* {name} = nullptr;  // rank 1 has none"
    suffix = "ull" if kind == "cuuint64_t" else ""
    listed = ", ".join(f"{value}{suffix if value > 0x7FFFFFFF else ''}" for value in values)
    return f"{kind} {name}[{len(values)}] = {{{listed}}};{remark}"


def host_snippet(tm: TensorMap) -> str:
    """C++ that encodes `tm` through the driver. Meant for a legal map: what the driver refuses it refuses here too."""
    address = "global_address" if tm.address is None else f"reinterpret_cast<void*>({tm.address:#x}ull)"
    lines = [
        _PROLOGUE,
        _array("cuuint64_t", "global_dim", tm.global_dim, "  // elements, innermost first"),
        _array("cuuint64_t", "global_strides", tm.global_strides, "  // bytes, from dimension 1 on"),
    ]
    if tm.kind == "tiled":
        lines.append(_array("cuuint32_t", "box_dim", tm.box_dim))
        middle = ["box_dim"]
    else:
        lines.append(_array("int", "lower_corner", tm.lower_corner, "  // W first"))
        lines.append(_array("int", "upper_corner", tm.upper_corner))
        middle = ["lower_corner", "upper_corner", f"/*channelsPerPixel=*/{tm.channels_per_pixel}"]
        middle.append(f"/*pixelsPerColumn=*/{tm.pixels_per_column}")
    lines.append(_array("cuuint32_t", "element_strides", tm.element_strides))
    l2 = "NONE" if tm.l2_promotion == "none" else f"L2_{tm.l2_promotion}"
    arguments = [
        "&tensor_map", _constant("DATA_TYPE", tm.dtype), f"/*tensorRank=*/{tm.rank}", address, "global_dim",
        "global_strides", *middle, "element_strides", _constant("INTERLEAVE", tm.interleave),
        _constant("SWIZZLE", tm.swizzle), f"CU_TENSOR_MAP_L2_PROMOTION_{l2}", _constant("FLOAT_OOB_FILL", tm.oob_fill),
    ]  # fmt: skip
    function = "cuTensorMapEncodeTiled" if tm.kind == "tiled" else "cuTensorMapEncodeIm2col"
    lines.append(f"CUresult result = {function}(\n    " + ",\n    ".join(arguments) + ");")
    lines.append(
        f"// One load completes {tm.transaction_bytes()} bytes on its mbarrier: expect_tx({tm.transaction_bytes()})."
    )
    return "\n".join(lines)

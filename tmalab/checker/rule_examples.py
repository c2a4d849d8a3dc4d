"""For each rule the smallest question that names it: the page of all rules and `--explain` show what it is answered.

    "box_dim_range_1_256"  ──▶  {"dtype": "float16", …, "box_dim": [64, 512]}  ──check──▶  the violation, whole

>>> example("box_dim_range_1_256").message
'box_dim[1]=512; a box has at most 256 elements in a dimension.'

Each is an input of `tmalab check`, so that what a reader sees is what the checker says, and never a copy of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from tmalab.checker.answer import Answer
from tmalab.checker.barrier_examples import BARRIER_EXAMPLES
from tmalab.checker.check import check_text
from tmalab.checker.mapping import Note
from tmalab.model.violation import Violation


class Example(NamedTuple):
    """A question, and what its answer says of the rule. A note has no field, value, limit or fix of its own."""

    text: str
    message: str
    fix: str | None
    field: str | None
    value: Any
    limit: Any


_MAP = {"dtype": "float16", "global_dim": [128, 16], "global_strides": [256], "box_dim": [64, 8]}
_CUBE = {"dtype": "float16", "global_dim": [64, 16, 16], "global_strides": [128, 2048], "box_dim": [16, 8, 8]}
_IMAGE = {
    "dtype": "float16", "global_dim": [64, 8, 8, 4], "global_strides": [128, 1024, 8192], "lower_corner": [-1, -1],
    "upper_corner": [-1, -1], "channels_per_pixel": 64, "pixels_per_column": 64,
}  # fmt: skip
_PACKED = {
    "arch": "sm_100",
    "dtype": "16u4_align16b",
    "global_dim": [256, 128],
    "global_strides": [128],
    "box_dim": [128, 8],
}
_WIDE = {**_IMAGE, "arch": "sm_100", "load_mode": "im2col::w", "swizzle": "128B", "lower_corner": [-1, 0]}
_WIDE["upper_corner"] = [-1, 0]
_GATHER = {**_MAP, "arch": "sm_100", "load_mode": "tile::gather4", "box_dim": [64, 1]}
_TILE = {"mode": "layout_query", "dtype": "float16", "tile": [16, 64], "swizzle": "128B"}
_BULK = {"mode": "launch_operand", "instruction": "cp.async.bulk"}
_2_TO_32, _2_TO_40 = 1 << 32, 1 << 40

# A map whose boxes of 8 rows were made 4 rows long afterwards: 0x200 bytes a box, and 0x400 stand there.
_CHANGED = """\
0x7fffffffd840:\t0x00000000\t0x00007f00\t0x00000310\t0x00000010
0x7fffffffd850:\t0x00000000\t0x00000000\t0x00000000\t0x00000000
0x7fffffffd860:\t0x0000007f\t0x0000000f\t0x00000000\t0x00000000
0x7fffffffd870:\t0x00000000\t0x3f000000\t0x00000003\t0x00000000
0x7fffffffd880:\t0x00000400\t0x00000000\t0x00000010\t0x00000000
0x7fffffffd890:\t0x00000000\t0x00000000\t0x00000000\t0x00000000
0x7fffffffd8a0:\t0x00000000\t0x00000000\t0x00000000\t0x00000000
0x7fffffffd8b0:\t0x00000000\t0x00000000\t0x00000000\t0x00000000"""

EXAMPLES: dict[str, dict[str, Any] | str] = {
    # every tensor map
    "base_address_align_16": _MAP | {"address": "0x7f0000000008"},
    "base_address_align_32": _CUBE | {"interleave": "32B", "swizzle": "32B", "address": "0x7f0000000010"},
    "base_address_range": _MAP | {"address": -16},
    "global_dim_range_1_2pow32": _MAP | {"global_dim": [128, 0]},
    "global_stride_multiple_16": {
        "dtype": "float32", "global_dim": [1733, 128], "global_strides": [6932], "box_dim": [64, 32],
    },
    "global_stride_multiple_32": _CUBE | {"interleave": "32B", "swizzle": "32B", "global_strides": [144, 4096]},
    "global_stride_range_0_2pow40": _MAP | {"global_strides": [_2_TO_40]},
    "element_stride_range_1_8": _MAP | {"element_strides": [1, 16]},
    "nan_fill_needs_float_dtype": _MAP | {"dtype": "uint16", "oob_fill": "nan"},
    # tiled maps
    "rank_range_1_5": {
        "dtype": "float16", "global_dim": [64] + [2] * 5, "global_strides": [128, 256, 512, 1024, 2048],
        "box_dim": [64] + [1] * 5,
    },
    "interleave_needs_rank_3": _MAP | {"interleave": "16B", "box_dim": [8, 8]},
    "box_dim_range_1_256": {
        "dtype": "float16", "global_dim": [4096, 4096], "global_strides": [8192], "box_dim": [64, 512],
        "swizzle": "128B",
    },
    # im2col maps
    "im2col_rank_range_3_5": _IMAGE | {
        "global_dim": [64, 8], "global_strides": [128], "lower_corner": [], "upper_corner": [],
    },
    "im2col_channels_le_256": _IMAGE | {
        "global_dim": [512, 8, 8, 4], "global_strides": [1024, 8192, 65536], "channels_per_pixel": 512,
        "pixels_per_column": 16,
    },
    "im2col_pixels_le_1024": _IMAGE | {"pixels_per_column": 2048, "channels_per_pixel": 16},
    "im2col_counts_ge_1": _IMAGE | {"pixels_per_column": 0},
    "im2col_corner_range": _IMAGE | {"lower_corner": [-129, -1]},
    "im2col_bounding_box_not_empty": _IMAGE | {"lower_corner": [2, 0], "upper_corner": [-6, 0]},
    # the box
    "box_inner_bytes_multiple_16": _MAP | {"box_dim": [20, 8]},
    "box_inner_le_swizzle_span": {
        "dtype": "bfloat16", "global_dim": [4096, 4096], "global_strides": [8192], "box_dim": [96, 64],
        "swizzle": "128B",
    },
    "box_fits_shared_memory": {
        "dtype": "float32", "global_dim": [4096, 4096], "global_strides": [16384], "box_dim": [256, 256],
    },
    # architectures and load modes
    "packed_type_needs_sm100": {
        "dtype": "16u4_align8b", "global_dim": [256, 128], "global_strides": [128], "box_dim": [128, 64],
    },
    "atom_swizzle_needs_sm100": _MAP | {"swizzle": "128B_ATOM_32B"},
    "interleave_32B_needs_swizzle_32B": _CUBE | {"arch": "sm_100", "interleave": "32B"},
    "packed_global_dim_multiple": _PACKED | {"global_dim": [200, 128]},
    "packed_row_is_128_values": _PACKED | {"box_dim": [64, 8]},
    "packed_swizzle_modes": _PACKED | {"swizzle": "64B"},
    "packed_16u6_needs_no_interleave": _PACKED | {
        "dtype": "16u6_align16b", "interleave": "16B", "global_dim": [256, 16, 16], "global_strides": [192, 3072],
        "box_dim": [128, 8, 8],
    },
    "load_mode_needs_sm100": _GATHER | {"arch": "sm_90"},
    "gather4_needs_rank_2": _CUBE | {"arch": "sm_100", "load_mode": "tile::gather4"},
    "gather4_box_is_one_row": _GATHER | {"box_dim": [64, 4]},
    "gather4_needs_no_interleave": _GATHER | {"interleave": "16B"},
    "im2col_w_needs_no_interleave": _WIDE | {"interleave": "16B"},
    "im2col_w_swizzle_modes": _WIDE | {"swizzle": "none"},
    "im2col_w_corner_range": _WIDE | {"lower_corner": [-1, -1]},
    "im2col_w_bounding_box_not_empty": _WIDE | {"lower_corner": [2, 0], "upper_corner": [-6, 0]},
    # the launch
    "inner_coordinate_16B": _MAP | {"dtype": "int32", "box_dim": [32, 8], "global_strides": [512], "coords": [1, 0]},
    "store_coordinate_not_negative": _MAP | {"coords": [0, -1], "direction": "store"},
    "coordinate_is_32_bit": _MAP | {"coords": [0, 1 << 31]},
    "im2col_start_inside_box": _IMAGE | {"coords": [0, 7, 0, 0]},
    "im2col_offset_is_16_bit": _IMAGE | {"coords": [0, 0, 0, 0], "offsets": [65536, 0]},
    "im2col_store_box_inside": _IMAGE | {"coords": [0, 0, 0, 0], "direction": "store"},
    "null_global_address": _MAP | {"address": 0, "coords": [0, 0]},
    "smem_dst_align_128": _MAP | {"coords": [0, 0], "smem_base": 64},
    "box_past_shared_memory": _MAP | {"coords": [0, 0], "smem_base": 1024, "smem_bytes": 1536},
    "reduction_op_and_type": _MAP | {"dtype": "float32", "global_strides": [512], "coords": [0, 0], "op": "min"},
    "descriptor_must_be_param_const_or_global": _MAP | {"coords": [0, 0], "descriptor_space": "local"},
    "tensormap_address_align_64": _MAP | {"coords": [0, 0], "descriptor_align": 32},
    # copies without a tensor map
    "bulk_gmem_align_16": _BULK | {"gmem_align": 4, "size_bytes": 4096},
    "bulk_smem_align_16": _BULK | {"smem_align": 8, "size_bytes": 4096},
    "bulk_size_multiple_16": _BULK | {"size_bytes": 100},
    # legal but unwise
    "box_wider_than_tensor": {"dtype": "float32", "global_dim": [40], "box_dim": [64]},
    "size_1_dimension_stride": _CUBE | {"global_dim": [64, 1, 16], "box_dim": [16, 1, 8]},
    "strides_overlap": _MAP | {"global_strides": [128]},
    "swizzled_row_is_padded": _MAP | {"box_dim": [32, 8], "swizzle": "128B"},
    "interleave_32B_without_swizzle_32B": _CUBE | {"interleave": "32B"},
    "inner_element_stride_ignored": _MAP | {"element_strides": [2, 1]},
    "footprint_past_shared_memory": {
        "dtype": "float16", "global_dim": [4096, 256, 256], "global_strides": [8192, 2097152],
        "box_dim": [8, 256, 16], "swizzle": "128B",
    },
    "descriptor_extent_exceeds_allocation": {
        "dtype": "float32", "global_dim": [288, 2], "global_strides": [2048], "box_dim": [32, 2], "swizzle": "128B",
        "storage_bytes": 3076,
    },
    "smem_pattern_alignment": _MAP | {"swizzle": "128B", "coords": [0, 0], "smem_base": 640},
    "tma_store_16B_granularity": {
        "dtype": "uint8", "global_dim": [466, 32], "global_strides": [512], "box_dim": [128, 32], "coords": [384, 0],
        "direction": "store",
    },
    "fence_proxy_tensormap_after_global_write": _MAP | {"coords": [0, 0], "descriptor_space": "global"},
    "im2col_offset_is_cut": _IMAGE | {"coords": [0, 0, 0, 0], "offsets": [256, 0]},
    # views, layouts and use
    "inner_stride_must_be_1": {
        "mode": "dlpack", "dtype": "float16", "shape": [128, 16], "strides_elements": [1, 128], "box_shape": [8, 16],
    },
    "triton_block_shape": {
        "mode": "triton_descriptor", "dtype": "float16", "shape": [192, 320], "strides_elements": [320, 1],
        "box_shape": [96, 64],
    },
    "encoded_as_the_driver_writes": _CHANGED,
    "expect_tx_equals_delivered": _MAP | {"expect_tx_bytes": 4096},
    "im2col_bounding_box": _IMAGE | {"conv": {"kernel": [3, 3], "padding": 0}},
    "oob_is_globalDim_only": {
        "dtype": "bfloat16", "global_dim": [576, 4096], "global_strides": [1152], "box_dim": [64, 64],
        "swizzle": "128B", "coords": [0, 960], "live_rows": 1000,
    },
    "element_stride_ceil": {
        "dtype": "float16", "global_dim": [64, 64], "global_strides": [128], "box_dim": [64, 16],
        "element_strides": [1, 2], "coords": [0, 0],
    },
    "swizzle_phase_follows_address": _TILE | {"row_offset": 3, "reader": "slice_relative"},
    "swizzled_row_is_not_linear": _TILE | {"element": [1, 0], "scan_elems": 64},
    "bulk_copy_is_linear": _TILE | {"dtype": "float32", "tile": [8, 32], "instruction": "cp.reduce.async.bulk"},
    "panel_must_divide_warp_tile": {"mode": "tile_partition", "dtype": "float16", "cta_n": 192, "warp_n": 96},
    "group_modes_within_rank": {
        "mode": "cute_partition", "atom_gbasis": "(64,128):(1@1,1@0)", "smem": "(128,64,3)", "gmem": "(128,64)",
        "group_modes": [0, 3],
    },
    "first_mode_must_be_one_tile": {
        "mode": "cute_partition", "atom_gbasis": "(64,128):(1@1,1@0)", "smem": "((8,16),(64,1),(1,3))",
        "gmem": "((128,64),64)", "group_modes": [0, 2],
    },
    "swizzle_32B": _TILE | {"tile": [16, 16], "swizzle": "32B", "element": [12, 0]},
    "swizzle_64B": _TILE | {"tile": [16, 32], "swizzle": "64B", "element": [5, 0]},
    "swizzle_128B": _TILE | {"element": [3, 0]},
    "cute_layout_swizzle_mode": {"mode": "layout_query", "dtype": "float16", "layout": "Sw<3,4,3> o 0 o (8,64):(64,1)"},
    # barrier programs
    **BARRIER_EXAMPLES,
}  # fmt: skip


def example_text(rule_id: str, width: int = 80) -> str:
    """The question: as JSON, as many fields a line as fit, or as it is. Raises KeyError for an id that has none."""
    question = EXAMPLES[rule_id]
    if isinstance(question, str):
        return question
    lines = ["{"]
    for name, value in question.items():
        field = f"{json.dumps(name)}: {_value(value)}, "
        if lines[-1] != "{" and len(lines[-1]) + len(field) > width:
            lines.append(" ")
        lines[-1] += field
    return "\n".join(line.rstrip() for line in lines)[:-1] + "}"


def _value(value: Any) -> str:
    """A value as JSON; a list of events one a line."""
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n  " + ",\n  ".join(json.dumps(entry) for entry in value) + "]"
    return json.dumps(value)


def example(rule_id: str) -> Example:
    """The question and what the checker says of the rule. Raises KeyError for an id that has none."""
    text = example_text(rule_id)
    found = next(found for found in _said(check_text(text)) if found.rule == rule_id)
    if isinstance(found, Note):
        return Example(text, found.message, None, None, None, None)
    return Example(text, found.message, found.fix, found.field, found.value, found.limit)


def _said(answer: Answer) -> Iterator[Violation | Note]:
    yield from answer.violations
    yield from answer.faults
    yield from answer.warnings
    yield from answer.notes

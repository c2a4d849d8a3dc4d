"""Questions about operands, layouts, convolutions and splits; a CuTe layout against what the model's copy writes."""

import json
from itertools import product

import numpy as np
import pytest

from tmalab import TensorMap, model
from tmalab.checker import check_text
from tmalab.checker.convolution import right_corners
from tmalab.checker.cute_match import match
from tmalab.checker.explain import CHECKER_RULES, explain, rule_ids
from tmalab.checker.host_snippet import host_snippet
from tmalab.checker.mapping import store_facts
from tmalab.checker.shared_map import shared_map
from tmalab.errors import InputError
from tmalab.inputs.cute_layout import CuteLayout, parse
from tmalab.model.element_types import ELEMENT_TYPES


def ask(mode, **said):
    return check_text(json.dumps({"mode": mode, **said}))


# --- operands ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("said", "verdict", "rule"), [
    ({"tensormap_address_mod_128": 0}, "accept", "tensormap_address_align_64"),
    ({"tensormap_address_mod_128": 32}, "reject", "tensormap_address_align_64"),
    ({"smem_offset_mod_128": 0}, "accept", None), ({"smem_offset_mod_128": 16}, "fault", "smem_dst_align_128"),
    ({"smem_offset": 640, "swizzle": "128B", "reader": "tile_relative_index"}, "wrong_data", "smem_pattern_alignment"),
    ({"smem_offset": 640, "swizzle": "128B", "reader": "absolute"}, "accept", "smem_pattern_alignment"),
    ({"smem_offset": 1024, "swizzle": "128B", "reader": "tile_relative_index"}, "accept", None),
    ({"smem_offset": 256, "swizzle": "32B", "reader": "tile_relative_index"}, "accept", None),
    ({"dtype": "float16", "slot_elems": 32, "slots": 3}, "fault", "smem_dst_align_128"),
    ({"dtype": "float16", "slot_elems": 64, "slots": 3}, "accept", None),
    ({"slot_bytes": 192, "slots": 2}, "fault", "smem_dst_align_128"),
    ({"smem_declared_align": 64, "swizzle": "none"}, "fault_possible", "smem_dst_align_128"),
    ({"smem_declared_align": 128, "swizzle": "none"}, "accept", None),
    ({"instruction": "cp.async.bulk", "gmem_align": 16, "size_bytes": 24}, "fault", "bulk_size_multiple_16"),
    ({"instruction": "cp.async.bulk", "gmem_align": 16, "smem_offset": 16, "size_bytes": 32}, "accept", None),
    ({"dtype": "float16", "coords_inner": [8, 16]}, "accept", None),
    ({"dtype": "float16", "coords_inner": [4]}, "fault", "inner_coordinate_16B"),
    ({"dtype": "float16", "coords": [8, -1], "direction": "store"}, "fault", "store_coordinate_not_negative"),
    ({"dtype": "float32", "op": "min", "direction": "reduce"}, "fault", "reduction_op_and_type"),
    ({"dtype": "int32", "op": "min", "direction": "reduce"}, "accept", None),
])  # fmt: skip
def test_an_operand_s_verdict(said, verdict, rule):
    answer = ask("launch_operand", **said)
    assert (answer.verdict, answer.rule) == (verdict, rule)


@pytest.mark.parametrize(("said", "words"), [
    ({"coords_inner": [1]}, "of how many bytes"), ({"dtype": "x", "coords": [1]}, "unknown element type"),
    ({"dtype": "int8", "coords": [0] * 6}, "6 dimensions"), ({"swizzles": ["x"]}, "unknown swizzle"),
    ({"direction": "up"}, "unknown direction"), ({"location": "moon"}, "unknown descriptor_space"),
    ({"smem_offset": "x"}, "not an integer"), ({"slot_offsets": 3}, "not a list"),
    ({"location": [1]}, "descriptor_space"),
])  # fmt: skip
def test_an_operand_that_cannot_be_read(said, words):
    assert words in str(ask("launch_operand", **said).error)


def test_where_the_descriptor_lies():
    assert ask("descriptor_location", location="param").verdict == "accept"
    assert ask("descriptor_location", location="local").verdict == "fault"
    assert ask("descriptor_location", location="global").verdict == "needs_fence"
    assert ask("descriptor_location", location="global", fence_tensormap_acquire=True).verdict == "accept"


# --- layouts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("swizzle", "row", "right"), [
    ("none", 3, True), ("32B", 8, True), ("32B", 4, False), ("64B", 8, True), ("64B", 3, False), ("128B", 16, True),
    ("128B", 12, False),
])  # fmt: skip
def test_a_slice_must_begin_with_the_pattern(swizzle, row, right):
    cols = {"none": 64, "32B": 16, "64B": 32, "128B": 64}[swizzle]
    answer = ask(
        "layout_query", dtype="bfloat16", tile=[128, cols], swizzle=swizzle, row_offset=row, reader="slice_relative"
    )
    assert answer.verdict == ("accept" if right else "wrong_data")


@pytest.mark.parametrize("swizzle", ["none", "32B", "64B", "128B"])
def test_an_element_lies_where_the_model_puts_it(swizzle):
    tm = TensorMap.tiled("float16", (16, 16), (32,), (16, 16), swizzle=swizzle)
    offsets = model.shared_offsets(tm, 128)
    for row, col in product(range(0, 16, 3), range(0, 16, 5)):
        said = {"dtype": "float16", "tile": [16, 16], "swizzle": swizzle, "element": [row, col], "smem_base": 128}
        assert ask("layout_query", **said).facts["physical_byte"] == offsets[col, row]


def test_a_linear_row_may_be_scanned_and_a_swizzled_one_may_not():
    said = {"dtype": "float16", "tile": [16, 64], "element": [1, 0], "scan_elems": 64}
    assert ask("layout_query", **said).verdict == "accept"
    assert ask("layout_query", **said, swizzle="128B").rule == "swizzled_row_is_not_linear"


def test_a_tile_that_no_copy_writes():
    answer = ask("layout_query", dtype="float32", tile=[8, 64], swizzle="128B", row_offset=0)
    assert (answer.verdict, answer.rule) == ("reject", "box_inner_le_swizzle_span")


def test_bulk_copies_know_no_swizzle():
    said = {"instruction": "cp.reduce.async.bulk", "dtype": "float32", "tile": [8, 32]}
    assert ask("layout_query", **said, swizzle="128B").rule == "bulk_copy_is_linear"
    assert ask("layout_query", **said).verdict == "accept"


@pytest.mark.parametrize(("said", "words"), [
    ({}, "nothing is asked"), ({"tile": [0]}, "not a tile"), ({"swizzle": "x"}, "no layout"),
    ({"swizzle": [1]}, "no layout"),
    ({"tile": [4, 64], "element": [4, 0]}, "not an element"), ({"tile": [4, 64], "element": [0]}, "not an element"),
    ({"layout": 5}, "not a layout"), ({"layout": "(8,64)"}, "expected ':'"),
])  # fmt: skip
def test_a_layout_question_that_cannot_be_read(said, words):
    assert words in str(ask("layout_query", **said).error)


# --- CuTe -------------------------------------------------------------------------------------------------------------


def addresses(layout: CuteLayout, element_bytes: int) -> np.ndarray:
    """The byte of every coordinate, counted with the first mode fastest, by CuTe's own definition."""
    pairs = [pair for mode in layout.modes for pair in mode]
    linear = np.zeros(1, dtype=np.int64)
    for extent, stride in reversed(pairs):
        linear = (np.arange(extent)[None, :] * stride + linear[:, None]).reshape(-1)
    linear = (linear + layout.offset) * element_bytes
    bits, base, shift = layout.swizzle
    return linear ^ ((linear & (((1 << bits) - 1) << (base + shift))) >> shift)


@pytest.mark.parametrize("element_bytes", [1, 2, 4])
@pytest.mark.parametrize(("bits", "swizzle"), [(0, "none"), (1, "32B"), (2, "64B"), (3, "128B")])
@pytest.mark.parametrize("rows", [1, 8, 24])
@pytest.mark.parametrize("narrow", [1, 2])
def test_the_box_that_is_named_writes_the_layout(element_bytes, bits, swizzle, rows, narrow):
    span = 128 if bits == 0 else 16 << bits
    cols = span // element_bytes // narrow
    pitch = cols if bits == 0 else span // element_bytes
    if cols * element_bytes < 16:
        pytest.skip("no row of 16 bytes")
    layout = parse(f"Sw<{bits},4,3> o 0 o ({rows},{cols}):({pitch},1)")
    found = match(layout, element_bytes)
    assert (found.swizzle, found.copies, found.why_not) == (swizzle, 1, "")
    dtype = {1: "uint8", 2: "float16", 4: "float32"}[element_bytes]
    box = (*found.box_dim, 1)[:2]
    tm = TensorMap.tiled(dtype, (256, 256), (1024,), box, swizzle=swizzle)
    assert tm.violations() == []
    assert np.array_equal(
        model.shared_offsets(tm)[:, :rows].reshape(-1), addresses(layout, element_bytes).reshape(cols, rows).reshape(-1)
    )


@pytest.mark.parametrize(("text", "size", "swizzle", "box", "copies"), [
    ("Sw<3,4,3> o smem_ptr[16b](unset) o ((_8,_16),(_64,_3)):((_64,_512),(_1,_8192))", 2, "128B", (64, 128, 3), 1),
    ("Sw<3,4,3> o 0 o (8,64,4):(64,1,512)", 2, "128B", (64, 8, 4), 1),
    ("Sw<3,4,3> o 512 o (8,64):(64,1)", 2, "128B", (64, 8), 1),
    ("Sw<3,3,3> o 0 o (8,64):(64,1)", 2, "128B", (64, 8), 1), ("(512,64):(64,1)", 2, "none", (64, 256), 2),
    ("(64,8):(1,64)", 2, "none", (64, 8), 1), ("(4,512):(512,1)", 2, "none", (256,), 8),
    ("Sw<3,4,3> o 0 o (8,64):(128,1)", 2, "128B", (64,), 8),
    ("Sw<2,5,2> o 0 o (8,32):(32,1)", 4, "128B_ATOM_32B", (32, 8), 1),
])  # fmt: skip
def test_layouts_that_a_mode_gives(text, size, swizzle, box, copies):
    found = match(parse(text), size)
    assert (found.why_not, found.swizzle, found.box_dim, found.copies) == ("", swizzle, box, copies)


@pytest.mark.parametrize(("text", "size", "why"), [
    ("Sw<3,4,3> o 0 o (8,128):(128,1)", 2, "a row is 256 bytes, and the 128B span is 128"),
    ("Sw<3,4,3> o 0 o (8,64):(64,1)", 1, "rows lie 64 bytes apart, and the 128B mode writes them 128 apart"),
    ("Sw<4,4,3> o 0 o (8,64):(64,1)", 2, "no mode is Sw<4,4,3>"), ("Sw<3,5,3> o 0 o (8,64):(64,1)", 2, "no mode is"),
    ("Sw<3,4,2> o 0 o (8,64):(64,1)", 2, "no mode is"), ("(8,64):(64,2)", 2, "no mode has stride 1"),
    ("(8,64):(0,1)", 2, "is 0"), ("(8,7):(7,1)", 2, "multiple of 16"), ("(8,8):(9,1)", 2, "18 bytes apart"),
    ("Sw<3,4,3> o 8 o (8,64):(64,1)", 2, "the offset is 16 bytes"), ("(8,64):(32,1)", 2, "64 bytes apart"),
])  # fmt: skip
def test_layouts_that_no_mode_gives_and_why(text, size, why):
    assert why in match(parse(text), size).why_not


def test_without_an_element_size_every_one_is_tried():
    answer = check_text("Sw<3,4,3> o 0 o (8,64):(64,1)")
    assert (answer.verdict, answer.facts["element_bytes"]) == ("accept", 2)
    none = check_text("Sw<3,4,3> o 0 o (8,96):(96,1)")
    assert none.verdict == "reject"
    assert none.notes[0].message.startswith("for elements of 1 bytes")
    assert check_text("Sw<3,4,3> o 0 o (8,64):(64,1)", {"dtype": "float32"}).exit_code == 1


# --- the rest ---------------------------------------------------------------------------------------------------------


def output_width(size, kernel, padding, stride, dilation):
    return (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1


@pytest.mark.parametrize(("kernel", "padding", "stride", "dilation"), [*product((1, 3, 5), (0, 1, 2), (1, 2), (1, 2))])
def test_the_right_corners_walk_as_many_windows_as_the_output_has(kernel, padding, stride, dilation):
    size = 19
    conv = {"kernel": kernel, "padding": padding, "stride": stride, "dilation": dilation}
    lower, upper = right_corners(conv, 2)
    said = {
        "dtype": "float16", "global_dim": [64, size, size, 1], "global_strides": [128, 128 * size, 128 * size * size],
        "lower_corner": lower, "upper_corner": upper, "channels_per_pixel": 64, "pixels_per_column": 32,
        "element_strides": [1, stride, stride, 1], "swizzle": "128B", "conv": conv,
    }  # fmt: skip
    answer = ask("im2col", **said)
    assert answer.verdict == "accept"
    assert answer.facts["origins_per_row_used"] == output_width(size, kernel, padding, stride, dilation)
    if kernel > 1:
        wrong = ask("im2col", **said | {"upper_corner": lower})
        assert (wrong.verdict, wrong.rule, wrong.exit_code) == (
            ("accept", None, 0) if upper == lower else ("wrong_data", "im2col_bounding_box", 0)
        )


def test_kernels_are_given_height_first_and_corners_width_first():
    assert right_corners({"kernel": [5, 3], "padding": [2, 0]}, 2) == ([0, -2], [-2, -2])
    with pytest.raises(InputError, match=r"conv\.kernel"):
        right_corners({"kernel": [5, 3, 1]}, 2)


@pytest.mark.parametrize(("dtype", "cols"), [*product(("uint8", "uint16", "int32"), (466, 470, 480, 461))])
def test_a_store_overwrites_as_many_bytes_as_are_told(dtype, cols):
    size = ELEMENT_TYPES[dtype].bytes
    pitch, box = 2048, 128 // size
    tm = TensorMap.tiled(dtype, (cols, 4), (pitch,), (box, 4))
    start = (cols - 1) // box * box
    before = np.zeros(pitch * 4, dtype=np.uint8)
    after = model.store(tm, np.full(4096, 0xAB, dtype=np.uint8), (start, 0), memory=before)
    over = int((after.reshape(4, pitch)[:, cols * size :] != 0).sum() // 4)
    assert store_facts(tm, (start, 0)) == ({"overwritten_bytes_per_row": over} if over else {})


@pytest.mark.parametrize(
    ("cta", "warp", "verdict", "widest"),
    [(192, 96, "mixed", "64B"), (192, 64, "accept", "128B"), (48, 24, "wrong_data", None)],
)
def test_a_panel_must_not_straddle_two_warps(cta, warp, verdict, widest):
    answer = ask("tile_partition", dtype="float16", cta_n=cta, warp_n=warp)
    assert (answer.verdict, answer.facts["widest_ok"]) == (verdict, widest)


@pytest.mark.parametrize(
    ("smem", "gmem", "group", "verdict", "first"),
    [
        ("((8,16),(64,1),(1,3))", "((128,64),64)", [0, 2], "error", (8192, 524288)),
        ("((8,16),(64,1),(1,3))", "((128,64),64)", [0, 1], "error", (128, 8192)),
        ("(128,_64,3)", "(128,64,7)", [0, 2], "accept", (8192, 8192)),
        ("(128,64,3)", "(128,64,7)", [0, 3], "error", (24576, 57344)),
    ],
)
def test_the_first_mode_of_a_partition_is_one_tile(smem, gmem, group, verdict, first):
    answer = ask("cute_partition", atom_gbasis="(64,128):(1@1,1@0)", smem=smem, gmem=gmem, group_modes=group)
    assert answer.verdict == verdict
    assert answer.facts["first_mode_elems"] == dict(zip(("smem", "gmem"), first, strict=True))


@pytest.mark.parametrize(
    ("smem", "gmem", "group", "limits"),
    [
        ("(128,64,3)", "(128,64)", [0, 4], [3, 2]),
        ("(128,64,3)", "(128,64)", [0, 3], [2]),  # the first modes' sizes alone would not tell
        ("((128,64),3)", "((128,64),7)", [2, 3], [2, 2]),  # a nested mode is one mode
        ("8192", "(8192)", [0, 2], [1, 1]),
        ("(128,64)", "(128,64)", [0, 64], [2, 2]),
    ],
)
def test_a_group_that_reaches_past_the_rank_is_refused_as_cute_refuses_it(smem, gmem, group, limits):
    """CuTe DSL 4.8.1, given each as a layout, refuses to compile it: *expects end in the range of …*."""
    answer = ask("cute_partition", atom_gbasis="(64,128):(1@1,1@0)", smem=smem, gmem=gmem, group_modes=group)
    assert (answer.verdict, answer.exit_code) == ("error", 1)
    assert [violation.limit for violation in answer.violations] == limits
    for violation in answer.violations:
        assert violation[:3] == ("group_modes_within_rank", "group_modes[1]", group[1])
        assert f"group_modes[1]={group[1]}" in violation.message
        assert f"at most {violation.limit}" in violation.fix


@pytest.mark.parametrize(("group", "left"), [
    ([-3, -1], "(7)"), ([0, -1], "(7)"), ([-9, 2], "(7)"), ([-3, 2], "(7)"), ([0, 2], "(7)"),
])  # fmt: skip
def test_modes_are_counted_from_the_end_as_cute_counts_them(group, left):
    """CuTe DSL 4.8.1 groups a layout of (2,3,4) by each of these into ((2,3),4)."""
    answer = ask("cute_partition", atom_gbasis="(64,128):(1@1,1@0)", smem="(128,64,3)", gmem="(128,64,7)",
                 group_modes=group)  # fmt: skip
    assert (answer.verdict, answer.facts["left_to_iterate"]["gmem"]) == ("accept", left)


@pytest.mark.parametrize(("group", "range_of_modes"), [
    ([-1, -2], "[2, 1]"), ([0, -3], "[0, 0]"), ([1, -5], "[1, -2]"), ([2, 2], ""),
])  # fmt: skip
def test_an_empty_range_of_modes_says_what_it_was_counted_as(group, range_of_modes):
    answer = ask("cute_partition", atom_gbasis="(64,128):(1@1,1@0)", smem="(128,64,3)", gmem="(128,64,7)",
                 group_modes=group)  # fmt: skip
    assert answer.verdict == "unreadable"
    assert ("of the 3 modes of smem it is" in answer.error.message) == bool(range_of_modes)
    assert range_of_modes in answer.error.message
    assert "count from the end" in answer.error.fix


@pytest.mark.parametrize(
    "gmem",
    ["(128,64,7)", "(0,0) o (128,64,7):(1@1,1@0,64@0)", "tensor<(0,0) o (128,64,7):(1@1,1@0,64@0)>"],
)
def test_a_partition_s_tensors_are_read_as_cute_prints_them(gmem):
    smem = "S<3,4,3> o smem_ptr[16b](unset) o (128,64,3):(64,1,8192)"
    answer = ask("cute_partition", atom_gbasis="(64,128):(1@1,1@0)", smem=smem, gmem=gmem, group_modes=[0, 2])
    assert answer.verdict == "accept"
    assert answer.facts["left_to_iterate"] == {"smem": "(3)", "gmem": "(7)"}


@pytest.mark.parametrize(
    ("changed", "named"),
    [({"smem": "(128,64"}, "smem"), ({"gmem": 8192}, "gmem"), ({"group_modes": [2, 0]}, "group_modes")],
)
def test_a_partition_that_cannot_be_read_says_where(changed, named):
    said = {"atom_gbasis": "(64,128):(1@1,1@0)", "smem": "(128,64)", "gmem": "(128,64)", "group_modes": [0, 2]}
    answer = ask("cute_partition", **(said | changed))
    assert answer.verdict == "unreadable"
    assert named in str(answer.error)
    assert str(answer.error).count("Fix: ") == 1


MAPS = [
    TensorMap.tiled("float16", (128, 16), (256,), (64, 8), swizzle="128B", l2_promotion="256B", address=4096),
    TensorMap.tiled("int32", (4096,), (), (256,)),
    TensorMap.tiled("bfloat16", (8, 1 << 32, 32), (16, 512), (8, 8, 8), interleave="16B", oob_fill="nan"),
    TensorMap.im2col("float16", (64, 8, 8, 1), (128, 1024, 8192), (-1, -1), (-1, 0), 64, 36, swizzle="128B"),
]


@pytest.mark.parametrize("tm", MAPS, ids=repr)
def test_the_host_code_encodes_the_same_map(tm):
    assert tm.violations() == []
    assert check_text(host_snippet(tm)).tensor_map == tm


@pytest.mark.parametrize("rule", rule_ids())
def test_every_rule_has_a_page(rule):
    page = explain(rule)
    assert page.startswith(f"{rule}: ")
    assert "Source:" in page
    assert max(map(len, page.splitlines()[1:])) <= 88


def test_the_checker_s_own_rules_shadow_none_of_the_model_s():
    assert len(rule_ids()) == len(set(rule_ids()))
    assert set(CHECKER_RULES) < set(rule_ids())
    with pytest.raises(InputError, match="did you mean smem_dst_align_128"):
        explain("smem_align_128")


@pytest.mark.parametrize("swizzle", ["none", "32B", "64B", "128B"])
@pytest.mark.parametrize("base", [0, 128, 1024])
def test_the_map_of_shared_memory_is_the_model_s(swizzle, base):
    tm = TensorMap.tiled("float16", (64, 64), (128,), (16, 12), swizzle=swizzle)
    offsets = model.shared_offsets(tm, base)
    found = {
        line.byte + 16 * at: chunk
        for line in shared_map(tm, base).lines for at, chunk in enumerate(line.chunks) if chunk is not None
    }  # fmt: skip
    assert found == {int(offsets[8 * chunk, row]): (row, chunk) for row in range(12) for chunk in range(2)}

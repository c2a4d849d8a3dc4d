"""The launch rules: each with the smallest copy that breaks it and the whole of what is said; the public cases."""

import pytest

from tmalab import InputError, TensorMap
from tmalab.model import launch_violations
from tmalab.model.launch_rules import (
    BULK_COPY_RULES,
    DESCRIPTOR_SPACES,
    LAUNCH_RULES,
    LAUNCH_WARNINGS,
    OPS,
    bulk_copy_violations,
    launch_warnings,
)

FLOAT = TensorMap.tiled("float32", (64, 64), (256,), (16, 16))
IMAGE = TensorMap.im2col("float16", (64, 8, 8, 2), (128, 1024, 8192), (-1, -1), (-1, -1), 64, 36, swizzle="128B")

# rule: tensor map, coords, operands, field, value, limit, message, fix, cuda_error
REFUSED = {
    "inner_coordinate_16B": (
        FLOAT, (1022, 0), {"direction": "store"}, "coords[0]", 1022, 4,
        "coords[0]=1022 float32 elements is 4088 bytes; the inner coordinate must be a multiple of 16 bytes.",
        "Use 1020 or 1024, or copy this tile without TMA.", "ILLEGAL_INSTRUCTION",
    ),
    "store_coordinate_not_negative": (
        FLOAT, (0, -1), {"direction": "store"}, "coords[1]", -1, 0,
        "coords[1]=-1; a store has no negative coordinates.",
        "Start at 0, with a box that leaves out what lies before the tensor.", "ILLEGAL_INSTRUCTION",
    ),
    "coordinate_is_32_bit": (
        FLOAT, (0, 1 << 31), {"direction": "load"}, "coords[1]", 1 << 31, (1 << 31) - 1,
        "coords[1]=2147483648; a coordinate is a signed 32-bit number.",
        "Split the tensor among several maps, each with a base address of its own.", None,
    ),
    "im2col_start_inside_box": (
        IMAGE, (0, -2, 0, 0), {"direction": "load"}, "coords[1]", -2, -1,
        "coords[1]=-2; an im2col copy starts inside its bounding box, here -1 to 6.",
        "Start the walk at a window origin, and reach past the tensor with the corners and offsets.",
        "ILLEGAL_INSTRUCTION",
    ),
    "im2col_offset_is_16_bit": (
        IMAGE, (0, 0, 0, 0), {"direction": "load", "offsets": (0, -1)}, "offsets[1]", -1, 0,
        "offsets[1]=-1; an im2col offset is an unsigned 16-bit number.", "Move the coordinates instead.", None,
    ),
    "im2col_store_box_inside": (
        TensorMap.im2col("float16", (64, 8, 8, 2), (128, 1024, 8192), (-1, 0), (0, 0), 64, 36, swizzle="128B"),
        (0, 0, 0, 0), {"direction": "store"}, "lower_corner[0]", -1, 0,
        "lower_corner[0]=-1; a store needs its bounding box inside the tensor.",
        "Use a map whose lower_corner[0] is 0.", "ILLEGAL_INSTRUCTION",
    ),
    "null_global_address": (
        TensorMap.tiled("float32", (64, 64), (256,), (16, 16), address=0), (0, 0), {"direction": "load"}, "address", 0,
        None, "address=0; a copy through a null base faults.",
        "Encode with the tensor's address, or patch the map with cuTensorMapReplaceAddress first.", "ILLEGAL_ADDRESS",
    ),
    "smem_dst_align_128": (
        FLOAT, (0, 0), {"direction": "load", "smem_base": 64}, "smem_base", 64, 128,
        "smem_base=64 leaves 64 after division by 128; the shared address of a tensor copy must be a multiple of 128.",
        "Align the buffer, and pad each stage to a multiple of 128 bytes.", "MISALIGNED_ADDRESS",
    ),
    "box_past_shared_memory": (
        FLOAT, (0, 0), {"direction": "load", "smem_base": 512, "smem_bytes": 1024}, "smem_base", 1536, 1024,
        "smem_base=512 and a box of 1024 bytes end at 1536; the block has 1024 bytes of shared memory.",
        "Allocate at least 1536 bytes, or use a smaller box.", "ILLEGAL_ADDRESS",
    ),
    "reduction_op_and_type": (
        FLOAT, (0, 0), {"direction": "reduce", "op": "inc"}, "op", "inc", "uint32",
        "op=inc with float32 elements; the engine has it for uint32 only.",
        "Reduce in the kernel, or with an op that the type has.", "ILLEGAL_INSTRUCTION",
    ),
    "descriptor_must_be_param_const_or_global": (
        FLOAT, (0, 0), {"direction": "load", "descriptor_space": "local"}, "descriptor_space", "local",
        "param, const, global",
        "descriptor_space=local; the engine reads a tensor map from param, const or global memory only.",
        "Take a reference to the const __grid_constant__ parameter, not a copy of it.", "ILLEGAL_ADDRESS",
    ),
    "tensormap_address_align_64": (
        FLOAT, (0, 0), {"direction": "load", "descriptor_align": 16}, "descriptor_align", 16, 64,
        "descriptor_align=16; a tensor map starts at a multiple of 64 bytes.",
        "Declare it alignas(128), as CUDA 13's CUtensorMap is.", "MISALIGNED_ADDRESS",
    ),
}  # fmt: skip


@pytest.mark.parametrize("rule", REFUSED)
def test_launch_violation_says_all_of_it(rule):
    tensor_map, coords, operands, *said = REFUSED[rule]
    [found] = launch_violations(tensor_map, coords, **operands)
    assert [found.rule, found.field, found.value, found.limit, found.message, found.fix, found.cuda_error] == [
        rule,
        *said,
    ]
    assert found.source


def test_every_launch_rule_has_its_test():
    assert [rule.id for rule in LAUNCH_RULES] == list(REFUSED)
    assert all(rule.explanation.endswith(".") and rule.title for rule in (*LAUNCH_RULES, *LAUNCH_WARNINGS))


@pytest.mark.parametrize(
    ("operands", "rule", "limit", "message"),
    [
        (
            {"direction": "load", "smem_base": 640}, "smem_pattern_alignment", 1024,
            "smem_base=640 is not a multiple of 1024; SWIZZLE_128B follows the absolute address, so a reader that "
            "computes from the tile's start finds other bytes.",
        ),
        (
            {"direction": "store"}, "tma_store_16B_granularity", 480,
            "global_dim[0]=466 uint8 elements is 466 bytes; a store also writes the 14 bytes after the row's end.",
        ),
        (
            {"direction": "load", "descriptor_space": "global"}, "fence_proxy_tensormap_after_global_write", None,
            "descriptor_space=global; the engine may still see what was there before the descriptor was written.",
        ),
    ],
)  # fmt: skip
def test_copy_that_runs_and_moves_other_bytes(operands, rule, limit, message):
    ragged = TensorMap.tiled("uint8", (466, 32), (512,), (128, 32), swizzle="128B")
    assert launch_violations(ragged, (384, 0), **operands) == []
    [found] = launch_warnings(ragged, (384, 0), **operands)
    assert (found.rule, found.limit, found.message) == (rule, limit, message)
    assert rule in [known.id for known in LAUNCH_WARNINGS]


def test_a_store_that_ends_before_the_row_does_writes_nothing_more():
    ragged = TensorMap.tiled("uint8", (466, 32), (512,), (128, 32))
    assert launch_warnings(ragged, (256, 0), direction="store") == []
    assert launch_warnings(ragged, (512, 0), direction="store") == []
    assert launch_warnings(ragged, (384, 0), direction="load") == []


# --- Public cases ----------------------------------------------------------------------------------------------------


def rules_broken(tensor_map, coords, **operands):
    return [found.rule for found in launch_violations(tensor_map, coords, **operands)]


def test_case_a01_a_descriptor_at_64_mod_128_is_taken():
    assert rules_broken(FLOAT, (0, 0), direction="load", descriptor_align=64) == []
    assert rules_broken(FLOAT, (0, 0), direction="load", descriptor_align=32) == ["tensormap_address_align_64"]


@pytest.mark.parametrize(("swizzle", "alignment"), [("none", 128), ("32B", 256), ("64B", 512), ("128B", 1024)])
def test_case_a02_where_the_pattern_of_each_mode_starts(swizzle, alignment):
    tensor_map = TensorMap.tiled("float32", (64, 64), (256,), (8, 16), swizzle=swizzle)
    wanted = [base for base in range(128, 2049, 128) if not launch_warnings(tensor_map, (0, 0), direction="load",
                                                                            smem_base=base)]  # fmt: skip
    assert wanted == list(range(alignment, 2049, alignment))


def test_case_a05_a_swizzled_buffer_behind_another_one():
    tensor_map = TensorMap.tiled("float32", (64, 64), (256,), (32, 16), swizzle="128B")
    assert rules_broken(tensor_map, (0, 0), direction="load", smem_base=640) == []
    [found] = launch_warnings(tensor_map, (0, 0), direction="load", smem_base=640)
    assert found.rule == "smem_pattern_alignment"


@pytest.mark.parametrize("case", ["A06", "A07 slot 1", "A08 slot 1, rank 1"])
def test_cases_a06_to_a08_a_stage_at_64_faults(case):
    rank_1 = TensorMap.tiled("float16", (4096,), (), (32,))
    tensor_map, coords = (rank_1, (0,)) if case.startswith("A08") else (FLOAT, (0, 0))
    [found] = launch_violations(tensor_map, coords, direction="load", smem_base=64)
    assert (found.rule, found.cuda_error) == ("smem_dst_align_128", "MISALIGNED_ADDRESS")
    assert rules_broken(tensor_map, coords, direction="load", smem_base=0) == []


def test_case_a12_a_store_to_columns_1_to_32():
    tensor_map = TensorMap.tiled("int32", (512, 512), (2048,), (32, 32))
    [found] = launch_violations(tensor_map, (1, 0), direction="store")
    assert (found.rule, found.cuda_error) == ("inner_coordinate_16B", "ILLEGAL_INSTRUCTION")
    assert found.message.startswith("coords[0]=1 int32 element is 4 bytes;")


@pytest.mark.parametrize(("coord", "faults"), [(-4, False), (0, False), (4, False), (1, True), (2, True)])
def test_case_a13_inner_coordinates_of_32_bit_integers(coord, faults):
    tensor_map = TensorMap.tiled("int32", (64, 64), (256,), (16, 8))
    assert rules_broken(tensor_map, (coord, 0), direction="load") == ["inner_coordinate_16B"] * faults


def test_case_a17_a_bulk_copy_without_a_map():
    [found] = bulk_copy_violations(gmem_address=4, smem_address=0, size_bytes=4096)
    assert found.message == "gmem_address=4 leaves 4 after division by 16; cp.async.bulk moves 16-byte pieces."
    assert found.fix == "Declare the array alignas(16)."
    all_three = bulk_copy_violations(gmem_address=8, smem_address=24, size_bytes=100)
    assert [found.rule for found in all_three] == [rule.id for rule in BULK_COPY_RULES]
    assert bulk_copy_violations(gmem_address=16, smem_address=16, size_bytes=16) == []
    with pytest.raises(InputError, match="size_bytes"):
        bulk_copy_violations(gmem_address=0, smem_address=0, size_bytes=16.0)


def test_case_b12_a_buffer_declared_with_16_byte_alignment():
    tensor_map = TensorMap.tiled("bfloat16", (64, 128), (128,), (64, 128), swizzle="128B")
    assert rules_broken(tensor_map, (0, 0), direction="load", smem_base=16) == ["smem_dst_align_128"]


def test_case_d35_a_descriptor_copied_into_a_local_variable():
    for space in DESCRIPTOR_SPACES:
        broken = rules_broken(FLOAT, (0, 0), direction="load", descriptor_space=space)
        assert broken == ["descriptor_must_be_param_const_or_global"] * (space in ("local", "shared"))


# --- Several, none, and operands that are none ------------------------------------------------------------------------


def test_all_are_found_and_not_only_the_first():
    found = launch_violations(FLOAT, (-1, -1), direction="reduce", op="xor", smem_base=8, smem_bytes=64)
    assert [violation.rule for violation in found] == [
        "inner_coordinate_16B", "store_coordinate_not_negative", "store_coordinate_not_negative", "smem_dst_align_128",
        "box_past_shared_memory", "reduction_op_and_type",
    ]  # fmt: skip


def test_the_violations_of_the_map_are_not_repeated():
    illegal = TensorMap.tiled("float32", (64, 64), (20,), (16, 300))
    assert launch_violations(illegal, (0, 0), direction="load", smem_bytes=64) == []


def test_an_im2col_load_takes_offsets_and_a_tiled_one_takes_none():
    assert launch_violations(IMAGE, (0, -1, -1, 0), direction="load", offsets=(2, 2)) == []
    assert launch_violations(IMAGE, (0, -1, -1, 0), direction="load") == []
    assert launch_violations(FLOAT, (0, 0), direction="load", offsets=(0, 0, 0)) == []


def test_the_least_and_the_most_that_an_operand_holds():
    assert rules_broken(FLOAT, (-(1 << 31), (1 << 31) - 1), direction="load") == []
    assert rules_broken(FLOAT, (-(1 << 31) - 4, 0), direction="load") == ["coordinate_is_32_bit"]
    assert rules_broken(IMAGE, (0,) * 4, direction="load", offsets=(0, 65535)) == []
    assert rules_broken(IMAGE, (0,) * 4, direction="load", offsets=(0, 65536)) == ["im2col_offset_is_16_bit"]


@pytest.mark.parametrize(("coord", "inside"), [(-2, False), (-1, True), (6, True), (7, False)])
@pytest.mark.parametrize("axis", [1, 2])
def test_an_im2col_walk_starts_inside_its_bounding_box(axis, coord, inside):
    coords = [0, 0, 0, 0]
    coords[axis] = coord
    assert rules_broken(IMAGE, coords, direction="load") == ([] if inside else ["im2col_start_inside_box"])


def test_an_im2col_walk_may_start_outside_the_channels_and_the_batch():
    assert rules_broken(IMAGE, (-8, 0, 0, -1), direction="load") == []
    assert rules_broken(IMAGE, (64, 0, 0, 2), direction="load") == []


def test_an_interleaved_walk_has_w_in_dimension_0():
    sliced = TensorMap.im2col("float16", (12, 3, 2), (192, 576), (0,), (-1,), 8, 4, interleave="16B")
    assert rules_broken(sliced, (10, -1, 0), direction="load") == []
    assert rules_broken(sliced, (11, 0, 0), direction="load") == ["im2col_start_inside_box"]


@pytest.mark.parametrize(("rank", "most"), [(3, 65535), (4, 255), (5, 31)])
def test_an_offset_that_loses_bits_raises_nothing(rank, most):
    image = TensorMap.im2col("float16", (64,) * rank, (128,) * (rank - 1), (0,) * (rank - 2), (0,) * (rank - 2), 8, 4)
    offsets = (most,) * (rank - 2)
    assert launch_warnings(image, (0,) * rank, direction="load", offsets=offsets) == []
    if rank > 3:
        found = launch_warnings(image, (0,) * rank, direction="load", offsets=(most + 1, *offsets[1:]))
        assert [(each.rule, each.value, each.limit) for each in found] == [("im2col_offset_is_cut", most + 1, most)]
        assert rules_broken(image, (0,) * rank, direction="load", offsets=(most + 1, *offsets[1:])) == []


def test_a_padded_packed_type_has_coordinates_of_128():
    packed = TensorMap.tiled("16u6_align16b", (256, 64), (192,), (128, 16))
    assert rules_broken(packed, (64, 0), direction="load") == ["inner_coordinate_16B"]
    assert rules_broken(packed, (128, 0), direction="load") == []


@pytest.mark.parametrize("number", [1 << 63, -(1 << 63), 1 << 3_300_000], ids=int.bit_length)
def test_any_number_is_answered(number):
    found = launch_violations(FLOAT, (number, number), direction="store", smem_base=number + 1, smem_bytes=number,
                              descriptor_align=number + 1)  # fmt: skip
    assert {"coordinate_is_32_bit", "smem_dst_align_128", "tensormap_address_align_64"} <= {each.rule for each in found}
    assert all(len(each.message) + len(each.fix) < 600 for each in found)


@pytest.mark.parametrize(
    ("coords", "operands", "field"),
    [
        ((0,), {"direction": "load"}, "coords"),
        ((0, 0, 0), {"direction": "load"}, "coords"),
        ((0.0, 0), {"direction": "load"}, "coords[0]"),
        ((0, True), {"direction": "load"}, "coords[1]"),
        ("00", {"direction": "load"}, "coords"),
        (None, {"direction": "load"}, "coords"),
        ((0, 0), {"direction": "copy"}, "direction"),
        ((0, 0), {"direction": None}, "direction"),
        ((0, 0), {"direction": "reduce"}, "op"),
        ((0, 0), {"direction": "reduce", "op": "mul"}, "op"),
        ((0, 0), {"direction": "reduce", "op": ["add"]}, "op"),
        ((0, 0), {"direction": "store", "op": "add"}, "op"),
        ((0, 0), {"direction": "load", "smem_base": 1.5}, "smem_base"),
        ((0, 0), {"direction": "load", "smem_bytes": "1K"}, "smem_bytes"),
        ((0, 0), {"direction": "load", "offsets": (1,)}, "offsets"),
        ((0, 0), {"direction": "load", "offsets": 3}, "offsets"),
        ((0, 0), {"direction": "load", "descriptor_space": "texture"}, "descriptor_space"),
        ((0, 0), {"direction": "load", "descriptor_align": None}, "descriptor_align"),
    ],
)
def test_operands_that_are_none_raise(coords, operands, field):
    with pytest.raises(InputError) as caught:
        launch_violations(FLOAT, coords, **operands)
    assert caught.value.field == field
    assert caught.value.fix


def test_an_im2col_map_needs_as_many_offsets_as_axes():
    with pytest.raises(InputError, match="1 entry where 2 are needed"):
        launch_violations(IMAGE, (0, 0, 0, 0), direction="load", offsets=(0,))


def test_numpy_integers_are_integers():
    np = pytest.importorskip("numpy")
    coords = np.array([4, 8])
    assert launch_violations(FLOAT, coords, direction="load", smem_base=np.int64(128)) == []


@pytest.mark.parametrize("op", OPS)
def test_no_reduction_exists_for_small_integers(op):
    for dtype in ("uint8", "uint16"):
        tensor_map = TensorMap.tiled(dtype, (64, 64), (256,), (16, 16))
        assert rules_broken(tensor_map, (0, 0), direction="reduce", op=op) == ["reduction_op_and_type"]


def test_signed_64_bit_sums_are_unsigned_ones():
    [found] = launch_violations(
        TensorMap.tiled("int64", (64, 64), (512,), (16, 16)), (0, 0), direction="reduce", op="add"
    )
    assert found.fix == "Describe the elements as uint64: add gives the same bits."


def test_a_store_outside_the_tensor_reads_no_shared_memory():
    assert rules_broken(FLOAT, (64, 0), direction="store", smem_bytes=64) == []
    assert rules_broken(FLOAT, (64, 0), direction="load", smem_bytes=64) == ["box_past_shared_memory"]


def test_interleaved_coordinates_count_slices():
    tensor_map = TensorMap.tiled("float32", (8, 8, 8), (256, 2048), (8, 2, 2), interleave="16B")
    assert rules_broken(tensor_map, (1, 0, 0), direction="load") == []


def test_a_null_base_faults_every_load_and_the_stores_that_write():
    tm = TensorMap.tiled("float32", (64, 64), (256,), (16, 16), address=0)
    for coords, writes in (((0, 0), True), ((64, 0), False), ((0, 2**31 - 1), False), ((48, 63), True)):
        store, load = (launch_violations(tm, coords, direction=way) for way in ("store", "load"))
        assert ("null_global_address" in [v.rule for v in store]) is writes, coords
        assert "null_global_address" in [v.rule for v in load], coords

"""C++ calls as people paste them: constants above, casts, offsets, wrappers; and what no literal explains."""

import pytest

from tmalab.inputs import cpp_call
from tmalab.inputs.detect import read_text
from tmalab.inputs.position import UnreadableError
from tmalab.model.tensor_map import TensorMap

TAIL = """CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
    CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE"""
EXPECTED = TensorMap.tiled("float16", (4096, 1024), (8192,), (64, 128), swizzle="128B", l2_promotion="128B")


def call(dims="dims", strides="strides", box="box", ones="ones", dtype="CU_TENSOR_MAP_DATA_TYPE_FLOAT16", rank="2"):
    return f"cuTensorMapEncodeTiled(&map, {dtype}, {rank}, ptr, {dims}, {strides}, {box}, {ones}, {TAIL});"


DIMS = "cuuint64_t dims[2] = {4096, 1024};"
DECLARED = """cuuint64_t dims[2] = {4096, 1024};
cuuint64_t strides[1] = {8192};
cuuint32_t box[2] = {64, 128};
cuuint32_t ones[2] = {1, 1};
"""
GUIDE = """  CUtensorMap tensor_map{};
  // rank is the number of dimensions of the array.
  constexpr uint32_t rank = 2;
  uint64_t size[rank] = {GMEM_WIDTH, GMEM_HEIGHT};
  // The stride is the number of bytes from one row to the next.
  uint64_t stride[rank - 1] = {GMEM_WIDTH * sizeof(__half)};
  uint32_t box_size[rank] = {SMEM_WIDTH, SMEM_HEIGHT};
  uint32_t elem_stride[rank] = {1, 1};
  auto cuTensorMapEncodeTiled = get_cuTensorMapEncodeTiled();
  CUresult res = cuTensorMapEncodeTiled(
    &tensor_map,                // CUtensorMap *tensorMap,
    CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
    rank,                       // cuuint32_t tensorRank,
    tensor_ptr,                 // void *globalAddress,
    size, stride, box_size, elem_stride,
    CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_NONE,
    CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_128B,
    CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
    CUtensorMapFloatOOBfill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE
  );
"""
CONSTANTS = """#define GMEM_WIDTH (4 * 1024) // columns
constexpr int GMEM_HEIGHT{1024}, SMEM_WIDTH = 64, SMEM_HEIGHT = 1 << 7;
"""
TILELANG = """\tCUtensorMapDataType A_type= (CUtensorMapDataType)6;
\tcuuint32_t A_tensorRank= 2;
\tcuuint64_t A_globalDim[2]= {4096,1024};
\tcuuint64_t A_globalStride[2]= {2,8192};
\tcuuint32_t A_boxDim[2]= {64,128};
\tcuuint32_t A_elementStrides[2]= {1,1};
\tCUtensorMapInterleave A_interleave= (CUtensorMapInterleave)0;
\tCUtensorMapSwizzle A_swizzle= (CUtensorMapSwizzle)3;
\tCUtensorMapL2promotion A_l2Promotion= (CUtensorMapL2promotion)2;
\tCUtensorMapFloatOOBfill A_oobFill= (CUtensorMapFloatOOBfill)0;

\tCUresult A_result = CUTLASS_CUDA_DRIVER_WRAPPER_CALL(cuTensorMapEncodeTiled)(
    &A, A_type, A_tensorRank, A_globalAddress, A_globalDim, A_globalStride + 1, A_boxDim, A_elementStrides,
    A_interleave, A_swizzle, A_l2Promotion, A_oobFill);
"""
PYTHON = """    dims = [4096, 1024]  # columns, rows
    strides = [2, 8192][1:]
    res, A = driver.cuTensorMapEncodeTiled(
        driver.CUtensorMapDataType.CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
        2,
        a.data_ptr(),
        dims,
        strides,
        [driver.cuuint32_t(64), 128],
        [1, 1],
        driver.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
        CUtensorMapSwizzle(3),
        driver.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
        driver.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
    )
"""
IN_PLACE = call(
    "(cuuint64_t[]){4096, 1024}",
    "(const cuuint64_t[1]){8192}",
    "std::array<cuuint32_t, 2>{64, 128}.data()",
    "(cuuint32_t[]){1, 1}",
)


def the_map(text):
    [reading] = read_text(text)
    if isinstance(reading, UnreadableError):
        raise reading
    assert reading.form == "cpp"
    return reading.tensor_map()


@pytest.mark.parametrize("text", [
    DECLARED + call(), CONSTANTS + GUIDE, TILELANG, PYTHON, IN_PLACE,
    DECLARED + call(dims="&dims[0]", strides="(const cuuint64_t*)strides", box="box + 0"),
    DECLARED.replace("strides[1] = {8192}", "strides[] = {2, 8192}") + call(strides="&strides[1]"),
    DECLARED.replace("strides[1] = {8192}", "strides[] = {2, 8192}") + call(strides="strides + 1"),
    DECLARED.replace(DIMS, "std::array<cuuint64_t, 2> dims{4096, 1024};") + call(dims="dims.data()"),
    DECLARED.replace(DIMS, "std::vector<cuuint64_t> dims = {4096, 1024};") + call(dims="dims.data()"),
    DECLARED.replace(DIMS, "cuuint64_t dims[2]; dims[0] = 4096; dims[1] = 1024;") + call(),
    DECLARED.replace("{4096, 1024}", "{N, M}") + "/* int N = 1; */ const int N = 0x1000, M = 010 * 128;" + call(),
    DECLARED.replace("{8192}", "{(cuuint64_t)4096 * sizeof(T)}") + "using T = cutlass::half_t;" + call(),
    DECLARED.replace("{8192}", "{static_cast<uint64_t>(4096) * (16 / 8)}") + call(dtype="(CUtensorMapDataType)6"),
    DECLARED.replace("{64, 128}", "{std::min(64, 80), ceil_div(1000, 8) + 3}") + call(),
    "auto fn = PFN_cuTensorMapEncodeTiled(p);\n// cuTensorMapEncodeTiled(old, call)\n" + DECLARED + call(),
    DECLARED + call().replace("cuTensorMapEncodeTiled", "driver->cuTensorMapEncodeTiled_v12000"),
    "CUresult cuTensorMapEncodeTiled(CUtensorMap* tensorMap, int rank);\n" + DECLARED + call(),
    "{\n" + DECLARED + call() + "\n}",
], ids=range(19))  # fmt: skip
def test_a_call_is_read_with_what_is_declared_above(text):
    assert the_map(text) == EXPECTED


def test_im2col_has_its_own_order():
    text = """uint64_t dim[4] = {64, 8, 8, 1}; uint64_t strides[3] = {128, 1024, 8192}; uint32_t ones[4] = {1, 1, 1, 1};
    int32_t lower[2] = {-1, -1}, upper[2] = {-1, - 2};
    result = cuTensorMapEncodeIm2col(&descs[0], static_cast<CUtensorMapDataType>(6), 4, reinterpret_cast<void*>(0x7f00),
        dim, strides, lower, upper, static_cast<uint32_t>(64), 36, ones, static_cast<CUtensorMapInterleave>(0),
        static_cast<CUtensorMapSwizzle>(3), static_cast<CUtensorMapL2promotion>(2),
        static_cast<CUtensorMapFloatOOBfill>(0));"""
    assert the_map(text) == TensorMap.im2col(
        "float16", (64, 8, 8, 1), (128, 1024, 8192), (-1, -1), (-1, -2), 64, 36, swizzle="128B", l2_promotion="128B",
        address=0x7F00,
    )  # fmt: skip


@pytest.mark.parametrize(("address", "expected"), [("nullptr", 0), ("NULL", 0), ("0x40", 64), ("ptr + 4", None)])
def test_an_address_is_known_only_as_a_literal(address, expected):
    assert the_map(DECLARED + call().replace("ptr", address)).address == expected


def test_an_initializer_that_is_too_short_is_filled_with_zeros_as_in_cpp():
    assert the_map(DECLARED.replace("{4096, 1024}", "{4096}") + call()).global_dim == (4096, 0)


def test_entries_past_the_rank_are_not_read():
    [reading] = read_text(DECLARED.replace("strides[1] = {8192}", "strides[2] = {8192, 0}") + call())
    assert reading.tensor_map() == EXPECTED
    assert "first 1" in reading.notes[0]


def test_several_calls_are_a_batch():
    text = DECLARED + call() + DECLARED.replace("{64, 128}", "{64, 64}") + call()
    assert [reading.tensor_map().box_dim for reading in read_text(text)] == [(64, 128), (64, 64)]


@pytest.mark.parametrize(("text", "place", "words"), [
    (DECLARED.replace("1024", "M") + call(), "M}", "value of M is not known"),
    (DECLARED + call(dims="shape"), "shape", "not declared above"),
    (DECLARED + call(rank="3"), "dims,", "2 entries, and the rank asks for 3"),
    (DECLARED.replace("8192", "f(8192)") + call(), "f(8192)", "is called here"),
    (DECLARED.replace("8192", "8192 / 0") + call(), "/ 0", "division by zero"),
    (DECLARED.replace("8192", "1 << 300") + call(), "<< 300", "shift"),
    (DECLARED.replace("8192", "8192.5") + call(), "8192.5", "not an integer"),
    (DECLARED.replace("8192", "sizeof(Foo)") + call(), "sizeof", "size of Foo"),
    (DECLARED.replace("8192", "9" * 100) + call(), "9" * 100, "100 digits"),
    (DECLARED.replace("{8192}", "{a}") + "int a = b; int b = a;" + call(), "a", "nested too deeply"),
    (DECLARED + call().replace("CU_TENSOR_MAP_SWIZZLE_128B", "17"), "17", "no enumerator"),
    (DECLARED + call().replace("ones, ", ""), "cuTensorMapEncodeTiled(", "11 arguments"),
    (DECLARED + call().replace("ones, ", "").replace("&map", "map.get()"), "cuTensorMapEncodeTiled(", "11 arguments"),
    (DECLARED + call(dims="nullptr"), "nullptr", "global_dim has 0 entries"),
    (DECLARED + call(dims="(const cuuint64_t*)NULL"), "(const", "a null pointer has none: give 2"),
    (DECLARED + "cuuint64_t* none = 0;" + call(dims="none"), "none,", "a null pointer has none: give 2"),
    (DECLARED + call().replace("strides,", "nullptr,"), "nullptr", "in bytes; only of rank 1 may it be null"),
    (DECLARED + call().replace("ones", "NULL"), "NULL", "each 1 to take every element"),
    (DECLARED + call()[:60], "cuTensorMapEncodeTiled(", "no end"),
    ("cuTensorMapEncodeTiled", "cuTensorMapEncodeTiled", "nowhere called"),
])  # fmt: skip
def test_what_cannot_be_read_is_reported_at_its_place(text, place, words):
    [error] = read_text(text)
    assert isinstance(error, UnreadableError)
    assert words in str(error)
    if words:
        assert text[error.offset :].startswith(place)


ROW = "uint64_t a[1] = {64}; uint32_t e[1] = {1}; uint32_t b[1] = {64};"
CALL = """cuTensorMapEncodeTiled(&m, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 1, p, a, nullptr, b, e,
    CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
    CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);"""
WRITES = {"b[0] *= 8;": 0, "b[0] += 448;": 0, "b[0]++;": 0, "++b[0];": 2, "std::fill(b, b + 1, 512);": 0}


def only(text):
    (found,) = cpp_call.read(text)
    if isinstance(found, UnreadableError):
        raise found
    return found.fields


@pytest.mark.parametrize(("write", "at"), [*WRITES.items(), ("if (x) { b[0] = 512; }", 9)])
def test_a_value_that_only_running_tells_is_not_guessed(write, at):
    with pytest.raises(UnreadableError, match="only running the code tells its value") as raised:
        only(f"{ROW} {write} {CALL}")
    assert (raised.value.line, raised.value.column) == (1, len(ROW) + 2 + at)


@pytest.mark.parametrize(
    "passed_over",
    ["if (x) { uint32_t b[1] = {512}; }", "\n#if 0\nb[0] = 512;\n#endif\n", "if (b[0] <= 8) {}", "c[0] += 1;"],
)
def test_what_does_not_reach_the_call_is_passed_over(passed_over):
    assert only(f"{ROW} {passed_over} {CALL}")["box_dim"] == [64]


def test_a_macro_is_text():
    text = f"#define N 60+4\n{ROW.replace('b[1] = {64}', 'b[1] = {N * 2}')} {CALL}"
    assert only(text)["box_dim"] == [60 + 4 * 2]


def test_an_array_without_values_is_not_zeros():
    unset = ROW.replace("b[1] = {64}", "b[1]")
    assert only(f"{unset} b[0] = 32; {CALL}")["box_dim"] == [32]
    with pytest.raises(UnreadableError, match=r"b\[0\] has no value"):
        only(f"{unset} {CALL}")


PYTHON = """
itemsize = 2
dims = [4096, 1024]  # inner, outer; in elements
box = [
    64,  # 128 bytes (a span
    256 // 2,
]
error, tensor_map = driver.cuTensorMapEncodeTiled(
    driver.CUtensorMapDataType.CU_TENSOR_MAP_DATA_TYPE_FLOAT16,  # if it is half
    2,
    pointer,
    dims,
    [dims[0] * itemsize],
    box,
    [1, 1],
    driver.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
    driver.CUtensorMapSwizzle.CU_TENSOR_MAP_SWIZZLE_128B,  # not 64B, as before
    driver.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
    driver.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
)
"""


def test_python_has_comments_and_a_division_of_its_own():
    [reading] = read_text(PYTHON)
    assert reading.tensor_map() == EXPECTED


def test_a_call_in_cpp_without_its_semicolon_keeps_its_comments():
    pasted = call("{4096, 1024}", "{8192}", "{64, 128}", "{1, 1}").rstrip(";").replace(" 2,", " 2, // 2 of 5\n")
    [reading] = read_text(pasted)
    assert reading.tensor_map() == EXPECTED


@pytest.mark.parametrize("name", ["box", "dims"])
def test_an_array_in_braces_within_its_own(name):
    inner = {"box": "{64, 128}", "dims": "{4096, 1024}"}[name]
    [reading] = read_text(DECLARED.replace(inner, f"{{{inner}}}") + call())
    assert reading.tensor_map() == EXPECTED
    [reading] = read_text(DECLARED + call(**{name: f"std::array<cuuint64_t, 2>{{{inner}}}.data()"}))
    assert reading.tensor_map() == EXPECTED


@pytest.mark.parametrize("word", [
    "wide ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_64B", "wide ? CU_TENSOR_MAP_SWIZZLE_128B : other",
    "chosen",
])  # fmt: skip
def test_a_word_that_is_chosen_when_the_code_runs_is_not_guessed(word):
    above = "auto chosen = wide ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_64B;\n" + DECLARED
    [error] = read_text(above + call().replace("CU_TENSOR_MAP_SWIZZLE_128B", word))
    assert isinstance(error, UnreadableError)
    assert "swizzle depends on what only running the code tells" in str(error)


@pytest.mark.parametrize("changed", [
    "if (wide) box[0] = 128;", "if constexpr (kWide) box[0] = 128; else box[0] = 32;", "for (;;) box[1] = 8;",
    "if (a) if (b(1)) box[0] = 128;", "if (a) {} else box[0] = 128;", "while (wide) box = {32, 128};",
    "#if A\n#define N 64\n#else\n#define N 32\n#endif\nbox[0] = N;",
    "uint32_t n; if (wide) n = 64; else n = 32; box[0] = n;",
])  # fmt: skip
def test_what_one_of_two_ways_sets_is_not_guessed(changed):
    [error] = read_text(f"{DECLARED}{changed}\n{call()}")
    assert isinstance(error, UnreadableError)
    assert "only running the code tells its value" in str(error)


@pytest.mark.parametrize("kept", [
    "if (box[0] > 256) throw std::runtime_error(\"box\");", "if (wide) { uint32_t box[2] = {32, 8}; }",
    "for (int i = 0; i < 2; ++i) assert(box[i] <= 256);", "do { ++n; } while (n < 3); box[0] = 64;",
    "#define N 64\n#ifndef N\n#define N 32\n#endif\nbox[0] = N;", "if (a) return; box[0] = 64;",
    "#ifdef A\n#define N 64\n#else\n#define N 64\n#endif\nbox[0] = N;", "if (a) uint32_t box[2] = {32, 8};",
])  # fmt: skip
def test_what_a_branch_leaves_alone_is_known(kept):
    [reading] = read_text(f"{DECLARED}{kept}\n{call()}")
    assert reading.tensor_map() == EXPECTED


def test_a_name_is_computed_once_however_often_it_stands_in_others():
    for entry, value in (("", "= {0} + {0};"), ("[1]", "= {{{0}[0] + {0}[0]}};")):
        names = [f"int n{index}{entry} {value.format(f'n{index + 1}')}" for index in range(30)]
        above = "\n".join([*names, f"int n30{entry} = {'{1}' if entry else '1'};", DECLARED])
        [error] = read_text(above + call(rank="n0[0]" if entry else "n0"))
        assert "the rank asks for 1073741824" in str(error)


def test_the_size_of_an_array_is_asked_for_by_its_name():
    [error] = read_text(DECLARED + call(rank="sizeof(dims) / sizeof(dims[0])"))
    assert "the size of dims is not known" in str(error)


def test_the_wide_im2col_call_is_named_as_what_it_is():
    [error] = read_text("cuTensorMapEncodeIm2colWide(&map, 6, 4, p, d, s, -1, 0, 64, 64, e, 0, 0, 3, 0, 0);")
    assert "cuTensorMapEncodeIm2colWide makes maps of sm_100" in str(error)


def test_calls_that_are_not_read_are_told():
    one = call("{4096, 1024}", "{8192}", "{64, 128}", "{1, 1}")
    readings = list(read_text("\n".join([one] * 40)))
    assert all(reading.tensor_map() == EXPECTED for reading in readings[:-1])
    assert len(readings) == 33
    assert "more than 32 calls" in str(readings[-1])
    assert readings[-1].line == 65  # a call has two lines


@pytest.mark.parametrize("name", ["encode", "pfn_", "driver->encode", "Driver::get().encode_tiled", "(*table.encode)"])
def test_a_pointer_that_another_file_sets_is_known_by_its_arguments(name):
    by_name = next(read_text(DECLARED + call()))
    commented = "(\n  &map,  // the map, first\n  "
    for text in (call(), call().replace("(&map, ", commented)):
        [reading] = read_text(DECLARED + text.replace("cuTensorMapEncodeTiled", name.strip("(*)")))
        assert reading.tensor_map() == by_name.tensor_map() == EXPECTED


def test_what_takes_its_arguments_in_another_order_is_not_the_driver_s():
    for text in (call().replace(TAIL, "a, b, c, d"), call().replace("&map, ", "&map, stream, "), call()[:-2]):
        [answer] = read_text(DECLARED + text.replace("cuTensorMapEncodeTiled", "make_map"))
        assert isinstance(answer, UnreadableError)
        assert "in no form that is known" in answer.message


def test_an_im2col_call_through_a_pointer_is_known_by_its_fifteen_arguments():
    above = "uint64_t dim[4] = {64, 8, 8, 1}; uint64_t strides[3] = {128, 1024, 8192}; uint32_t ones[4] = {1, 1, 1, 1};"
    corners = "int32_t lower[2] = {-1, -1}, upper[2] = {-1, -2};"
    given = "&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 4, ptr, dim, strides, lower, upper, 64, 36, ones"
    assert the_map(f"{above} {corners} im2col({given}, {TAIL});") == TensorMap.im2col(
        "float16", (64, 8, 8, 1), (128, 1024, 8192), (-1, -1), (-1, -2), 64, 36, swizzle="128B", l2_promotion="128B"
    )

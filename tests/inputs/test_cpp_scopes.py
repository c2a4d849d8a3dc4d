"""Pasted C++ and Python whose values stand in other scopes: read right, or told where only the caller knows them."""

import pytest

from tmalab.inputs.detect import read_text
from tmalab.inputs.position import UnreadableError
from tmalab.model.tensor_map import TensorMap

EXPECTED = TensorMap.tiled("float16", (4096, 1024), (8192,), (64, 128), swizzle="128B", l2_promotion="128B")
TAIL = """CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
    CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE"""
SET = """cuuint64_t dims[2] = {4096, 1024}, strides[1] = {8192};
cuuint32_t box[2] = {64, 128}, ones[2] = {1, 1};
"""
LOCAL = SET.replace("64, 128", "BM, 128")  # the box's first side is a name
ARGUMENTS = f"&m, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, ptr, dims, strides, box, ones, {TAIL}"
CALL = f"cuTensorMapEncodeTiled({ARGUMENTS});"
VECTOR = SET.replace("cuuint32_t box[2] =", "std::vector<cuuint32_t> box =").replace(
    ", ones[2]", "; cuuint32_t ones[2]"
)
VECTOR_CALL = CALL.replace("box,", "box.data(),")
LOADED = """void* p = nullptr; cudaDriverEntryPointQueryResult found;
cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &p, cudaEnableDefault, &found);
"""
PYTHON = """dims = [4096, 1024]
strides = [8192]
box = [64, 128]
"""
PYTHON_CALL = """err, m = driver.cuTensorMapEncodeTiled(
    driver.CUtensorMapDataType.CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, p, dims, strides, box, [1, 1],
    driver.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
    driver.CUtensorMapSwizzle.CU_TENSOR_MAP_SWIZZLE_128B,
    driver.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
    driver.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
"""


def indented(code):
    return "".join(f"    {line}\n" for line in code.splitlines())


@pytest.mark.parametrize("text", [
    f"{SET}auto encode = cuTensorMapEncodeTiled;\nencode({ARGUMENTS});",
    f"{SET}auto encode = &::cuTensorMapEncodeTiled;\nencode({ARGUMENTS});",
    f"#define ENCODE cuTensorMapEncodeTiled\n{SET}CHECK(ENCODE({ARGUMENTS}));",
    f"{LOADED}{SET}auto encode = reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(p);\nencode({ARGUMENTS});",
    f"{LOADED}{SET}auto encode = (PFN_cuTensorMapEncodeTiled)p;\nencode({ARGUMENTS});",
    f"static PFN_cuTensorMapEncodeTiled encode = [] {{ return load(); }}();\n{SET}CHECK(encode({ARGUMENTS}));",
    f"decltype(&cuTensorMapEncodeTiled) encode = load();\n{SET}encode({ARGUMENTS});",
    f"{PYTHON}encode = driver.cuTensorMapEncodeTiled\n" + PYTHON_CALL.replace("driver.cuTensorMapEncodeT", "encodeT")
    .replace("encodeTiled", "encode"),
], ids=range(8))  # fmt: skip
def test_a_call_by_another_name_is_read(text):
    [reading] = read_text(text)
    assert reading.tensor_map() == EXPECTED


# Helpers as PyTorch, CUTLASS, DeepGEMM and FlashAttention have them: what they are given hides what stands above.
@pytest.mark.parametrize(("above", "name"), [
    ("int BM = 64;\nCUtensorMap make(void* ptr, int BM) {\n", "BM"), ("int BM = 64;\nint make(int BM = 32) {\n", "BM"),
    ("int BM = 64;\nbool G::make(const int& BM, int) const noexcept {\n", "BM"),
    ("int BM = 64;\ntemplate <int BM, typename T>\nCUtensorMap make(T* ptr) {\n", "BM"),
    ("int BM = 64;\ntemplate <class T = A<2>, int BM = 32>\nauto make(T* ptr) -> CUtensorMap {\n", "BM"),
    ("int BM = 64;\nstruct G { G(void* p, int BM) : ptr(p), q{2} {\n", "BM"),
    ("int BM = 64;\nauto make = [&](int BM) {\n", "BM"),
    ("int BM = 64;\nauto f = [=](int BM) mutable -> bool {\n", "BM"),
    ("int BM = 64;\nvoid g(int BM) { auto make = [&](int x) {\n", "BM"),
    ("int BM = 64;\nfor (auto BM : sizes) {\n", "BM"),
], ids=range(10))  # fmt: skip
def test_a_parameter_is_the_caller_s_and_not_what_stands_above(above, name):
    text = above + LOCAL + CALL
    [error] = read_text(text)
    assert isinstance(error, UnreadableError)
    assert f"{name} is" in str(error)
    assert text[error.offset :].startswith(name)
    assert error.offset > text.index("64")  # the parameter, and not the name above


@pytest.mark.parametrize("above", ["void f(cuuint32_t* box, int n) {\n", "auto f = [&](const cuuint32_t box[2]) {\n"])
def test_an_array_may_be_a_parameter_too(above):
    [error] = read_text(SET + above + CALL)
    assert "box is a parameter of f, which the text never calls" in str(error)


@pytest.mark.parametrize(
    "begin", ["#define ENCODE(m, box) ", "#define ENCODE(box) \\\n  ", "#define E(box, ...) \\\n  do_it( \\\n"]
)
def test_a_macro_s_parameters_are_its_caller_s(begin):
    [error] = read_text(SET + begin + CALL.replace("\n", "\\\n"))
    assert "the call stands in the macro E" in str(error)


def test_a_word_may_be_a_parameter_or_another_function_s_answer():
    above = SET + "auto mode = CU_TENSOR_MAP_SWIZZLE_128B;\nvoid f(CUtensorMapSwizzle mode) {\n"
    [error] = read_text(above + CALL.replace("CU_TENSOR_MAP_SWIZZLE_128B", "mode"))
    assert "mode is a parameter of f" in str(error)
    text = SET + CALL.replace("CU_TENSOR_MAP_SWIZZLE_128B", "pick(CU_TENSOR_MAP_SWIZZLE_128B)")
    [error] = read_text(text)
    assert "pick is called here, and only its code knows the value" in str(error)
    assert text[error.offset :].startswith("pick(")


@pytest.mark.parametrize("above", [
    "int BM = 64;\nvoid f() { int BM; read(BM);\n", "int BM = 64;\nvoid f() { int BM(g());\n",
    "int BM = 64;\nvoid f() { auto [BM, BN] = tile();\n", "int BM = 64; get(&BM);\n",
    "int BM = 64; auto& n = BM; n = 32;\n",
    "int BM = 64; { auto f = [&] { BM = 32; }; f(); }\n", "int BM = 64; auto f = [&]() mutable { BM = 32; };\n",
    "int BM = 64; for (auto& n : {BM}) n *= 2; BM += 1;\n",
], ids=range(8))  # fmt: skip
def test_a_name_whose_value_is_set_out_of_sight_is_not_the_one_above(above):
    [error] = read_text(above + LOCAL + CALL)
    assert isinstance(error, UnreadableError)
    assert "BM" in str(error) or "g is called here" in str(error)


@pytest.mark.parametrize("change", [
    "auto& b = box; b[0] = 32;", "cuuint32_t* b = box; b[0] = 32;", "*box = 32;", "for (auto& side : box) side *= 2;",
    "auto f = [&] { box[0] = 32; }; f();",
])  # fmt: skip
def test_an_array_that_is_changed_through_another_name(change):
    [error] = read_text(f"{SET}{change}\n{CALL}")
    assert "box is changed here" in str(error)


@pytest.mark.parametrize("change", [
    "box.push_back(8);", "box.at(0) = 8;", "box.data()[0] = 8;", "box.front() = 8;", "box.insert(box.begin(), 8);",
])  # fmt: skip
def test_a_vector_that_a_method_changes(change):
    [reading] = read_text(VECTOR + VECTOR_CALL)
    assert reading.tensor_map() == EXPECTED
    [error] = read_text(f"{VECTOR}{change}\n{VECTOR_CALL}")
    assert "box is changed here" in str(error)


@pytest.mark.parametrize("member", ["params.BM", "params->BM", "this->BM", "a.b.BM"])
def test_a_member_is_not_the_name_alone(member):
    text = "constexpr int BM = 32;\n" + LOCAL.replace("BM", member) + CALL
    [error] = read_text(text)
    assert isinstance(error, UnreadableError)
    assert text[error.offset :].startswith(member)


@pytest.mark.parametrize("above", [
    "constexpr int BM = 64;\nvoid other(int BM = 32);\n",
    "constexpr int BM = 64;\nvoid other(int BM = 32) { use(BM); }\n",
    "constexpr int BM = 64;\nstruct Other { int BM = 32; };\n", "constexpr int BM = 64;\nOther o; o.BM = 32;\n",
    "constexpr int BM = 64;\nvoid other() { int BM = 32; }\n",
    "constexpr int BM = 64;\nif (x) { int BM{32}; use(BM); }\n",
    "constexpr int BM = 64;\nauto other = [](int BM) { return 2 * BM; };\n",
    "std::call_once(once, [&] { int BM = 64;\n",
    "AT_DISPATCH(type, [&](auto t) -> void { int BM = 64;\n", "void f(int n) { const int BM = 64;\n",
    "CUtensorMap make(int BM) { BM = 64;\n", "struct C { int BM = 8; int f() {\nint BM = 64;\n",
], ids=range(12))  # fmt: skip
def test_what_another_scope_calls_the_same_is_passed_over(above):
    [reading] = read_text(above + LOCAL + CALL)
    assert reading.tensor_map() == EXPECTED


def test_a_type_s_member_is_that_type_s():
    above = "struct A { static constexpr int N = 64; };\nstruct B { static constexpr int N = 32; };\n"
    [reading] = read_text(above + LOCAL.replace("BM", "A::N") + CALL)
    assert reading.tensor_map() == EXPECTED
    [reading] = read_text("Config c; c.N = 64; int N = 32;\n" + LOCAL.replace("BM", "c.N") + CALL)
    assert reading.tensor_map() == EXPECTED


@pytest.mark.parametrize("text", [
    PYTHON + "launch(box=[8, 8], dims=[1, 1])\n" + PYTHON_CALL,
    PYTHON + "def other():\n    box = [8, 8]\n    return box\n\n" + PYTHON_CALL,
    PYTHON + "def other():\n    box = [8, 8]\n\ndef make():\n" + indented(PYTHON_CALL),
    "if True:\n" + indented(PYTHON) + indented(PYTHON_CALL),
    "def make(p, stream=None):\n" + indented(PYTHON) + indented(PYTHON_CALL),
], ids=range(5))  # fmt: skip
def test_python_s_scopes_are_its_indents(text):
    [reading] = read_text(text)
    assert reading.tensor_map() == EXPECTED


@pytest.mark.parametrize(("above", "words"), [
    ("rows = 64\ndef make(rows):\n", "rows is a parameter of make"),
    ("rows = 64\ndef make(p, *, rows: int = 8):\n", "rows is a parameter of make"),
    ("rows = 64\nfor rows in (32, 64):\n", "rows is set more than once"),
    ("rows = 64\nif wide:\n    rows = 32\nif True:\n", "rows is set more than once"),
    ("rows = 64\nif wide: rows = 32\nif True:\n", "rows is set more than once"), ("rows = 64\nclass A:\n", "self.rows"),
], ids=range(6))  # fmt: skip
def test_python_s_values_that_only_running_tells(above, words):
    name = "self.rows" if "self" in words else "rows"
    [error] = read_text(above + indented(PYTHON.replace("[64,", f"[{name},")) + indented(PYTHON_CALL))
    assert isinstance(error, UnreadableError)
    assert words in str(error)


def test_a_python_list_that_grows_is_not_guessed():
    [error] = read_text(PYTHON + "box.append(1)\n" + PYTHON_CALL)
    assert "box is set more than once" in str(error)

"""What is left out above a call changes no answer; and of a file's other code nearly all is left out."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tmalab.inputs import cpp_call, cpp_relevant
from tmalab.inputs.cpp_tokens import tokenize
from tmalab.inputs.position import UnreadableError

CALL = """cuTensorMapEncodeTiled(&m, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, p, dims, strides, box, ones,
    CU_TENSOR_MAP_INTERLEAVE_NONE, mode, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
"""
SET = """using T = half; auto mode = CU_TENSOR_MAP_SWIZZLE_128B; int a = 64, b = a / 2;
struct C { static constexpr int a = 8, z = 16; };
cuuint64_t dims[2] = {a * 2, 16}, strides[1] = {sizeof(T) * dims[0]};
uint32_t box[2] = {a, b}, ones[] = {1, C::a / 8};
"""
STATEMENTS = [
    "using T = float;", "a = 32;", "int a = 16;", "b += 1;", "x = a;", "int x{a}, y = x;", "box[0] = x;", "box[1] = 8;",
    "if (a > 3) {", "} else {", "} else if (y) {", "if (x) box[0] = 4;", "else y = 2;", "for (int i = 0; i < n; ++i) {",
    "for (auto& s : box) { s *= 2; }", "for (auto a : sizes) {", "while (x) {", "do {", "} while (y);", "{", "}",
    "};", "a;",
    "void f(int a, int q = 3) {", "void g(uint32_t* box);", "auto h = [&](int b) {", "auto k = [=] { y = 3; };",
    "std::call_once(w, [&] {", "});", "auto& r = box;", "r[0] = 2;", "auto* t = &a;", "*t = 5;", "*box = 3;",
    "#define a 16\n", "#define N a + 1\n", "box[1] = N;", "#if X\n", "#else\n", "#endif\n", "#if 0\n", "// a = 3; {\n",
    "/* } box[0] = 9; */", 's = "a = 4; {";', "c = '{';", "u = 1'000; v = 2'000;", "get(&a);",
    "std::fill(box, box + 2, 9);",
    "box[1] = C::z;", "struct D { int a = 3; };", "enum { y = 4, z = 5 };", "auto [a, q] = f();",
    "uint32_t box[2] = {{8, 8}};",
    "std::array<int, 2> v = {a, b};", "int a;", "template <int a>", "return a;", "switch (x) { case 1: a = 2; }",
    "foo(a, {b});",
]  # fmt: skip


def answered(text):
    return [
        str(found) if isinstance(found, UnreadableError) else (dict(found.fields), found.notes)
        for found in cpp_call.read(text)
    ]


@settings(deadline=None, max_examples=600)
@given(st.lists(st.sampled_from(STATEMENTS), max_size=14), st.lists(st.sampled_from(STATEMENTS), max_size=10))
@example([], ["#if X\n", "box[0] = 16;", "#endif\n", "u = 1'000; v = 2'000;"])
@example([], ["uint32_t box[2] = {{8, 8}};"])
def test_what_is_left_out_changes_no_answer(before, behind):
    text = " ".join([*before, SET, *behind, CALL])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cpp_call, "relevant", lambda text, start, end, names: tokenize(text, start, end))
        whole = answered(text)
    assert answered(text) == whole


def test_a_file_s_other_code_is_not_cut_into_tokens(monkeypatch):
    line = "void f(int n, float* x) {{ for (int i = 0; i < n; ++i) {{ x[i] = {0}; }} int y = n * 4; }}\n"
    other = "".join(line.format(index) for index in range(500))
    text = "".join(f"{other}{SET}{CALL}" for _ in range(32))
    seen = []

    def counted(*arguments, **options):
        seen.append(tokenize(*arguments, **options))
        return seen[-1]

    monkeypatch.setattr(cpp_call, "tokenize", counted)
    monkeypatch.setattr(cpp_relevant, "tokenize", counted)
    assert len(answered(text)) == 32
    assert len(text) > 32 * 40_000
    assert 0 < sum(map(len, seen)) < 32 * 1000  # all of it is 25 times as many

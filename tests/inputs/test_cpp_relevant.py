"""What is left out of a long C++ text changes no answer, and of a file's other code nearly all is left out."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tmalab.inputs import cpp_call, cpp_source
from tmalab.inputs.cpp_tokens import tokenize
from tmalab.inputs.position import UnreadableError

CALL = """cuTensorMapEncodeTiled(&m, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, p, dims, strides, box, ones,
    CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
    CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
"""
LISTS = """cuuint64_t dims[2] = {4096, 1024}, strides[1] = {8192}; cuuint32_t box[2] = {64, 128}, ones[2] = {1, 1};
"""
MAKE = f"void make(void* p, uint64_t rows) {{ {LISTS.replace('1024', 'rows')} {CALL} }}\n"
OTHER = """void other{0}(const float* in, int rows, float scale) {{
  for (int i = 0; i < rows; i += blockDim.x) {{ if (in[i] > 0) {{ use(in[i] * scale); }} else {{ use(0); }} }}
}}
struct Thing{0} {{ int first = {0}; float* second; }};
#define LIMIT_{0} ({0} * 2)
"""
PARTS = [
    LISTS, CALL, MAKE, f"void run() {{ {LISTS} {CALL} }}", "make(p, 1024, 4096);", "int n = 64;", "n = 3;", "n += 1;",
    "void set() { n = 8; }", "void set(int n) { n = 8; }", "box[0] = n;", "void fix() { box[1] = 9; }", "{", "}", "};",
    "namespace a {", "struct A { int n = 3; };", "enum { n = 5 };", "#define n 7\n", "#undef n\n", "#if A\n", "#else\n",
    "#endif\n", "if (x) {", "} else {", "if (x) box[0] = 16;", "for (auto& b : box) {", "auto& r = box;", "r[0] = 2;",
    "auto f = [&] { box[0] = 1; };", "f();", "// box[0] = 3; {\n", "/* } */", 's = "box[0] = 3; {";', "c = '{';",
    "template <int n>", "using T = float;", "OTHER(n)", "do {", "} while (n);", "int other[2] = {n, 8}, q[1] = {2};",
]  # fmt: skip


def answered(text):
    return [
        str(found) if isinstance(found, UnreadableError) else (dict(found.fields), found.notes, found.offset)
        for found in cpp_call.read(text)
    ]


def whole(text):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cpp_call, "relevant", lambda text, start, end: [(start, end)])
        return answered(text)


@settings(deadline=None, max_examples=300)
@given(st.lists(st.sampled_from(PARTS), min_size=1, max_size=16))
@example([LISTS, "int n = 64;", "void set() { n = 8; }", "box[0] = n;", CALL])
@example([LISTS, "namespace a {", "void fix() { box[1] = 9; }", "}", f"void run() {{ {CALL} }}"])
def test_what_is_left_out_changes_no_answer(parts):
    text = "\n".join(parts)
    assert answered(text) == whole(text)


def test_a_file_s_other_code_is_not_cut_into_tokens(monkeypatch):
    other = "".join(OTHER.format(number) for number in range(170))
    text = "".join(f"{other}void call{number}() {{ {LISTS} {CALL} }}\n" for number in range(32))
    seen = []

    def counted(*arguments):
        seen.append(tokenize(*arguments))
        return seen[-1]

    monkeypatch.setattr(cpp_source, "tokenize", counted)
    assert len(answered(text)) == 32
    assert len(text) > 32 * 40_000
    assert 0 < sum(map(len, seen)) < 32 * 300  # all of it is some 80 times as many

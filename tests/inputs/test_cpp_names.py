"""Pasted C++ where a name stands for something else than its nearest look-alike: read right, or told as not known.

`box` is asked for throughout: each text sets it, or a number in it, in a way that real host code does.
"""

import pytest

from tmalab.inputs.detect import read_text
from tmalab.inputs.position import UnreadableError

TYPE = "CU_TENSOR_MAP_DATA_TYPE_FLOAT16"
MODES = """CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
    CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE"""
LISTS = """cuuint64_t dims[2] = {4096, 1024}; cuuint64_t strides[1] = {8192};
cuuint32_t box[2] = {64, 128}; cuuint32_t ones[2] = {1, 1};
"""
GIVEN = f"{TYPE}, 2, ptr, dims, strides, box, ones, {MODES}"
CALL = f"cuTensorMapEncodeTiled(&m, {GIVEN});"
TILE = CALL.replace("box", "tile.data()")
PICK = CALL.replace("CU_TENSOR_MAP_SWIZZLE_128B", "pick(CU_TENSOR_MAP_SWIZZLE_128B)")
MAIN = "int main()"
MAKE = f"""CUtensorMap make(void* ptr, uint64_t rows, uint64_t cols, uint32_t bm = 128, uint32_t bk = 64) {{
  CUtensorMap m; uint64_t dims[2] = {{cols, rows}}; uint64_t strides[1] = {{cols * sizeof(half)}};
  uint32_t box[2] = {{bk, bm}}; uint32_t ones[2] = {{1, 1}}; CHECK({CALL[:-1]}); return m; }}
"""


def lists(first="64", second="128"):
    return LISTS.replace("{64, 128}", f"{{{first}, {second}}}")


def within(function, text):
    return f"{function} {{ {text} {CALL} }}"


def asked(text):
    return [found if isinstance(found, UnreadableError) else found.fields for found in read_text(text)]


READ = {
    "another name": f"{LISTS} auto encode = cuTensorMapEncodeTiled; encode(&m, {GIVEN});",
    "its address": f"{LISTS} auto* encode = &cuTensorMapEncodeTiled; encode(&m, {GIVEN});",
    "a type's pointer": f"{LISTS} auto encode = (PFN_cuTensorMapEncodeTiled)fn; encode(&m, {GIVEN});",
    "a pointer called on the spot": f"{LISTS} reinterpret_cast<PFN_cuTensorMapEncodeTiled>(fn)(&m, {GIVEN});",
    "set later": "static PFN_cuTensorMapEncodeTiled_v12000 encode = nullptr;\n"
    + f"void f() {{ {LISTS} if (!encode) {{ encode = load(); }} encode(&m, {GIVEN}); }}",
    "a function that returns it": "PFN_cuTensorMapEncodeTiled get() { return load(); }\n"
    + f"void f() {{ {LISTS} auto encode = get(); encode(&m, {GIVEN}); }}",
    "called by what returns it": "PFN_cuTensorMapEncodeTiled get() { return load(); }\n"
    + f"void f() {{ {LISTS} get()(&m, {GIVEN}); }}",
    "decltype": f"{LISTS} decltype(&cuTensorMapEncodeTiled) encode = load(); encode(&m, {GIVEN});",
    "a function pointer": (
        f"{LISTS} CUresult (*encode)(CUtensorMap*, int) = cuTensorMapEncodeTiled; encode(&m, {GIVEN});"
    ),
    "a macro": f"#define ENCODE cuTensorMapEncodeTiled\n{LISTS} ENCODE(&m, {GIVEN});",
    "a macro with all arguments": (
        f"#define ENCODE(...) CHECK(cuTensorMapEncodeTiled(__VA_ARGS__))\n{LISTS} ENCODE(&m, {GIVEN});"
    ),
    "a lambda that captures": f"{LISTS} auto encode = [&](CUtensorMap* m) {{ {CALL} }}; encode(&m);",
    "a lambda's parameters": f"""{lists(1, 1)} auto encode = [&](uint32_t* box) {{ {CALL} }};
        uint32_t other[2] = {{64, 128}}; encode(other);""",
    "one call": f"{MAKE} int main() {{ auto a = make(p, 1024, 4096); }}",
    "one call above": (f"CUtensorMap make(void*, uint64_t, uint64_t);\nauto a = make(p, 1024, 4096, 128, 64);\n{MAKE}"),
    "a call in a call": (
        f"{MAKE} void run(void* p, int M) {{ auto a = make(p, M, 4096); }} int main() {{ run(p, 1024); }}"
    ),
    "arrays as parameters": f"void f(const uint32_t* box) {{ {LISTS.replace('box', 'unused')} {CALL} }}\n"
    "int main() { uint32_t tile[2] = {64, 128}; f(tile); }",
    "a template's parameters": (
        f"template <int BM, int BK = 64> {within('void f()', lists('BK', 'BM'))} int main() {{ f<128>(); }}"
    ),
    "a template's type": "template <typename T> "
    + within("void f()", LISTS.replace("8192", "4096 * sizeof(T)"))
    + " int main() { f<half>(); }",
    "a parameter set again": f"{within('void f(int n)', 'n = 64; ' + lists('n'))} int main() {{ f(3); }}",
    "an outer name hidden elsewhere": "constexpr int n = 64; void other() { int n = 3; n = 4; }\n"
    + within("void f()", lists("n")),
    "a prototype's default": f"constexpr int n = 64; void other(int n = 3);\n{lists('n')} {CALL}",
    "two classes": (
        f"struct A {{ static constexpr int n = 64; }}; struct B {{ static constexpr int n = 3; }};\n"
        f"{lists('A::n')} {CALL}"
    ),
    "two namespaces": (
        f"namespace a {{ constexpr int n = 64; }}\nnamespace b {{ constexpr int n = 3; }}\n{lists('a::n')} {CALL}"
    ),
    "another name of a class": (f"struct A {{ static constexpr int n = 64; }};\nusing C = A;\n{lists('C::n')} {CALL}"),
    "two objects": f"Config a, b; a.n = 64; b.n = 3;\n{lists('a.n')} {CALL}",
    "an object made by names": f"Config a{{.n = 64}}, b{{.n = 3}};\n{lists('a.n')} {CALL}",
    "an object's member is no variable": f"int n = 64; a.n = 3;\n{lists('n')} {CALL}",
    "a value at its time": f"uint32_t n = 64;\n{lists('n')} n = 3; {CALL}",
    "a write behind the call": f"{LISTS} {CALL} box[0] = 3;",
    "the other arm": f"{LISTS}\n#if A\nbox[0] = 3;\n#else\n{CALL}\n#endif",
    "a comment": f"/* {CALL} */\n{LISTS} {CALL}",
    "what is switched off": f"{LISTS}\n#if 0\n{CALL.replace('box', 'ones')}\n#endif\n{CALL}",
    "code in a text": f'{LISTS} auto kernel = R"(box[0] = 3; {{)"; {CALL}',
    "lines of a macro": f"#define SET(x) \\\n  int n = 3; \\\n  x\nconstexpr int n = 64;\n{lists('n')} {CALL}",
    "a macro taken back": f"#define n 3\n#undef n\nconstexpr int n = 64;\n{lists('n')} {CALL}",
    "a macro where it stands": f"int n = 3;\n#define N n\n{within('void f()', 'int n = 64; ' + lists('N'))}",
    "typedef": f"typedef half real;\n{LISTS.replace('8192', '4096 * sizeof(real)')} {CALL}",
    "an enum": f"enum {{ A = 64, B = 128 }};\n{lists('A', 'B')} {CALL}",
    "std::array, one by one": f"std::array<uint32_t, 2> tile; tile[0] = 64; tile[1] = 128;\n{LISTS} {TILE}",
    "what is only read": (
        f'{LISTS} printf("%d", box[0]); static_assert(sizeof(box) == 8); for (auto b : box) {{}} {CALL}'
    ),
    "a product that looks like a pointer": (
        f"int n = 64; for (int i = 0; i < a * n; ++i) {{}} if (x & n) {{}}\n{lists('n')} {CALL}"
    ),
}


@pytest.mark.parametrize("case", READ)
def test_it_is_read_right(case):
    [fields] = asked(READ[case])
    assert not isinstance(fields, UnreadableError), fields
    lists_read = [fields[name] for name in ("global_dim", "global_strides", "box_dim", "swizzle")]
    assert lists_read == [[4096, 1024], [8192], [64, 128], "128B"]


UNKNOWN = {
    "a parameter": ("constexpr int n = 3; " + within("void f(int n)", lists("n")), "n is a parameter of f"),
    "an array parameter": (f"{LISTS} {within('void f(uint32_t* box)', '')}", "box is a parameter of f"),
    "a default may be overruled": (within("void f(int n = 64)", lists("n")), "n is a parameter of f"),
    "a method's": (within("int n = 3; bool G::f(int n) const noexcept", lists("n")), "n is a parameter of G::f"),
    "a constructor's": (
        "int n = 3; struct G { " + within("G(int n) : a(n), b{n}", lists("n")) + " };",
        "parameter of G",
    ),
    "with a type behind": ("int n = 3; " + within("auto f(int n) -> std::array<int, 2>", lists("n")), "parameter of f"),
    "a template's": (
        "constexpr int N = 3; template <int N = 64> " + within("void f()", lists("N")),
        "N is a parameter",
    ),
    "a class template's": (
        "constexpr int N = 3; template <int N> struct G { " + within("void f()", lists("N")) + "};",
        "N is",
    ),
    "two functions of a name": (
        "void f(float x) {} " + within("void f(int n)", lists("n")) + " int main() { f(64); }",
        "several",
    ),
    "a parameter changed": (
        within("void f(int n)", "if (n > 3) n = 64; " + lists("n")) + " int main() { f(9); }",
        "n is changed",
    ),
    "a macro's": (f"{LISTS}\n#define MAKE(box) {CALL}\nMAKE(tile);", "the macro MAKE"),
    "a member of a parameter": (
        "constexpr int n = 3; " + within("void f(Params const& p)", lists("p.n")),
        "p is a parameter",
    ),
    "a member": (f"constexpr int n = 3; Config c;\n{lists('c.n')} {CALL}", "c.n is not known"),
    "a pointer's member": (f"constexpr int n = 3; Config* c;\n{lists('c->n')} {CALL}", "c.n is not known"),
    "a member that objects set": ("struct G { int n = 64; " + within("void f()", lists("n")) + " };", "n is a member"),
    "a method's value": (f"int size = 3;\n{lists('x.size(0)')} {CALL}", "x.size"),
    "a class that is not there": (f"constexpr int n = 3;\n{lists('Traits::n')} {CALL}", "Traits::n is not known"),
    "an object given away": (f"Config a{{.n = 64}}; init(&a);\n{lists('a.n')} {CALL}", "a is changed"),
    "an entry of an enum": (
        f"constexpr int B = 3; void f() {{ enum {{ A = 1, B }};\n{lists('B')} {CALL} }}",
        "B is set here",
    ),
    "a binding": ("int n = 3; " + within("void f()", "auto [n, k] = tile(); " + lists("n")), "n is set here"),
    "a loop's": (within("int n = 3; for (auto n : sizes)", lists("n")), "n is set here"),
    "an exception's": (within("int n = 3; try {} catch (int n)", lists("n")), "n is"),
    "made by a call": ("int n = 3; " + within("void f()", "int n(g()); " + lists("n")), "g is called"),
    "read into": (f"int n = 64; get(&n);\n{lists('n')} {CALL}", "n is changed here"),
    "read into by reference": (
        f"void get(int& a, int& b); int k = 1, n = 64; get(k, n);\n{lists('n')} {CALL}",
        "n is changed",
    ),
    "waiting to be read into": (f"int n = 0; query(t, n);\n{lists('n')} {CALL}", "n is changed here"),
    "a reference": (f"{LISTS} auto& b = box; b[0] = 3; {CALL}", "box is changed here"),
    "a pointer": (f"{LISTS} auto* b = box; b[0] = 3; {CALL}", "box is changed here"),
    "through its own name": (f"{LISTS} *box = 3; {CALL}", "box is changed here"),
    "an array given away": (f"{LISTS} fix(box); {CALL}", "box is changed here"),
    "a method that changes": (
        f"std::vector<int> tile = {{64, 128}}; tile.push_back(1);\n{LISTS} {TILE}",
        "tile is changed",
    ),
    "an entry by method": (
        f"std::array<int, 2> tile = {{64, 128}}; tile.at(0) = 3;\n{LISTS} {TILE}",
        "tile is changed",
    ),
    "each by reference": (f"{LISTS} for (auto& b : box) b *= 2; {CALL}", "box is changed here"),
    "a lambda's writes": (f"{LISTS} auto set = [&] {{ box[0] = 3; }}; set(); {CALL}", "box is changed here"),
    "a write before the lambda is called": (
        f"int n = 64; auto f = [&] {{ {lists('n')} {CALL} }}; n = 3; f();",
        "n is changed",
    ),
    "another function's write": (
        "int n = 64; " + within("void f()", lists("n")) + " void set() { n = 3; }",
        "n is changed",
    ),
    "the next round's": (within("uint32_t n = 64; for (;;)", f"{lists('n')} {CALL} n /= 2; "), "n is changed here"),
    "a size by what is pointed at": (f"{LISTS.replace('8192', '4096 * sizeof(*p)')} {CALL}", "size of p"),
    "a size of several": (f"{LISTS.replace('8192', '4096 * sizeof(half[2])')} {CALL}", "size of half"),
    "a number cut off": (f"{lists('(uint8_t)320')} {CALL}", "320 does not fit"),
    "a number that is not whole": (f"{lists('(int)((float)193 / 3)')} {CALL}", "not an integer"),
    "a list by a call": (f"{LISTS} {CALL.replace('box', 'reversed({64, 128}).data()')}", "reversed"),
    "one of two lists": (f"{LISTS} {CALL.replace('box', 'wide ? box : ones')}", "which of these"),
    "a mode by a call": (f"{LISTS} {PICK}", "pick is called"),
    "division by nothing": (f"{lists('ceil_div(64, 0)')} {CALL}", "division by zero"),
}


@pytest.mark.parametrize("case", UNKNOWN)
def test_what_only_running_the_code_tells_is_not_guessed(case):
    text, words = UNKNOWN[case]
    found = asked(text)
    assert all(isinstance(one, UnreadableError) for one in found), found
    assert words in str(found[0])


OTHER = """void other{0}(const float* in, int rows, float scale) {{
  for (int i = 0; i < rows; i += blockDim.x) {{ if (in[i] > 0) {{ use(in[i] * scale); }} else {{ use(0); }} }}
}}
struct Thing{0} {{ int first = {0}; float* second; }};
#define LIMIT_{0} ({0} * 2)
"""


@pytest.mark.parametrize("text", [*READ.values(), *(text for text, _ in UNKNOWN.values())])
def test_other_code_about_a_call_changes_no_answer(text):
    other = "".join(OTHER.format(number) for number in range(3))

    def told(text):
        return [str(one).partition(": ")[2] if isinstance(one, UnreadableError) else one for one in asked(text)]

    assert told(f"{other}{text}\n{other}") == told(text)


def test_each_call_of_a_function_is_a_question():
    text = f"{MAKE}int main() {{\n  auto a = make(p, 1024, 4096);\n  auto b = make(q, 64, 256, 32);\n}}"
    first, second = read_text(text)
    assert [one.fields["global_dim"] for one in (first, second)] == [[4096, 1024], [256, 64]]
    assert [one.fields["box_dim"] for one in (first, second)] == [[64, 128], [64, 32]]
    assert [one.offset for one in (first, second)] == [text.index("(p, 1024"), text.index("(q, 64")]
    assert "as make is called here" in second.notes[0]


PYTHON = f"""driver.cuTensorMapEncodeTiled(driver.T.{TYPE}, 2, p, [4096, 1024], [8192], box, [1, 1],
    driver.I.CU_TENSOR_MAP_INTERLEAVE_NONE, mode, 2, driver.F.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
"""
BOX = "mode = driver.S.CU_TENSOR_MAP_SWIZZLE_128B\nbox = [64, 128]\n"


@pytest.mark.parametrize("text", [
    BOX + PYTHON, f"{BOX}def other(box=3):\n    box = [8, 8]\n\n{PYTHON}", f"{BOX}launch(box=[8, 8])\n{PYTHON}",
    f"{BOX}encode = driver.cuTensorMapEncodeTiled\n{PYTHON.replace('driver.cuTensorMapEncodeTiled', 'encode')}",
    f"mode = 3\ndef make(box):\n    return {PYTHON}\nmake([64, 128])",
])  # fmt: skip
def test_python_is_read_by_its_own_scopes(text):
    [fields] = asked(text)
    assert not isinstance(fields, UnreadableError), fields
    assert (fields["box_dim"], fields["swizzle"]) == ([64, 128], "128B")


@pytest.mark.parametrize("changed", [
    "if wide:\n    box = [8, 8]\n", "if wide: box[0] = 8\n", "box.append(3)\n", "def f():\n    box.reverse()\n",
    "for box in boxes:\n    pass\n",
])  # fmt: skip
def test_python_that_changes_a_list_is_not_guessed(changed):
    [error] = asked(BOX + changed + PYTHON)
    assert isinstance(error, UnreadableError)
    assert "box is set more than once" in str(error)


def test_a_parameter_of_python_that_nothing_gives_is_not_a_name_outside():
    [error] = asked(f"{BOX}def make(box):\n    return {PYTHON}")
    assert "box is a parameter of make" in str(error)

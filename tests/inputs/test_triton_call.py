"""Triton's descriptors in Python source: every way to make one, what its tensor tells, and what is not guessed."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tmalab import frontends
from tmalab.inputs import triton_call
from tmalab.inputs.detect import read_text
from tmalab.inputs.position import UnreadableError
from tmalab.inputs.python_pieces import is_deep

TENSOR = 'a = torch.empty((4096, 512), dtype=torch.float16, device="cuda")\n'
SAID = {"shape": [4096, 512], "strides_elements": [512, 1], "box_shape": [128, 64], "dtype": "float16"}
LAUNCHED = """
@triton.jit
def kernel(a_ptr, M, K, stride, BM: tl.constexpr, BK: tl.constexpr = 64):
    made = tl.make_tensor_descriptor(a_ptr, shape=[M, K], strides=[stride, 1], block_shape=[BM, BK])


def launch():
    a = torch.empty((4096, 512), dtype=torch.float16, device="cuda")
    kernel[(32,)](a, *a.shape, a.stride(0), BM=128)
"""
# The way through Triton's own program, its parameters as the task gives them.
RECORDED = """
def host_launch(source):
    rows, cols = 32, 64
    descriptor = TensorDescriptor(source, [192, 320], [320, 1], [rows, cols])
    return host_tile[(1,)](descriptor, box_rows=rows, box_cols=cols, num_warps=1)

host_launch(torch.from_numpy(memory).view(torch.float16).cuda())
"""


def one(text):
    [reading] = read_text(text)
    assert reading.form == "triton"
    if isinstance(reading, UnreadableError):
        raise reading
    return reading


@pytest.mark.parametrize("call", [
    "TensorDescriptor(a, [4096, 512], [512, 1], [128, 64])",
    "TensorDescriptor(a, shape=[4096, 512], strides=[512, 1], block_shape=[128, 64])",
    "TensorDescriptor(a, a.shape, a.stride(), [128, 64])", "TensorDescriptor.from_tensor(a, [128, 64])",
    "triton.tools.tensor_descriptor.TensorDescriptor.from_tensor(a, block_shape=(128, 1 << 6))",
    "TensorDescriptor(base=a, shape=list(a.shape), strides=(a.size(1), 1), block_shape=[1] * 0 + [128, 64])",
    "tl.make_tensor_descriptor(a, [4096, 512], [512, 1], [tl.constexpr(128), 64])",
    "tl.make_tensor_descriptor(a, a.shape, [a.stride(0), 1], block_shape=[triton.next_power_of_2(100), min(64, 128)])",
    "TensorDescriptor.from_tensor(a, [triton.cdiv(255, 2), 2**6])",
    "TensorDescriptor.from_tensor(torch.zeros_like(a).contiguous(), [128, -(-64)])",
])  # fmt: skip
def test_every_way_to_make_one_says_the_same(call):
    fields = one(f"{TENSOR}made = {call}").fields
    assert {name: fields[name] for name in SAID} == SAID
    assert fields["built_on"] == ("device" if "make_" in call else "host")


@pytest.mark.parametrize(("made", "dtype"), [
    ("torch.randn(4096, 512, dtype=torch.bfloat16)", "bfloat16"), ("torch.randn(4096, 512).half().cuda()", "float16"),
    ("torch.ones([4096, 512]).to(torch.float8_e4m3fn)", "float8_e4m3fn"),
    ('torch.zeros(size=(4096, 512), device="cuda").to(device="cuda", dtype=torch.int32)', "int32"),
    ('torch.rand((4096, 512), dtype=torch.float32).to("cuda")', "float32"),
    ("torch.full((4096, 512), 7, dtype=DTYPE)", "float16"),
    ("torch.randint(0, 9, (4096, 512), dtype=DTYPE)", "float16"),
    ("torch.empty(4096 * 512, dtype=DTYPE).view(4096, 512)", "float16"),
    ('torch.empty((4096, 512), dtype="torch.float16")', "float16"),
])  # fmt: skip
def test_the_tensor_says_its_type_and_its_shape(made, dtype):
    fields = one(f"DTYPE = torch.float16\na = {made}\nTensorDescriptor.from_tensor(a, [128, 64])").fields
    assert (fields["dtype"], fields["shape"], fields["strides_elements"]) == (dtype, [4096, 512], [512, 1])


@pytest.mark.parametrize("tensor", ["a", "torch.empty(4096, 512)", "elsewhere.weights", "a[0]", "torch.load(name)"])
def test_a_type_that_the_text_does_not_say_is_left_open(tensor):
    assert "dtype" not in one(f"TensorDescriptor({tensor}, [4096, 512], [512, 1], [128, 64])").fields


def test_the_one_launch_of_a_kernel_gives_its_parameters():
    fields = one(LAUNCHED).fields
    assert {name: fields[name] for name in SAID} == SAID
    again = LAUNCHED + "    kernel[(32,)](a, *a.shape, a.stride(0), BM=64)\n"
    with pytest.raises(UnreadableError, match="M is a parameter of kernel, which is called more than once"):
        one(again)


def test_a_program_that_was_recorded():
    fields = one(RECORDED).fields
    assert [fields[name] for name in ("shape", "strides_elements", "box_shape")] == [[192, 320], [320, 1], [32, 64]]
    assert fields["dtype"] == "float16"


@pytest.mark.parametrize("text", [
    "        M, K = 4096, 512\n        made = TensorDescriptor(a, [M, K], [K, 1], [128, 64])\n",
    "made = TensorDescriptor(a, [M, K],\n              [K, 1], [128, 64])\n        M, K = 4096, 512\n",
    "Here's my code: (it fails\n\nM, K = 4096, 512\n\nmade = TensorDescriptor(a, [M, K], [K, 1], [128, 64])  # so (",
    ">>> M = 4096\n... ) K\nM = 4096\nK: int = 512\nfor it in x: made = TensorDescriptor(a, [M, K], [K, 1], [128, 64])",
    "def f(M=4096, K=512):\n\n  made = TensorDescriptor(a, [M, K], [K, 1], [128, 64])\n }",
])  # fmt: skip
def test_a_fragment_is_read_as_far_as_it_is_python(text):
    assert one(text).fields["strides_elements"] == [512, 1]


@pytest.mark.parametrize(("text", "place", "words"), [
    ("M = 4096\nTensorDescriptor(a, [M, K], [K, 1], [64, 64])", (2, 25), "K is not set in this text"),
    ("M = 1\nM = 2\nTensorDescriptor(a, [M, 1], [8, 1], [64, 64])", (3, 22), r"M is set more than once \(line 1, co"),
    ("M = 1\nM += 2\nTensorDescriptor(a, [M, 1], [8, 1], [64, 64])", (3, 22), "line 2, column 1"),
    ("M = input()\nTensorDescriptor(a, [M, 1], [8, 1], [64, 64])", (1, 5), "only running the code tells"),
    ("import M\nTensorDescriptor(a, [M, 1], [8, 1], [64, 64])", (1, 1), "only running the code tells what M is"),
    ("for M in x:\n  TensorDescriptor(a, [M, 1], [8, 1], [64, 64])", (1, 5), "only running the code tells what M is"),
    ("M = N\nN = M\nTensorDescriptor(a, [M, 1], [8, 1], [64, 64])", (2, 5), "set by itself"),
    ("M = M + 1\nTensorDescriptor(a, [M, 1], [8, 1], [64, 64])", None, "nested too deeply, or a name set by itself"),
    ("def f(M):\n  TensorDescriptor(a, [M, 1], [8, 1], [64, 64])", (1, 7), "parameter of f, and the text gives it no"),
    ("TensorDescriptor(a, [8, 1], [8, 1], [64, 64 / 2])", (1, 42), "no integer of integers"),
    ("TensorDescriptor(a, [8, 1], [8, 1], [64, 64 // 0])", (1, 48), "division by zero"),
    ("TensorDescriptor(a, [8, 1], [8, 1], [2 ** 999, 64])", (1, 43), "no shift or power"),
    ("TensorDescriptor(a, [8, 1], [8, 1], [True, 64])", (1, 38), "only running the code"),
    ("TensorDescriptor(a, [8, self.k], [8, 1], [64, 64])", (1, 25), "what self.k is"),
    ("TensorDescriptor(a, [8, 1], [8, 1])", (1, 1), "block_shape is missing"),
    ("TensorDescriptor(a, [8, 1], [8, 1], 64)", (1, 37), "expected a list of integers"),
    ("M, K = given['shape']\nTensorDescriptor(a, [M, K], [K, 1], [8, 64])", (1, 8), "tells what this list is"),
    ("TensorDescriptor(a, [8, 1], [8, 1], [64, 64], 'one')", (1, 47), "zero and nan"),
    ("TensorDescriptor(a, [8, 1], [8, 1], [64, 64], layout)", (1, 47), "layout is not set"),
    ("TensorDescriptor(a, [8, 1], [8, 1], [64, 64], layout=x)", (1, 54), "a descriptor of Gluon"),
    ("TensorDescriptor.from_tensor(a, [8, 8], gl.NVMMASharedLayout(128))", (1, 41), "a descriptor of Gluon"),
    ("TensorDescriptor(a, [8, 1], [8, 1], [64, 64], shape=[8, 1])", (1, 53), "shape is said twice"),
    ("TensorDescriptor(a, [8, 1], [8, 1], [64, 64], size=[8, 1])", (1, 52), "size is no parameter"),
    ("TensorDescriptor(a, *rest)", (1, 21), "behind a star"),
    ("TensorDescriptor(**all_of_it)", (1, 20), "behind a star"),
    ("TensorDescriptor(1, 2, 3, 4, 5, 6)", (1, 33), "6 arguments, and the descriptor takes 5"),
    ("TensorDescriptor.from_tensor(a.T, [64, 64])", (1, 30), "does not tell this tensor's shape"),
    ("TensorDescriptor(a, [8, 1], [8, 1], [64", (1, 1), "the call has no end"),
    (") TensorDescriptor\n(a, [8, 1])", (1, 3), "the call has no end, or is no Python"),
    ("class TensorDescriptor(Base): pass", (1, 7), "named here and nowhere made"),
    ("é = 'é'; TensorDescriptor(a, [É, 1], [8, 1], [64, 64])", (1, 31), "É is not set"),
])  # fmt: skip
def test_what_is_not_known_is_said_at_its_place(text, place, words):
    with pytest.raises(UnreadableError, match=words) as raised:
        one(text)
    assert place in (None, (raised.value.line, raised.value.column))


def test_several_calls_are_several_readings_in_order():
    calls = "x = TensorDescriptor.from_tensor(a, [8, 64])\ny = f(TensorDescriptor.from_tensor(b, [8, 64]))\n"
    found = list(read_text(f"{TENSOR}{calls}# TensorDescriptor(z)\nz = TensorDescriptor.from_tensor(a, [16, 64])"))
    assert [isinstance(one, UnreadableError) for one in found] == [False, True, False]
    assert found[2].fields["box_shape"] == [16, 64]
    many = list(read_text(TENSOR + "TensorDescriptor.from_tensor(a, [8, 64])\n" * 40))
    assert len(many) == 33
    assert "more than 32 calls" in str(many[-1])


def test_names_of_names_cost_no_more_than_their_number():
    lines = ["N0 = 1", *(f"N{at} = N{at - 1} + N{at - 1}" for at in range(1, 40))]
    text = "\n".join([*lines, "TensorDescriptor(a, [N39, 8], [8, 1], [64, 64])"])
    assert one(text).fields["shape"][0] == 2**39


@pytest.mark.parametrize("text", [
    "'''" + "\\'''" * 5000 + "TensorDescriptor(", "TensorDescriptor(" * 3000, "(" * 90 + "TensorDescriptor(" + ")" * 99,
    "TensorDescriptor(a, [" + "-" * 5000 + "1, 1], [1], [1])", "TensorDescriptor(a, [" + "1+" * 5000 + "1], [1], [1])",
    "x = 1\n" * 50_000 + "TensorDescriptor(a, [x], [1], [1])", "TensorDescriptor(a, [(1,) * 10**9], [1], [1])",
    "TensorDescriptor(a, (1,) * 10**9, [1], [1])", "TensorDescriptor(a, [9" + "9" * 5000 + "], [1], [1])",
    "a = " + "x." * 3000 + "y\nTensorDescriptor(a, [1], [1], [1])", "TensorDescriptor(\0)", "TensorDescriptor(\ud800)",
    "#" * 500_000 + "\nTensorDescriptor(a, [1], [1], [1])", "TensorDescriptor('\\d', x is 1)",
    "\ufeffTensorDescriptor(a)",
])  # fmt: skip
def test_no_text_is_too_strange(text):
    assert all(found.form == "triton" for found in triton_call.read(text))


@pytest.mark.parametrize("deep", [
    "x = {}1", "x = 1{}", "x = [{}1]", "x = f'{{{}1}}'", "x = (\n{}1)", "if x: pass\n{}",
])  # fmt: skip
def test_a_parser_is_not_sent_deeper_than_a_browser_s_python_can_go(deep):
    """3000 minus signs end the page's Python, which does not come back; the call beside such a line is still read."""
    part = "elif x: pass\n" if "if x" in deep else " + 1" if deep.endswith("1{}") else "-"
    text = deep.format(part * 3000) + f"\n{TENSOR}TensorDescriptor.from_tensor(a, [128, 64])"
    assert is_deep(text)
    assert one(text).fields["box_shape"] == [128, 64]
    assert not is_deep(deep.format(part * 100))


def test_no_program_of_this_package_is_deep():
    programs = Path(frontends.__file__).parent.rglob("*.py")
    assert not [path.name for path in programs if is_deep(path.read_text(encoding="utf8"))]


PARTS = ["TensorDescriptor", "(", ")", "[", "]", ", ", "\n", "    ", "a", "M", " = ", "4096", "64", "torch.empty", ".",
         "dtype=torch.float16", "def f", ":", "*", "**", "'", '"""', "#", "lambda ", "tl.make_tensor_descriptor", "if ",
         "from_tensor", "shape", "\\", "é", "\r\n", "\t", "//", "0", "-", "T", "with x as M", "for M in ",
         "[::0]"]  # fmt: skip


@given(st.lists(st.sampled_from(PARTS), max_size=60).map("".join))
@example("M = (TensorDescriptor(a, [8][::0], 1, 2))")
def test_whatever_is_pasted_is_an_answer(text):
    for found in triton_call.read(text):
        assert found.form == "triton"


@given(st.data())
def test_a_program_with_a_part_cut_out_or_put_in_is_an_answer(data):
    text = data.draw(st.sampled_from([LAUNCHED, RECORDED, TENSOR + "TensorDescriptor.from_tensor(a, [8, 64])"]))
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 30)))
    changed = text[:start] + data.draw(st.sampled_from(["", *PARTS])) + text[end:]
    for found in triton_call.read(changed):
        assert found.form == "triton"

"""A kernel file says how it is launched; what it leaves out, gets wrong or says twice is named."""

import re

import pytest

from tmalab.errors import InputError
from tmalab.hardware import compile as compiling
from tmalab.hardware.kernel_file import event_lines, parse_kernel_file, version, without_events
from tmalab.hardware.watch_probe import compile_watched

TEXT = """\
// a kernel
//@ launch = { grid = [4, 2], block = 64, shared_bytes = 1024, runs = 4 }
//@ buffers.a = { pattern = "iota16", bytes = 8192 }
//@ buffers.b = { pattern = "fill", value = 1, bytes = 8192 }
//@ maps.m = { buffer = "a", offset = 128, dtype = "uint8", global_dim = [64], global_strides = [], box_dim = [16] }
//@ arguments = ["m", "&m", "b", -3]
//@ expect = { b = "a", at = 16, bytes = 32, of = 64 }
extern "C" __global__ void __cluster_dims__(2, 1, 1)
    mine(int n) {
#ifdef BROKEN
  one();  //: t0 wait bar=b parity=1
#else
  two();  //: t0 wait bar=b parity=0
#endif
#ifndef BROKEN
  three();
#endif
#ifdef OTHER
  four();
#endif
}
"""


def test_everything_it_says_is_read():
    file = parse_kernel_file(TEXT)
    assert (file.kernel, file.grid, file.block, file.shared_bytes, file.runs) == (
        "mine",
        (4, 2, 1),
        (64, 1, 1),
        1024,
        4,
    )
    assert (file.maps["m"].buffer, file.maps["m"].offset) == ("a", 128)
    assert file.maps["m"].tensor_map.box_dim == (16,)
    assert file.arguments == ("m", "&m", "b", -3)
    (wanted,) = file.expect
    assert (wanted.name, wanted.like, wanted.at, wanted.bytes, wanted.of) == ("b", "a", 16, 32, 64)


def test_a_version_is_one_of_the_two_and_other_conditions_stay():
    broken, fixed = version(TEXT, broken=True), version(TEXT, broken=False)
    assert [("one()" in text, "two()" in text, "three()" in text) for text in (broken, fixed)] == [
        (True, False, False), (False, True, True),
    ]  # fmt: skip
    assert all("#ifdef OTHER" in text and "four()" in text and "BROKEN" not in text for text in (broken, fixed))


def test_lines_keep_their_numbers_when_asked_to():
    kept = version(TEXT, broken=True, keep_lines=True).splitlines()
    assert len(kept) == len(TEXT.splitlines())
    assert kept.index("  one();  //: t0 wait bar=b parity=1") == TEXT.splitlines().index(
        "  one();  //: t0 wait bar=b parity=1"
    )


def test_events_are_taken_off_what_is_shown():
    broken = version(TEXT, broken=True)
    assert event_lines(broken) == ["t0 wait bar=b parity=1"]
    assert "  one();\n" in without_events(broken)
    assert without_events("a;\n//: all cta_sync\n  //? copy = {}\nb;\n") == "a;\nb;\n"
    assert without_events("plain, with no newline") == "plain, with no newline"


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ("//@ expect", "//@ expects", "expects"),
        ("grid = [4, 2]", "grid = [4, 0]", "launch.grid"),
        ("grid = [4, 2]", "grid = [1, 1, 1, 1]", "launch.grid"),
        ("block = 64", 'block = "64"', "launch.block"),
        ("shared_bytes = 1024", "shared_bytes = -1", "launch.shared_bytes"),
        ('buffer = "a"', 'buffer = "c"', "maps.m.buffer"),
        ('dtype = "uint8"', 'dtype = "byte"', "maps.m.dtype"),
        ("box_dim", "box", "maps.m"),
        ('["m",', '["n",', "arguments[0]"),
        ("-3]", "true]", "arguments[3]"),
        ('b = "a", at', 'c = "a", at', "expect.c"),
        ("at = 16", "at = 1.5", "expect.at"),
        ('//@ launch = {', "//@ launch = 3 #", "launch"),
        ("extern", "// extern", "launch.kernel"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(old, new, field):
    with pytest.raises(InputError, match=f"^{re.escape(field)}="):
        parse_kernel_file(TEXT.replace(old, new))


@pytest.mark.parametrize("name", compiling.gallery_names())
def test_both_versions_of_a_gallery_s_kernel_compile(name, tmp_path, monkeypatch):
    pytest.importorskip("cuda.bindings.nvrtc", reason="NVRTC's bindings are not installed")
    monkeypatch.setenv("TMALAB_CACHE", str(tmp_path))
    text = compiling.kernel_sources(name)[f"{name}.cu"]
    versions = [without_events(version(text, broken=broken)) for broken in (True, False)]
    cubins = [compile_watched(one, "k.cu") for one in versions]
    code = [[line for line in one.splitlines() if not line.startswith("//")] for one in versions]
    assert (cubins[0] == cubins[1]) == (code[0] == code[1]), "the fix is in the code, or else in the tensor map alone"


def test_an_event_changes_no_kernel_s_hash(monkeypatch):
    name = compiling.gallery_names()[0]
    sources = compiling.kernel_sources(name)
    before = compiling.kernel_sha256(name)
    compiling.kernel_sha256.cache_clear()
    try:
        for added, same in (("//: all cta_sync\n", True), ("// a word\n", False)):
            changed = {file: added + text if file.endswith(".cu") else text for file, text in sources.items()}
            monkeypatch.setattr(compiling, "kernel_sources", lambda _, changed=changed: changed)
            assert (compiling.kernel_sha256(name) == before) is same
            compiling.kernel_sha256.cache_clear()
    finally:
        monkeypatch.undo()
        compiling.kernel_sha256.cache_clear()

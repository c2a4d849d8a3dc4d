"""Every kernel compiles for sm_90a without a GPU, and the cache gives back what it was given or nothing."""

import os
import re

import pytest

from tmalab.errors import HardwareError, InputError
from tmalab.hardware import compile as compiling
from tmalab.hardware.cubin import sass_instructions, section

pytest.importorskip("cuda.bindings.nvrtc", reason="NVRTC's bindings are not installed")

KERNELS = compiling.kernel_names()
# transfer.cu copies a descriptor into local memory on purpose, to see the engine refuse it there.
STACK_BYTES = {"transfer": 256}


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TMALAB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "cubin"


def test_all_kernels_are_known():
    assert {"transfer", "add_one_tma", "add_one_plain", "add_one_cp_async"} <= set(KERNELS)


@pytest.mark.parametrize(
    ("name", "options"),
    [*((name, ()) for name in KERNELS), *((name, ("-DTMALAB_STAMPS=1",)) for name in KERNELS if "add_one" in name),
     ("pipeline", ("-DTMALAB_STAMPS=0",))],
)  # fmt: skip
def test_a_kernel_compiles_without_spills_or_warnings(name, options):
    sources = compiling.kernel_sources(name)
    chosen = [*compiling.OPTIONS, *options, "--ptxas-options=-v"]
    cubin, log = compiling.compile_source(sources[f"{name}.cu"], sources, name, chosen)
    assert section(cubin, f".text.{name}"), "the entry point is named as the file"
    assert sass_instructions(cubin, name) > 20
    stack, stores, loads = map(
        int, re.search(r"(\d+) bytes stack frame, (\d+) .* stores, (\d+) .* loads", log).groups()
    )
    assert (stores, loads) == (0, 0)
    assert stack <= STACK_BYTES.get(name, 0)
    assert "warning" not in log


def test_the_cache_is_read_the_second_time(cache, monkeypatch):
    first = compiling.compile_kernel("add_one_plain")
    assert len(list(cache.glob("*.kept"))) == 1
    monkeypatch.setattr(compiling, "compile_source", None)  # a second compilation would call it
    assert compiling.compile_kernel("add_one_plain") == first


def test_other_options_are_another_entry(cache):
    assert compiling.compile_kernel("add_one_plain") != compiling.compile_kernel("add_one_plain", ["-DTMALAB_STAMPS=1"])
    assert len(list(cache.glob("*.kept"))) == 2


@pytest.mark.parametrize("damage", [b"", b"\x7fELF", None])
def test_a_damaged_entry_is_compiled_again(cache, damage):
    first = compiling.compile_kernel("add_one_plain")
    (entry,) = cache.glob("*.kept")
    whole = entry.read_bytes()
    entry.write_bytes(whole[:-1] if damage is None else damage)
    assert compiling.compile_kernel("add_one_plain") == first
    assert entry.read_bytes() == whole


def test_an_unwritable_cache_names_the_folder_and_the_remedy(tmp_path, monkeypatch):
    blocked = tmp_path / "a-file"
    blocked.write_text("not a folder")
    monkeypatch.setenv("TMALAB_CACHE", str(blocked))
    with pytest.raises(HardwareError, match="TMALAB_CACHE") as raised:
        compiling.compile_kernel("add_one_plain")
    assert raised.value.value == str(blocked)
    assert "set TMALAB_CACHE to a folder that you can write" in raised.value.fix


@pytest.mark.skipif(os.name == "nt", reason="POSIX paths")
def test_the_cache_folder_follows_the_platform(monkeypatch):
    monkeypatch.delenv("TMALAB_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    if os.uname().sysname == "Linux":
        assert str(compiling.cache_folder()) == "/somewhere/tmalab"


def test_an_error_in_the_source_gives_its_first_line():
    source = 'extern "C" __global__ void broken() {\n  int x = nothing_of_this_name;\n}\n'
    with pytest.raises(HardwareError, match=r"broken\.cu\(2\): error: identifier .nothing_of_this_name"):
        compiling.compile_source(source, {}, "broken", compiling.OPTIONS)


def test_an_unknown_kernel_names_those_that_exist():
    with pytest.raises(InputError, match=r"kernel='nope'.*add_one_tma"):
        compiling.compile_kernel("nope")


def test_the_hash_covers_every_header(monkeypatch, tmp_path):
    for path in compiling.KERNELS.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.setattr(compiling, "KERNELS", tmp_path)
    before = compiling.kernel_sha256.__wrapped__("transfer")
    caches = (compiling.kernel_sources, compiling.kernel_sha256)
    try:
        (tmp_path / "ptx.cuh").write_text((tmp_path / "ptx.cuh").read_text() + "\n// one more line\n")
        for cached in caches:
            cached.cache_clear()
        assert compiling.kernel_sha256("transfer") != before
        assert set(compiling.kernel_sources("transfer")) >= {
            "transfer.cu",
            "ptx.cuh",
            "ptx_tensor.cuh",
            "ptx_reduce.cuh",
        }
    finally:
        for cached in caches:
            cached.cache_clear()


def test_only_elf_files_have_instructions():
    assert sass_instructions(b"", "x") is None

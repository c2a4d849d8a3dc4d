"""The ladder's kernels, compiled without a GPU: no spill, no serialised product, as short as they are said to be."""

import re

import pytest

from tmalab.experiment.gemm_plan import RUNGS
from tmalab.hardware import compile as compiling
from tmalab.hardware.cubin import opcodes, section
from tmalab.hardware.gemm_probe import REPORT, TRACE

pytest.importorskip("cuda.bindings.nvrtc", reason="NVRTC's bindings are not installed")

HGMMA, HMMA = 0x9F0, 0x23C  # opcodes of wgmma and of mma.sync
BUILDS = {"timed": (), "traced": ("-DTMALAB_TRACE",)}
MOST_LINES = 200


def source(rung):
    name = f"gemm/{rung.file}"
    return compiling.kernel_sources(name)[f"{name}.cu"]


def spilled(log):
    """Stack, spill stores and spill loads, each the most of all functions that the compiler reports."""
    found = re.findall(r"(\d+) bytes stack frame, (\d+) .* stores, (\d+) .* loads", log)
    assert found
    return tuple(max(map(int, column)) for column in zip(*found, strict=True))


def compile_text(rung, text, *options):
    name = f"gemm/{rung.file}"
    chosen = [*compiling.OPTIONS, *rung.options, *options]
    return compiling.compile_source(text, compiling.kernel_sources(name), name, chosen)


def test_every_file_is_a_rung():
    assert compiling.gemm_names() == sorted({f"gemm/{rung.file}" for rung in RUNGS.values()})


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("rung", RUNGS.values(), ids=RUNGS)
def test_a_rung_compiles_without_a_spill_or_a_serialised_product(rung, build):
    cubin, log = compile_text(rung, source(rung), *BUILDS[build], "--ptxas-options=-v")
    assert spilled(log) == (0, 0, 0)
    assert not re.findall(r"warning|C75\d\d|Potential Performance Loss", log)
    assert int(re.search(r"Used (\d+) registers", log)[1]) * rung.threads <= 65536
    assert section(cubin, ".text.gemm")
    found = opcodes(cubin, "gemm")
    assert (HGMMA in found) == (rung.name not in ("plain-loads", "tma")) != (HMMA in found)


def test_the_fenced_arrival_costs_no_register_either():
    rung = RUNGS["cluster"]
    _, log = compile_text(rung, source(rung), "-DTMALAB_FENCED", "--ptxas-options=-v")
    assert spilled(log) == (0, 0, 0)
    assert not re.findall(r"warning|C75\d\d", log)


def test_a_spill_is_seen():
    """Where four blocks have to share a multiprocessor's registers the same source spills, and the report says so."""
    rung = RUNGS["tma"]
    crowded = source(rung).replace("__launch_bounds__(THREADS, 1)", "__launch_bounds__(THREADS, 4)")
    assert crowded != source(rung)
    _, log = compile_text(rung, crowded, "--ptxas-options=-v")
    assert min(spilled(log)) > 0


@pytest.mark.parametrize("rung", RUNGS.values(), ids=RUNGS)
def test_a_rung_is_short(rung):
    lines = source(rung).splitlines()
    assert len(lines) < MOST_LINES
    assert max(map(len, lines)) <= 120


@pytest.mark.parametrize("rung", RUNGS.values(), ids=RUNGS)
def test_the_plan_and_the_source_name_the_same_numbers(rung):
    chosen = dict(re.findall(r"-D(\w+)=(\d+)", " ".join(rung.options)))
    found = re.findall(r"\b([A-Z]+) = (\w+)[,;]", source(rung))
    constants = {name: int(chosen.get(value, value)) for name, value in found}
    assert tuple(constants[name] for name in ("BM", "BN", "BK")) == rung.tile
    assert constants["THREADS"] == rung.threads
    assert constants.get("STAGES", 1) == rung.stages
    assert constants.get("GROUP", 0) == rung.group
    assert constants.get("CLUSTER", 1) == rung.cluster
    assert ("__cluster_dims__" in source(rung)) == (rung.cluster > 1)


@pytest.mark.parametrize("rung", RUNGS.values(), ids=RUNGS)
def test_the_structs_are_as_the_host_packs_them(rung):
    sizes = {"Problem": 80, "Report": REPORT.itemsize, "Trace": TRACE.itemsize}
    if "struct Shared" in source(rung):
        sizes["Shared"] = rung.shared_bytes
    places = {f"Trace, {name}": TRACE.fields[name][1] for name in TRACE.names}
    places |= {f"Report, {name}": REPORT.fields[name][1] for name in REPORT.names}
    places |= {"Problem, report": 24, "Problem, m": 40, "Problem, tiles_m": 64, "Problem, workspace": 72}
    asserts = [f"sizeof({name}) == {size}" for name, size in sizes.items()]
    asserts += [f"__builtin_offsetof({place}) == {at}" for place, at in places.items()]
    compile_text(rung, source(rung) + "".join(f"static_assert({each});\n" for each in asserts))


def test_a_thread_that_leaves_early_would_serialise_the_products():
    """Why `wait` returns: with an exit in it, the compiler says what the test above looks for."""
    rung = RUNGS["producer"]
    name = f"gemm/{rung.file}"
    headers = compiling.kernel_sources(name)
    leaving = headers["gemm.cuh"].replace(
        "    return false;\n  }\n  return true;", '    asm volatile("exit;");\n  }\n  return true;'
    )
    assert leaving != headers["gemm.cuh"]
    options = [*compiling.OPTIONS, "--ptxas-options=-v"]
    _, log = compiling.compile_source(source(rung), {**headers, "gemm.cuh": leaving}, name, options)
    assert "C7518" in log

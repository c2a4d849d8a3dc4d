"""`tmalab check` and `tmalab predict` as a shell runs them: inputs, exit codes, outputs, batches and their speed."""

import io
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tmalab.cli import main, report
from tmalab.inputs.cpp_call import looks_like

ROOT = Path(__file__).parents[2]
FLAGS = ["--dtype", "float16", "--global-dim", "128,16", "--global-strides", "256", "--box-dim", "64,8"]
FLAGS += ["--swizzle", "128B"]
MAP = {"dtype": "float16", "global_dim": [128, 16], "global_strides": [256], "box_dim": [64, 8], "swizzle": "128B"}
BAD = MAP | {"box_dim": [96, 8]}


def feed(monkeypatch, data: bytes | str) -> None:
    raw = data.encode() if isinstance(data, str) else data
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))


def test_flags(capsys):
    assert main(["check", *FLAGS]) == 0
    assert capsys.readouterr().out.splitlines()[-5:] == [
        "legal on sm_90", "  transaction_bytes = 1024", "  footprint_bytes = 1024", "  last_byte = 4095",
        "  row_bytes = 128",
    ]  # fmt: skip


def test_an_illegal_descriptor_is_told_value_limit_and_fix(capsys):
    assert main(["check", *FLAGS[:-4], "--box-dim", "96,8", "--swizzle", "128B"]) == 1
    out = " ".join(capsys.readouterr().out.split())
    assert "illegal on sm_90: 1 rule broken" in out
    assert "box_dim[0]=96 float16 elements is 192 bytes; SWIZZLE_128B allows 128." in out
    assert "Fix: Use at most 64, or split the row into two boxes." in out


@pytest.mark.parametrize("arguments", [
    ["--box-dim", "64,x.5"], ["--coords", "1,2,3"], ["--arch", "sm_75"], ["--swizzle", "96B"], ["--rank", "3"],
])  # fmt: skip
def test_a_flag_that_cannot_be_read(arguments, capsys):
    try:
        code = main(["check", *FLAGS, *arguments])
    except SystemExit as stopped:  # argparse's own: a flag that it does not know
        code = stopped.code
    assert code == 2
    assert capsys.readouterr().err.startswith(("tmalab check:", "usage:"))


def test_negative_lists_are_values(capsys):
    code = main(["check", *FLAGS, "--coords", "-8,-1", "--direction", "store"])
    assert code == 1
    assert "coords[1]=-1" in capsys.readouterr().out


@pytest.mark.parametrize("indent", [None, 1])
def test_standard_input_and_files(indent, monkeypatch, tmp_path, capsys):
    text = json.dumps(BAD, indent=indent)
    feed(monkeypatch, text)
    assert main(["check", "-"]) == 1
    feed(monkeypatch, text)
    assert main(["check"]) == 1
    file = tmp_path / "descriptor.json"
    file.write_text(text)
    assert main(["check", str(file)]) == 1
    first, second, third = capsys.readouterr().out.split("tiled float16")[1:]
    assert first == second == third


def test_the_text_itself(capsys):
    assert main(["check", "Sw<3,4,3> o 0 o (8,64):(64,1)", "--dtype", "half"]) == 0
    assert "swizzle 128B with box_dim [64, 8]" in " ".join(capsys.readouterr().out.split())
    assert main(["check", "16,128:128,1:float16", "--box", "8,64", "--swizzle", "128B"]) == 0
    assert main(["check", "--array", "16,128:128,1:float16", "--box", "8,64", "--coords", "4,0"]) == 1
    assert main(["check", json.dumps(MAP), "--storage-bytes", "100"]) == 0
    assert "descriptor_extent_exceeds_allocation" in capsys.readouterr().out


def test_an_architecture_beside_another_in_the_text_is_refused(capsys):
    text = json.dumps(MAP | {"arch": "sm_100"})
    assert main(["check", text]) == 0
    assert "legal on sm_100" in capsys.readouterr().out
    assert main(["check", text, "--arch", "sm_90"]) == 2
    assert "--arch says sm_90. Fix: leave out --arch, or the arch in the text" in capsys.readouterr().err


DUMP = """TMA Desc Addr:   0x7ffd7d2800c0
format         6
dim            2
gmem_address   0x7f0000000000
globalDim      (128,16,1,1,1)
globalStrides  (2,256,0,0,0)
boxDim         (64,8,1,1,1)
elementStrides (1,1,1,1,1)
interleave     0
swizzle        3
l2Promotion    0
oobFill        0
"""
CALL = """cuTensorMapEncodeTiled(&m, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 1, p, (cuuint64_t[]){64}, nullptr,
    (cuuint32_t[]){64}, (cuuint32_t[]){1}, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
    CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);"""


@pytest.mark.parametrize("text", [json.dumps(MAP), DUMP, CALL, " ".join(FLAGS)], ids=["json", "dump", "cpp", "flags"])
@pytest.mark.parametrize(("flag", "value"), [
    ("--box", "32,8"), ("--box-dim", "64,8"), ("--swizzle", "64B"), ("--dtype", "float16"), ("--interleave", "16B"),
    ("--l2-promotion", "128B"), ("--oob-fill", "nan"), ("--global-dim", "1,2"), ("--global-strides", "256"),
    ("--element-strides", "1,1"), ("--address", "64"), ("--lower-corner", "0,0"), ("--array", "16,128::float16"),
    ("--layout", "(8,64):(64,1)"),
])  # fmt: skip
def test_what_says_the_map_is_refused_beside_a_text_that_says_it(text, flag, value, capsys):
    assert main(["check", text]) == 0
    capsys.readouterr()
    assert main(["check", text, flag, value]) == 2
    err = capsys.readouterr().err
    assert f" {flag}=" in err
    assert f"Fix: leave out {flag}, or" in err


@pytest.mark.parametrize(("arguments", "words"), [
    (["16,128:128,1:float16", "--dtype", "float32"], "--dtype='float32': the text says 'float16'"),
    (["16,128:128,1:float16", "--box", "8,64", "--box-dim", "4,64"], "--box=[8, 64]: said a second time"),
    (["Sw<3,4,3> o 0 o (8,64):(64,1)", "--swizzle", "64B"], "--swizzle='64B': the text says a CuTe layout"),
    (["Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)", "--dtype", "float32"], "elements of 16 bits"),
    (['{"mode": "layout_query", "tile": [8, 64], "element": [0, 0]}', "--box", "8"], "--box=[8]: the text says a lay"),
])  # fmt: skip
def test_a_word_of_the_map_that_nothing_takes_is_refused(arguments, words, capsys):
    assert main(["check", *arguments]) == 2
    assert words in capsys.readouterr().err


def test_a_word_of_the_map_goes_to_what_has_none(capsys):
    assert main(["check", "16,128:128,1:half", "--box-dim", "8,64", "--dtype", "float16", "--swizzle", "64B"]) == 1
    assert "SWIZZLE_64B allows 64" in capsys.readouterr().out
    assert main(["check", json.dumps(MAP), "--base-align", "8"]) == 1
    assert "base_address_align_16" in capsys.readouterr().out
    assert main(["check", "16,128:128,1:half", "--box", "8,64", "--live-rows", "3"]) == 0
    assert "unmasked_rows" in capsys.readouterr().out


def test_the_help_says_which_flags_go_beside_an_input(capsys):
    with pytest.raises(SystemExit):
        main(["check", "--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert "beside an input that says a whole map these are refused" in shown


@pytest.mark.parametrize(("data", "place", "words"), [
    (json.dumps(MAP).replace('"box', '\n "box').replace(" 8]", " 8.5]"), "line 2, column 18", "not an integer"),
    ('{"dtype"', "line 1, column 9", "not JSON"), ("", "line 1, column 1", "empty"),
    ("what\nis this", "line 1, column 1", "Tried"),
    (b'{"dtype": "\xff"}', "line 1, column 12", "not UTF-8"), (b"\xff\xfe{\x00}\x00", "line 1, column 1", "not UTF-8"),
])  # fmt: skip
def test_what_cannot_be_read_says_where(data, place, words, monkeypatch, capsys):
    feed(monkeypatch, data)
    assert main(["check", "-"]) == 2
    err = capsys.readouterr().err
    assert place in err
    assert words in err


def test_a_missing_file_and_one_that_may_not_be_read(tmp_path, capsys):
    assert main(["check", "no/such/file.json"]) == 2
    assert "no such file" in capsys.readouterr().err
    assert main(["check", str(tmp_path)]) == 2


def test_json_for_tools(capsys):
    assert main(["check", *FLAGS, "--json", "--coords", "3,0"]) == 1
    made = json.loads(capsys.readouterr().out)
    assert (made["schema"], made["verdict"], made["rule"]) == (1, "fault", "inner_coordinate_16B")
    assert made["faults"][0]["cuda_error"] == "ILLEGAL_INSTRUCTION"
    assert main(["check", "{", "--json"]) == 2
    error = json.loads(capsys.readouterr().out)["error"]
    assert (error["line"], error["column"]) == (1, 2)


def test_the_host_code_only_of_a_legal_map(capsys):
    assert main(["check", *FLAGS, "--cuda"]) == 0
    assert looks_like(capsys.readouterr().out)
    assert main(["check", json.dumps(BAD), "--cuda"]) == 1
    captured = capsys.readouterr()
    assert "mend the descriptor first" in captured.err
    assert "cuTensorMapEncodeTiled(\n" not in captured.out


def test_a_rule_s_page(capsys):
    assert main(["check", "--explain", "smem_dst_align_128"]) == 0
    assert "CUDA_ERROR_MISALIGNED_ADDRESS" in capsys.readouterr().out
    assert main(["check", "--explain", "all"]) == 0
    assert "box_dim_range_1_256" in capsys.readouterr().out.split()
    assert main(["check", "--explain", "smem_align"]) == 2


def test_a_table_on_a_terminal(monkeypatch, capsys):
    pytest.importorskip("rich")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "120")
    assert main(["check", json.dumps(BAD)]) == 1
    table = capsys.readouterr().out
    assert "┃" in table or "│" in table
    assert "box_inner_le_swizzle_span" in table
    assert main(["check", json.dumps(BAD), "--plain"]) == 1
    assert "│" not in capsys.readouterr().out


def test_without_rich_the_same_is_plain(monkeypatch, capsys):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setitem(sys.modules, "rich.console", None)
    assert main(["check", json.dumps(BAD)]) == 1
    assert "broken: box_inner_le_swizzle_span" in capsys.readouterr().out


# --- batches ----------------------------------------------------------------------------------------------------------

LINES = "\n".join(map(json.dumps, (MAP, BAD, {"box": 1}, MAP | {"address": 0})))


def test_a_batch_has_a_line_each_and_a_total(monkeypatch, capsys):
    feed(monkeypatch, LINES)
    assert main(["check", "-"]) == 2
    assert capsys.readouterr().out.splitlines() == [
        "1: legal", "2: illegal: box_inner_le_swizzle_span (box_dim[0]: 192, limit 128)",
        "3: unreadable: line 3, column 1: dtype=None: missing. Fix: give the element type, such as float16.",
        "4: legal  (unwise: null_global_address)", "4 checked: 2 legal, 1 illegal, 1 unreadable",
    ]  # fmt: skip


def test_a_batch_as_json_lines(monkeypatch, capsys):
    feed(monkeypatch, f"[{LINES.replace(chr(10), ',')}]")
    assert main(["check", "-", "--json"]) == 2
    *lines, total = map(json.loads, capsys.readouterr().out.splitlines())
    assert [line["verdict"] for line in lines] == ["accept", "reject", "unreadable", "accept"]
    assert total == {"schema": 1, "total": {"legal": 2, "illegal": 1, "unreadable": 1}}
    assert all(line["schema"] == 1 for line in lines)


def test_a_batch_of_legal_ones_is_legal(monkeypatch, capsys):
    feed(monkeypatch, f"{json.dumps(MAP)}\n" * 2500)
    assert main(["check", "-"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[-1] == "2500 checked: 2500 legal, 0 illegal, 0 unreadable"
    assert len(out) == 2501


def test_lines_of_flags_are_a_batch(monkeypatch, capsys):
    line = " ".join(FLAGS)
    feed(monkeypatch, f"{line}\n{line.replace('64,8', '96,8')}\n{line} --rank two\n")
    assert main(["check", "-"]) == 2
    out = capsys.readouterr().out.splitlines()
    assert [words.partition(":")[0] for words in out[:3]] == ["1", "2", "3"]
    assert out[-1] == "3 checked: 1 legal, 1 illegal, 1 unreadable"


def test_the_throughput_of_a_batch(monkeypatch, capsys):
    """100,000 in 6 s, held here with room for a loaded machine; benchmarks measure it properly."""
    feed(monkeypatch, "\n".join(json.dumps(case) for case in (MAP, BAD) * 2500))
    start = time.process_time()
    main(["check", "-"])
    assert (time.process_time() - start) / 5000 < 200e-6
    capsys.readouterr()


def shell(*arguments: str, **options) -> subprocess.CompletedProcess:
    program = [sys.executable, "-m", "tmalab", *arguments]
    return subprocess.run(program, cwd=ROOT, capture_output=True, check=False, timeout=60, **options)


def test_a_cold_start_loads_little():
    done = shell("check", *FLAGS, env={**os.environ, "PYTHONPROFILEIMPORTTIME": "1"})
    assert done.returncode == 0
    loaded = {line.rsplit("|", 1)[-1].strip() for line in done.stderr.decode().splitlines()}
    assert not loaded & {"numpy", "rich", "dataclasses", "inspect", "matplotlib", "tmalab.figures"}


def test_a_terminal_that_cannot_show_a_sign_gets_its_number():
    done = shell("check", *FLAGS, "--smem-base", "640", env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0
    assert done.stdout.isascii()


# --- predict ----------------------------------------------------------------------------------------------------------


def test_predict_prints_the_swizzle(capsys):
    assert main(["predict", *FLAGS]) == 0
    assert capsys.readouterr().out.splitlines()[3:6] == [
        "        0    0.0  0.1  0.2  0.3  0.4  0.5  0.6  0.7",
        "      128    1.1  1.0  1.3  1.2  1.5  1.4  1.7  1.6",
        "      256    2.2  2.3  2.0  2.1  2.6  2.7  2.4  2.5",
    ]


def test_predict_follows_the_base_and_shows_what_is_not_written(capsys):
    assert main(["predict", *FLAGS[:-2], "--swizzle", "none", "--smem-base", "128"]) == 0
    assert "      128    0.0" in capsys.readouterr().out
    assert (
        main(["predict", *FLAGS[:-4], "--box-dim", "8,4", "--swizzle", "64B", "--smem-base", "256", "--lines", "1"])
        == 0
    )
    out = capsys.readouterr().out
    assert "      256      ·    ·  0.0    ·" in out
    assert "1 more lines" in out


def test_predict_as_json_and_drawn(tmp_path, capsys):
    assert main(["predict", *FLAGS, "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["schema"] == 1
    assert made["lines"][1] == {"byte": 128, "chunks": [[1, c ^ 1] for c in range(8)]}
    svg, png = tmp_path / "map.svg", tmp_path / "map.png"
    assert main(["predict", *FLAGS, "--svg", str(svg)]) == 0
    assert ">1.1<" in svg.read_text()
    pytest.importorskip("matplotlib")
    assert main(["predict", *FLAGS, "--png", str(png)]) == 0
    assert png.read_bytes().startswith(b"\x89PNG")


def test_predict_refuses_what_no_copy_does(monkeypatch, tmp_path, capsys):
    assert main(["predict", json.dumps(BAD)]) == 1
    assert main(["predict", "{"]) == 2
    feed(monkeypatch, LINES)
    assert main(["predict", "-"]) == 2
    assert main(["predict", "16,128:128,1:float16"]) == 2
    assert "no box" in capsys.readouterr().err
    assert main(["predict", *FLAGS, "--svg", str(tmp_path / "no" / "map.svg")]) == 2
    assert "Fix: name a file" in capsys.readouterr().err
    assert main(["predict", *FLAGS, "--lines", "0"]) == 2
    assert "lines=0" in capsys.readouterr().err


def test_the_report_has_words_for_every_verdict():
    verdicts = "accept reject fault fault_possible wrong_data mixed table mapping needs_fence unreadable"
    verdicts += " completes hang race error ok contested conflict_degree"
    assert set(report._LEGAL) == set(verdicts.split())

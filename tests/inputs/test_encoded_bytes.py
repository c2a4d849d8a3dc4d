"""The 128 bytes of a map in every form in which somebody may have them, against what an H200's driver wrote."""

import shutil
import struct
import subprocess
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tmalab import TensorMap, observe
from tmalab.checker import check_text
from tmalab.cli import main
from tmalab.experiment import catalogue
from tmalab.inputs.byte_dump import looks_like, pieces
from tmalab.inputs.detect import read_text
from tmalab.inputs.encoded_bytes import PLACES
from tmalab.inputs.position import UnreadableError
from tmalab.model.encoded_map import ENCODED_BYTES, bits_of

SEEN = [
    (TensorMap.from_dict(case.params["tensor_map"]), observe(case, live=False)) for case in catalogue.group("encode")
]
ENCODED = [(tm, seen["encoded"].tobytes()) for tm, seen in SEEN if seen["accepted"]]
BASE = ENCODED[0][1]
ADDRESS = 0x7FFFFFFFD800
LONG = 300_000  # characters of a text, of which a pattern that takes their square would take minutes


def gdb(data: bytes, *, width: int = 4, at: int = ADDRESS, symbol: str = "") -> str:
    """As gdb's `x` prints them: 8 single bytes, or 16 bytes of wider words, a line."""
    lines, line = [], 8 if width == 1 else 16
    for start in range(0, len(data), line):
        words = (int.from_bytes(data[i : i + width], "little") for i in range(start, start + line, width))
        name = f" <{symbol}+{start}>" if symbol and start else f" <{symbol}>" if symbol else ""
        lines.append("\t".join([f"{at + start:#x}{name}:", *(f"0x{word:0{2 * width}x}" for word in words)]))
    return "\n".join(lines)


def printed(data: bytes) -> str:
    """As gdb's `print` shows them: a run of ten or more equal numbers is told by its length."""
    words, parts, index = struct.unpack("<16Q", data), [], 0
    while index < len(words):
        times = next((n for n, word in enumerate(words[index:]) if word != words[index]), len(words) - index)
        if times >= 10:
            parts.append(f"{words[index]} <repeats {times} times>")
        else:
            parts += [str(words[index])] * times
        index += times
    return f"$1 = {{opaque = {{{', '.join(parts)}}}}}"


def xxd(data: bytes) -> str:
    rows = [data[start : start + 16] for start in range(0, len(data), 16)]
    shown = (" ".join(row[i : i + 2].hex() for i in range(0, 16, 2)) for row in rows)
    letters = ("".join(chr(byte) if 32 <= byte < 127 else "." for byte in row) for row in rows)
    return "\n".join(f"{16 * n:08x}: {one}  {two}" for n, (one, two) in enumerate(zip(shown, letters, strict=True)))


def hexdump(data: bytes) -> str:
    """As `hexdump -C`: a line that repeats is a star."""
    lines, last = [], None
    for start in range(0, len(data), 16):
        row = data[start : start + 16]
        if row != last:
            letters = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in row)
            lines.append(f"{start:08x}  {row[:8].hex(' ')}  {row[8:].hex(' ')}  |{letters}|")
        elif lines[-1] != "*":
            lines.append("*")
        last = row
    return "\n".join([*lines, f"{len(data):08x}"])


def words(data: bytes, code: str = "32I") -> list[int]:
    return list(struct.unpack(f"<{code}", data))


FORMS = {
    "gdb, words": gdb,
    "gdb, giant words": lambda data: gdb(data, width=8),
    "gdb, half words": lambda data: gdb(data, width=2),
    "gdb, bytes": lambda data: gdb(data, width=1, symbol="map"),
    "gdb, of a member": lambda data: gdb(data, symbol="Kernel<128, Tile<64>>::map"),
    "gdb, with its prompt": lambda data: f"(cuda-gdb) x/32xw &map\n{gdb(data)}\n(cuda-gdb) ",
    "gdb, piped": lambda data: f"(gdb) (gdb) {gdb(data)}\n(gdb) quit",
    "gdb, on Windows": lambda data: gdb(data).replace("\n", "\r\n"),
    "gdb, printed": printed,
    "gdb, printed in hexadecimal": lambda data: f"{{opaque = {{{', '.join(map(hex, words(data, '16Q')))}}}}}",
    "gdb, in a struct": lambda data: f"(gdb) p/x params\n{{n = 0x10, a = {printed(data)[5:]}, p = 0x0}}",
    "gdb, the member": lambda data: printed(data).replace("{opaque = {", "{").replace("}}", "}"),
    "xxd": xxd,
    "xxd, of a prompt": lambda data: f"$ xxd map.bin\n{xxd(data)}\n",
    "xxd -i": lambda data: (
        f"unsigned char map_bin[] = {{\n  {', '.join(map(hex, data))}\n}};\nunsigned int map_bin_len = 128;\n"
    ),
    "hexdump -C": hexdump,
    "hexadecimal": bytes.hex,
    "hexadecimal, spaced": lambda data: data.hex(" ", 4),
    "hexadecimal, in lines": lambda data: "\n".join(data.hex()[at : at + 60] for at in range(0, 256, 60)) + "\n",
    "hexadecimal, in Python": lambda data: f'bytes.fromhex("{data.hex()}")',
    "Python": repr,
    "Python, at its prompt": lambda data: f">>> tm.encode()\n{data!r}\n",
    "bytearray": lambda data: repr(bytearray(data)),
    "bytes": lambda data: str(list(data)),
    "words, in C": lambda data: "uint32_t words[32] = {" + ", ".join(f"{w:#x}u" for w in words(data)) + "};",
    "words, of the struct": lambda data: "CUtensorMap map = {{" + ", ".join(map(hex, words(data, "16Q"))) + "}};",
    "words, alone": lambda data: " ".join(f"0x{w:08x}" for w in words(data)),
    "giant words": lambda data: str(words(data, "16Q")),
    "giant words, signed": lambda data: f"tensor({words(data, '16q')})",
    "giant words, numpy": lambda data: f"array({words(data, '16Q')}, dtype=uint64)",
}


@pytest.mark.parametrize("form", FORMS)
def test_every_recorded_encoding_reads_back_in_every_form(form):
    assert len(ENCODED) > 100
    for tm, data in ENCODED:
        [reading] = read_text(FORMS[form](data))
        assert reading.form == "encoded"
        assert reading.tensor_map() == tm
        assert reading.fields["encoded"] == data


@pytest.mark.parametrize("form", ["gdb, words", "hexadecimal"])
def test_an_encoding_is_answered_as_its_descriptor_is(form):
    for tm, data in ENCODED:
        answer = check_text(FORMS[form](data))
        assert (answer.tensor_map, answer.violations, answer.warnings) == (tm, (), tuple(tm.warnings()))
        assert [fault.rule for fault in answer.faults] == ["null_global_address"] * (tm.address == 0)
        assert [note.message for note in answer.notes] == [PLACES]


@pytest.mark.parametrize("command", [
    ("xxd",), ("xxd", "-g1"), ("xxd", "-c", "8"), ("xxd", "-p"), ("xxd", "-i"), ("hexdump", "-C"), ("hexdump",),
    ("od", "-tx1", "-Ax"), ("od", "-tx1"), ("od", "-tx2"), ("od", "-tx4", "-Ax"), ("od", "-tx8", "-v"),
])  # fmt: skip
def test_what_the_tools_print_is_read(command, tmp_path):
    if not shutil.which(command[0]):
        pytest.skip(f"no {command[0]} on this machine")
    for tm, data in ENCODED[:20]:
        (tmp_path / "map.bin").write_bytes(data)
        dump = subprocess.run([*command, tmp_path / "map.bin"], capture_output=True, text=True, check=True).stdout
        [reading] = read_text(dump)
        assert reading.tensor_map() == tm


def test_letters_beside_a_dump_are_no_bytes():
    """Bytes 0x30 to 0x66 show as letters that are hexadecimal digits themselves."""
    data = b"0123456789abcdef" * 8
    for dump in (xxd(data), hexdump(data), xxd(data).replace(": ", ":  ")):
        [piece] = pieces(dump)
        assert piece.data == data


def test_a_file_of_the_bytes_is_read(tmp_path, capsys):
    path = tmp_path / "maps.bin"
    path.write_bytes(BASE + ENCODED[1][1])
    assert main(["check", str(path), "--json"]) in (0, 1)
    assert capsys.readouterr().out.count('"form": "encoded"') == 2


def test_a_file_of_no_whole_map_is_no_text(tmp_path, capsys):
    path = tmp_path / "map.bin"
    path.write_bytes(BASE[:127])
    assert main(["check", str(path)]) == 2
    assert "not UTF-8" in capsys.readouterr().err


def test_digits_may_be_the_argument_itself(capsys):
    assert main(["check", BASE.hex()]) == 0
    assert "tiled float16: global_dim [64, 16, 8, 4, 2]" in capsys.readouterr().out


def test_several_maps_are_several_answers():
    both = BASE + ENCODED[5][1]
    for text in (
        gdb(both), both.hex(), str(words(both, "32Q")), printed(BASE) + "\n" + printed(ENCODED[5][1]),
        gdb(BASE) + "\n" + gdb(BASE, at=1 << 40),
    ):  # fmt: skip
        assert check_text(text).facts["count"] == 2


# --- where it lies ----------------------------------------------------------------------------------------------------


def test_a_map_that_lies_askew_is_told():
    for width in (1, 2, 4, 8):
        assert check_text(gdb(BASE, width=width)).verdict == "accept"
        answer = check_text(gdb(BASE, width=width, at=ADDRESS + 32))
        assert (answer.verdict, answer.rule) == ("fault", "tensormap_address_align_64")
        assert answer.faults[0].value == ADDRESS + 32
        assert "at 0x7fffffffd820, 32 past a multiple of 64" in answer.notes[-1].message


def test_what_is_said_beside_the_bytes_holds_too():
    assert check_text(BASE.hex(), {"descriptor_align": 32}).rule == "tensormap_address_align_64"
    assert check_text(BASE.hex(), {"coords": [1, 0, 0, 0, 0]}).rule == "inner_coordinate_16B"
    assert check_text(BASE.hex(), {"expect_tx_bytes": 128}).warnings[0].rule == "expect_tx_equals_delivered"


def test_a_place_that_is_no_address_is_not_held_against_it():
    assert check_text(gdb(BASE, at=0x210)).verdict == "accept"  # among a kernel's parameters
    assert check_text(xxd(BASE).replace("000000", "123456")).verdict == "accept"  # in a file


# --- what is no map, or not quite -------------------------------------------------------------------------------------


def replaced(field: str, value: int, data: bytes = BASE) -> bytes:
    whole = int.from_bytes(data, "little")
    for first, count in bits_of(field):
        whole = whole & ~((1 << count) - 1 << first) | (value & (1 << count) - 1) << first
        value >>= count
    return whole.to_bytes(ENCODED_BYTES, "little")


@pytest.mark.parametrize(("data", "field", "value", "made"), [
    (replaced("box_dim[1]", 3), "box_bytes", 64, 128), (replaced("swizzle", 2), "pattern_bytes", 16, 512),
    (replaced("pattern_bytes", 0), "pattern_bytes", 0, 16), (replaced("tf32", 1), "tf32", 1, 0),
    (replaced("rank", 3), "global_dim[4]", 1, 0), (BASE[:127] + b"\x80", "encoded", [1023], None),
])  # fmt: skip
def test_what_the_driver_did_not_write_is_told(data, field, value, made):
    answer = check_text(data.hex())
    found = {each.field: each for each in answer.warnings if each.rule == "encoded_as_the_driver_writes"}
    assert (found[field].value, found[field].limit) == (value, made)


def test_a_map_that_the_driver_refuses_was_changed():
    answer = check_text(replaced("box_dim[0]", 0).hex())
    assert (answer.verdict, answer.rule) == ("reject", "box_inner_bytes_multiple_16")
    assert "changed after they were encoded" in answer.notes[-1].message


@pytest.mark.parametrize(("text", "said"), [
    ("00" * 128, "all 128 bytes are 0: no map was encoded here"),
    (gdb(bytes(128)), "of a map that it refuses the driver writes nothing"),
    (printed(bytes(128)), "all 128 bytes are 0"),
    (gdb(BASE[:64]), "64 bytes were read; a map has 128"),
    (BASE.hex()[:-2], "127 bytes were read; a map has 128"),
    (BASE.hex()[:-1], "255 hexadecimal digits"),
    (str(list(BASE[:-1])), "127 numbers; a map is 16 of 8 bytes"),
    (repr(BASE[:100]), "100 bytes were read"),
    ("b''", "0 bytes were read"),
    ("opaque = {1, two}", "not a number"),
    (f"opaque = {{{1 << 64}}}", "does not fit into 8 bytes"),
    ("opaque = {1, 2}", "16 bytes were read"),
    ("0x10: 0x123", "0x123 has 3 digits"),
    ("\n".join(line for line in gdb(BASE).splitlines() if "d820:" not in line),
     "32 bytes were read, and the next address is 0x7fffffffd830, not 0x7fffffffd820"),
    (replaced("dtype", 15).hex(), "dtype is 15, which stands for nothing"),
    (replaced("interleave", 3).hex(), "interleave is 3, which stands for nothing"),
    (replaced("rank", 5).hex(), "rank is 6, which stands for nothing"),
    (bytes(range(1, 129)).hex(), "bits are set that belong to no field"),
    ("ff" * 128, "bits are set that belong to no field"),
    (gdb(BASE * 600), "over 65536 bytes"),
    ("b'\\x0'", "no bytes as Python writes them"),
])  # fmt: skip
def test_what_is_no_map_is_told(text, said):
    answer = check_text(text)
    errors = [part.error for part in (answer.parts or (answer,)) if part.error]
    assert any(said in str(error) and error.form == "encoded" for error in errors), errors


def turned(data: bytes, code: str) -> bytes:
    return struct.pack(f">{code}", *struct.unpack(f"<{code}", data))


@pytest.mark.parametrize(("turn", "said"), [
    (lambda data: turned(data, "32I"), "the bytes of each 4-byte word stand the wrong way round"),
    (lambda data: turned(data, "16Q"), "the bytes of each 8-byte word stand the wrong way round"),
    (lambda data: turned(data, "64H"), "the bytes of each 2-byte word stand the wrong way round"),
    (lambda data: struct.pack("<32I", *(words(data)[i ^ 1] for i in range(32))), "the halves of each 8-byte word"),
    (lambda data: data[::-1], "all 128 bytes stand the wrong way round"),
    (lambda data: struct.pack("<16Q", *words(data, "16Q")[::-1]), "the 8-byte words stand the wrong way round"),
    (lambda data: struct.pack("<32I", *words(data)[::-1]), "the 4-byte words stand the wrong way round"),
])  # fmt: skip
def test_bytes_in_another_order_are_told_and_what_they_would_be(turn, said):
    for tm, data in ENCODED:
        answer = check_text(turn(data).hex())
        assert said in answer.error.message
        assert f"{tm.dtype}, global_dim {' x '.join(map(str, tm.global_dim))}" in answer.error.message


def test_an_im2col_map_is_told_as_one():
    seen = 0
    for case in catalogue.group("facts"):
        if case.probe != "encode" or case.params["tensor_map"]["kind"] != "im2col":
            continue
        if (shot := observe(case, live=False))["accepted"]:
            seen += 1
            tm = case.params["tensor_map"]
            answer = check_text(gdb(shot["encoded"].tobytes()))
            dims = " x ".join(map(str, tm["global_dim"]))
            assert f"an im2col map's bytes, of a tensor of {dims} at {tm['address']:#x}" in answer.error.message
    assert seen == 4


# --- what is something else -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [
    "[1, 2, 3]", "[]", "[1, 2, 3, 4, 5, 6, 7, 8]", '{"opaque": [1, 2]}', "(8,64):(64,1)", "64:2:float32",
    "16,128:128,1:float16", "--dtype float16 --box-dim 64", "what is this?", "deadbeef", "b'", "0x10", "10: 20",
    "CUtensorMap map{.opaque = {0}};\ncuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 1);",
    "opaque = {}", "const int x[] = {0};", "* * *", "*\n*\n*",
])  # fmt: skip
def test_other_texts_are_no_bytes(text):
    assert not looks_like(text)
    assert "encoded" not in {reading.form for reading in read_text(text)}


def test_a_dump_of_the_fields_wins_over_bytes_beside_it():
    dump = "TMA Desc Addr:   0x7ffd7d2800c0\nformat         6\ndim            1\n"
    assert check_text(dump + gdb(BASE)).form == "cutlass"
    assert check_text('{"dtype": "float16"}\n' + gdb(BASE)).parts[0].form == "json"


def test_bytes_below_the_call_that_was_stepped_over_are_read():
    assert check_text("42\t  cuTensorMapEncodeTiled(&map,\n(gdb) x/32xw &map\n" + gdb(BASE)).verdict == "accept"


@pytest.mark.parametrize("text", [
    " " * LONG + "x", "[" + " " * LONG + "x", "x" + " " * LONG + "y", "ab " * (LONG // 3) + "x",
    "ab" + " " * LONG + "x", "00:" * (LONG // 3) + "x", "000000 00\n" * (LONG // 10), "000000" + " " * LONG + "x",
    "opaque = {" * (LONG // 10), "opaque" * (LONG // 6), "opaque" + " " * LONG, "0x0:" + " 0x0" * (LONG // 5) + "x",
    "0x0 <" + "a>:" * (LONG // 5), "[" + "1," * (LONG // 2) + "x]", "[1]" + " " * LONG + "x", "*\n" * (LONG // 2),
    "opaque={1 <repeats 99999 times>," + "1 <repeats 65000 times>," * 100 + "}", "0x1 " * (LONG // 5) + "x",
    "b'" + "\\" * LONG, "b'" + "\\\\" * (LONG // 2) + "'",
    "00000000  00 00\n*\n0000ffff  \n" * (LONG // 50), "bytes.fromhex(" + " " * LONG + "x", "(gdb)" * (LONG // 5),
    "(gdb) " * (LONG // 6), "> " * (LONG // 2), "00" * (LONG // 2), "[" * LONG, "b'a' + " + "(" * LONG,
    "bytes.fromhex('" + " " * LONG, "a\n" * (LONG // 2), "0 " * (LONG // 2),
])  # fmt: skip
def test_no_text_takes_long(text):
    before = time.process_time()
    check_text(text)
    assert time.process_time() - before < 10


@given(st.data())
def test_a_damaged_dump_is_answered(data):
    text = FORMS[data.draw(st.sampled_from(sorted(FORMS)))](data.draw(st.sampled_from(ENCODED))[1])
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(start + 40, len(text))))
        text = text[:start] + data.draw(st.text("0123456789abcdefx:,{}[]<>*|' \n\t=-\\", max_size=12)) + text[end:]
    answer = check_text(text)
    assert answer.verdict
    assert answer.error is None or isinstance(answer.error, UnreadableError)
    assert answer.to_dict()


@given(st.binary(min_size=128, max_size=128))
def test_any_128_bytes_are_answered(data):
    for text in (gdb(data), data.hex(), str(list(data))):
        answer = check_text(text)
        assert answer.form == "encoded"
        assert answer.to_dict()

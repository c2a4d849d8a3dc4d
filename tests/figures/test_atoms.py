"""Many atoms in one copy: its tables told again without the model, bytes that were changed, what is refused."""

import gzip
import json
from dataclasses import replace

import pytest

from tmalab.errors import HardwareError, InputError, RecordingError
from tmalab.experiment.atoms_cases import ATOM_GROUPS, ATOM_SWIZZLES, COPIES, atoms_case, fits, flat_cases
from tmalab.figures import AtomsFigure
from tmalab.figures.atoms_state import AtomsState
from tmalab.figures.atoms_tables import atoms_spec, view_words

VIEWS = [(swizzle, group) for swizzle in ATOM_SWIZZLES for group in ATOM_GROUPS]
LEGAL = [view for view in VIEWS if fits(*view)]
REFUSED = [view for view in VIEWS if not fits(*view)]
SPAN = {"none": 0, "32B": 32, "64B": 64, "128B": 128}
legal = pytest.mark.parametrize(("swizzle", "group"), LEGAL)
refused = pytest.mark.parametrize(("swizzle", "group"), REFUSED)


@pytest.fixture(scope="module")
def observe(stand_in):
    """The stand-in's observations, with the bytes that each copy counts."""
    plain = stand_in()

    def seen(case):
        found = plain(case)
        counted = 0 if case.probe == "encode" else 2 * _product(case.params["tensor_map"]["box_dim"])
        return replace(found, values={**found.values, "delivered_bytes": counted})

    return seen


def _product(sizes):
    result = 1
    for size in sizes:
        result *= size
    return result


@pytest.fixture(scope="module")
def figure(observe):
    return AtomsFigure(observe)


def state(spec, swizzle="128B", group=128, col=0, copies="3-D", view="hardware", cell=(0, 0)):
    given = {"swizzle": swizzle, "group": group, "col": col, "copies": copies, "view": view, "cell": cell}
    return AtomsState(spec, given)


def changed(observe, name, byte, flip=0x80):
    """`observe`, but for one bit of the case `name`."""

    def seen(case):
        found = observe(case)
        if case.name != name:
            return found
        smem = found["smem"].copy()
        smem[byte] ^= flip
        return replace(found, arrays={**found.arrays, "smem": smem})

    return seen


# --- the tables, told again ------------------------------------------------------------------------------------------


@legal
@pytest.mark.parametrize("copies", COPIES)
def test_every_chunk_stands_where_the_formula_puts_it(figure, swizzle, group, copies):
    """Group by group, row by row at the pitch; then the bits of the line are XORed onto those of the place."""
    found = state(figure.spec, swizzle, group, copies=copies)
    width, pitch = group // 16, max(group, SPAN[swizzle])
    for number in range(256):
        row, chunk = divmod(number, 16)
        linear = (chunk // width * 16 + row) * pitch + chunk % width * 16
        bits = {"none": 0, "32B": 1, "64B": 3, "128B": 7}[swizzle]
        place = (linear // 16) ^ (linear // 128 & bits)
        assert found.linear.index(number) == linear // 16
        assert found.target[number] == place
        assert found.hardware[place] == number
        assert found.group_of(place) == chunk // width
        assert found.atom_of(place).endswith(f"row {row % 8 if SPAN[swizzle] else row}")
    assert found.compared == sorted(found.target.values())
    assert found.count() == "0 of 256 chunks differ"


@legal
def test_how_many_groups_atoms_and_lines(swizzle, group):
    words = view_words(swizzle, group)
    span = SPAN[swizzle]
    assert words["groups"] == 256 // group
    assert words["lines"] * 128 == 256 // group * 16 * max(group, span)
    assert words["atoms"] * words["atom"] == (words["lines"] * 128 if span else 0)
    assert words["atom"] == 8 * span
    assert words["phases"] == list(range({0: 1, 32: 2, 64: 4, 128: 8}[span]))


def test_the_slice_of_the_issue_is_four_atoms():
    assert view_words("128B", 128)["atoms"] == 4
    assert view_words("128B", 128)["groups"] == 2


@legal
def test_a_column_further_on_changes_the_source_and_no_place(figure, swizzle, group):
    one, other = (state(figure.spec, swizzle, group, col=col) for col in (0, 128))
    assert one.model == other.model == other.hardware
    assert (one.name(0), other.name(0)) == ("row 0, column 0", "row 0, column 128")


@pytest.mark.parametrize("col", [0, 128])
@legal
def test_the_fields_are_those_of_the_cases(figure, swizzle, group, col):
    found = state(figure.spec, swizzle, group, col=col)
    fields = dict(zip(figure.spec["fields"], found.fields, strict=True))
    sides = [atoms_case(swizzle, group, col)], flat_cases(swizzle, group, col)
    for side, cases in enumerate(sides):
        params = [case.params for case in cases]
        for name in ("global_dim", "global_strides", "box_dim"):
            assert fields[name][side] == "{" + ", ".join(map(str, params[0]["tensor_map"][name])) + "}"
        shown = fields["coords"][side].replace(" …", ",")
        wanted = ["{" + ", ".join(map(str, one["coords"])) + "}" for one in params]
        assert all(one in wanted for one in shown.replace("}, ", "}|").split("|"))
        assert shown.startswith(wanted[0])
        assert shown.endswith(wanted[-1])
        assert fields["shared address"][side].endswith(str(params[-1]["smem_base"]))
        assert fields["bytes counted"][side].endswith("4096")
        assert fields["bytes spanned"][side].endswith(str(found.one["lines"] * 128))
    assert found.one["verdicts"][0].endswith(f"0 of {found.one['lines'] * 128 + 128} bytes differ.")


def test_the_fields_follow_the_view(figure):
    def of(name, group, col=0):
        at = figure.spec["fields"].index(name)
        return state(figure.spec, "none", group, col=col).fields[at]

    assert of("global_dim", 128) == ["{64, 16, 4}", "{256, 16}"]
    assert of("global_dim", 32) == ["{16, 16, 16}", "{256, 16}"]
    assert of("global_strides", 64) == ["{512, 64}", "{512}"]
    assert of("box_dim", 128) == ["{64, 16, 2}", "{64, 16}"]
    assert of("coords", 128, 128) == ["{0, 0, 2}", "{128, 0}, {192, 0}"]
    assert of("padding", 32) == ["0 bytes", "0 bytes"]
    assert state(figure.spec, "128B", 32).fields[-1] == ["12288 bytes", "12288 bytes"]
    assert of("bytes counted", 32) == ["4096", "8 × 512 = 4096"]


# --- words -----------------------------------------------------------------------------------------------------------


def test_the_sentence_of_each_way(figure):
    def say(**given):
        return state(figure.spec, **given).sentence()

    assert say(cell=(11, 10)) == (
        "Row 11, column 80 = {16, 11, 1} → g1, atom 3, row 3 → place 2 XOR 3 = 1, as line 27 mod 8 = 3 → "
        "shared byte 3472. Measured: so it is."
    )
    assert say(cell=(11, 10), copies="2-D", view="model", col=128) == (
        "Row 11, column 208 → copy 2 of 2, g1, atom 3, row 3 → place 2 XOR 3 = 1, as line 27 mod 8 = 3 → "
        "shared byte 3472."
    )
    assert say(swizzle="none", group=256, cell=(1, 9)) == (
        "Row 1, column 72 = {72, 1, 0} → g0, row 1 → no swizzle → shared byte 400. Measured: so it is."
    )
    assert "{0, 0, 8}" in say(swizzle="32B", group=32, col=128)


@refused
@pytest.mark.parametrize("copies", COPIES)
def test_a_refused_view_gives_the_rule(figure, swizzle, group, copies):
    found = state(figure.spec, swizzle, group, copies=copies)
    span = SPAN[swizzle]
    assert found.sentence().startswith(
        f"Refused: box_dim[0]={group // 2} float16 elements is {group} bytes; SWIZZLE_{swizzle} allows {span}. "
        f"Use at most {span // 2}, or split the row into "
    )
    assert found.sentence().endswith(" Measured: the driver refuses it.")
    head, (row,) = found.table()
    assert len(head) == len(row)
    assert row[0] == "box_inner_le_swizzle_span"
    assert row[-1] == "refused"
    assert found.fields[-4:] == [["–", "–"]] * 4


def test_a_driver_that_takes_what_the_model_refuses_is_told(observe):
    def lenient(case):
        found = observe(case)
        return replace(found, values={**found.values, "accepted": True}) if case.probe == "encode" else found

    figure = AtomsFigure(lenient, group=256)
    assert figure.sentence().endswith("The driver took it all the same.")
    assert figure.table()[1][0][-1] == "accepted"


# --- bytes that were changed -----------------------------------------------------------------------------------------


@legal
@pytest.mark.parametrize("copies", COPIES)
def test_one_flipped_bit_changes_its_chunk_and_no_other(observe, figure, swizzle, group, copies):
    cases = [atoms_case(swizzle, group, 128)] if copies == "3-D" else flat_cases(swizzle, group, 128)
    case = cases[-1]
    byte = case.params["smem_base"] + 5
    spec, _ = atoms_spec(changed(observe, case.name, byte), "Atoms")
    for view in LEGAL:
        for way in COPIES:
            for col in (0, 128):
                found = state(spec, *view, col=col, copies=way, view="difference")
                hit = (*view, way, col) == (swizzle, group, copies, 128)
                assert found.unequal == ({byte // 16} if hit else set())
                assert found.model == state(figure.spec, *view, col=col).model
    found = state(spec, swizzle, group, col=128, copies=copies)
    number = found.model[byte // 16]
    found = state(spec, swizzle, group, col=128, copies=copies, cell=divmod(number, 16))
    assert f"where the model says {found.name(number)}." in found.sentence()
    assert found.count() == "1 of 256 chunks differs"
    assert [row[-1] for row in found.table()[1]].count("differs") == 1
    assert "1 of " in found.one["verdicts"][1]
    assert "0 of " in found.one["verdicts"][0]


def test_a_byte_behind_the_box_is_seen(observe):
    name = atoms_case("128B", 128, 0).name
    figure = AtomsFigure(changed(observe, name, 4096 + 3), view="difference")
    assert "1 of 257 chunks differs" in figure.svg()
    assert figure.table()[1][-1][:3] == ["4096", "–", "behind the box"]


def test_a_byte_in_the_padding_is_seen(observe):
    name = atoms_case("128B", 64, 0).name
    figure = AtomsFigure(changed(observe, name, 64), group=64)
    row = next(row for row in figure.table()[1] if row[0] == "64")
    assert row[-1] == "differs"
    assert row[-2] == "untouched"
    assert "wrong" in figure.svg()


# --- not measured, failed --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("swizzle", "group"), VIEWS)
def test_without_recordings_it_says_so_everywhere(swizzle, group):
    figure = AtomsFigure(None, swizzle=swizzle, group=group)
    assert figure.source() == "Model, not measured: there is no recording of this state."
    assert "odel, not measured" in figure.sentence()
    assert "model, not measured" in figure.svg()
    assert "0 of" not in figure.svg()


def test_one_missing_copy_leaves_its_way_unmeasured(observe):
    def partly(case):
        if case.name == flat_cases("128B", 128, 0)[1].name:
            raise RecordingError("not recorded yet", field="case", value=case.name)
        return observe(case)

    figure = AtomsFigure(partly, copies="2-D")
    assert figure.sentence().endswith(" Model, not measured.")
    assert "was not measured" in figure.spec["views"][14]["verdicts"][0]
    figure.copies = "3-D"
    assert figure.sentence().endswith(" Measured: so it is.")


def test_a_damaged_recording_and_a_failed_run_are_no_answer(observe):
    def damaged(case):
        raise RecordingError("the recording is damaged", field="file", value="x.npz")

    def failed(case):
        return replace(observe(case), values={"completed": False})

    with pytest.raises(RecordingError, match="damaged"):
        AtomsFigure(damaged)
    with pytest.raises(HardwareError, match="atoms/none/g32/c0 ended with TIMEOUT"):
        AtomsFigure(failed)


# --- the figure as a widget ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("swizzle", "group"), VIEWS)
@pytest.mark.parametrize("view", ["hardware", "difference"])
def test_every_state_has_its_picture_sentence_and_table(observe, figure, swizzle, group, view):
    figure.swizzle, figure.group, figure.view = swizzle, group, view
    assert figure.svg().startswith("<svg ")
    assert "H200" not in figure.svg() + figure.sentence()
    head, rows = figure.table()
    assert {len(row) for row in rows} == {len(head)}
    assert len(figure.data()["table"]) == len(rows) == (256 if fits(swizzle, group) else 1)
    assert set(figure.data()["maps"]) == set(figure.spec["fields"])
    figure.swizzle, figure.group, figure.view = "128B", 128, "hardware"


def test_its_data_is_plain_json_and_small(figure):
    assert json.loads(json.dumps(figure.spec)) == json.loads(json.dumps(figure.spec, separators=(",", ":")))
    assert len(json.dumps(figure.spec, separators=(",", ":"))) <= 40_000
    assert len(gzip.compress(figure.html().encode(), 6)) <= 20_000
    assert repr(figure) == (
        "AtomsFigure(swizzle='128B', group=128, col=0, copies='3-D', view='hardware', cell=(11, 10))"
    )


@pytest.mark.parametrize(
    "given", [{"swizzle": "96B"}, {"group": 96}, {"col": 64}, {"copies": "1-D"}, {"view": "both"}, {"cell": (16, 0)}]
)
def test_a_state_that_it_does_not_have_is_an_error(observe, given):
    with pytest.raises(InputError, match=next(iter(given))):
        AtomsFigure(observe, **given)


def test_another_machine_changes_the_provenance_only(observe):
    def elsewhere(case):
        found = observe(case)
        return replace(found, provenance=replace(found.provenance, gpu="NVIDIA H100"))

    one, other = AtomsFigure(observe), AtomsFigure(elsewhere)
    assert one.spec == other.spec
    assert "H100" in other.source()


def test_the_recordings_fill_every_state():
    from tmalab import observe

    figure = AtomsFigure(lambda case: observe(case, live=False))
    for swizzle, group in VIEWS:
        for copies in COPIES:
            found = state(figure.spec, swizzle, group, copies=copies)
            assert found.measured
            assert found.unequal == set()
            assert found.refused is None or found.refused["accepted"] is False


@pytest.mark.parametrize(
    ("state", "marked"),
    [({}, "in colour"), ({"view": "model"}, "in colour"), ({"view": "difference"}, "framed")],
)
def test_the_still_says_how_the_slice_is_marked(figure, state, marked):
    for name, value in {"view": "hardware", **state}.items():
        setattr(figure, name, value)
    assert f"the slice {marked}" in figure.svg()
    figure.view = "hardware"

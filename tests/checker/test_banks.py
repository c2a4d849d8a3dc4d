"""The checker on access patterns: expressions and lists, one or several, and what is wrong with one is said where."""

import json

import pytest

from tmalab.checker import check_text


def ask(**said):
    return check_text(json.dumps({"mode": "bank_pattern", **said}))


def test_a_list_of_addresses_with_a_lane_off():
    answer = ask(addresses=[0, 128, None, 4], width_bytes=4, op="store")
    assert answer.facts == {"degree": 2, "wavefronts": 2, "fewest_wavefronts": 1, "cycles": 2}
    assert answer.notes[0].message == "2-way; 2 wavefronts for 12 bytes, 1 at the least"
    assert (answer.legal, answer.exit_code, answer.verdict) == (True, 0, "conflict_degree")


def test_an_expression_is_asked_for_as_many_lanes_as_are_named():
    assert ask(addr="128 * lane", lanes=8, width_bytes=16).facts["wavefronts"] == 8
    assert ask(addr="128 * lane", width_bytes=16).facts["wavefronts"] == 32


def test_a_matrix_operation_needs_no_width():
    facts = ask(addr="(lane * 128) ^ ((lane & 7) << 4)", op="stmatrix_x4").facts
    assert (facts["degree"], facts["wavefronts"], facts["fewest_wavefronts"]) == (1, 4, 4)


def test_a_load_that_merges_is_no_worse_than_its_degree_and_takes_fewer_wavefronts():
    assert ask(addr="lane / 2 * 16", width_bytes=16).facts["wavefronts"] == 2
    assert ask(addr="lane / 2 * 16", width_bytes=16, op="store").facts["wavefronts"] == 4


def test_variants_take_what_all_share_and_are_named():
    variants = [{"name": "row", "addr": "4 * lane"}, {"addr": "128 * lane", "width_bytes": 16}]
    answer = ask(width_bytes=4, variants=variants)
    assert answer.facts["degree"] == {"row": 1, "1": 8}
    assert [note.message[:6] for note in answer.notes] == ["row: n", "1: 8-w"]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"width_bytes": 4}, "addr=None: missing"),
        ({"addr": "4 * lane"}, "width_bytes=None: missing"),
        ({"addr": "4 * (lane", "width_bytes": 4}, "column 10"),
        ({"addr": "__import__('os')", "width_bytes": 4}, "column 1"),
        ({"addr": "4 * row", "width_bytes": 4}, "row"),
        ({"addr": "lane, 4", "width_bytes": 4}, "a row and a column"),
        ({"addr": "2 * lane", "width_bytes": 4}, r"addresses\[1\]=2"),
        ({"addr": "4 * lane", "width_bytes": 4, "lanes": 33}, "lanes=33"),
        ({"addr": "4 * lane", "width_bytes": 4, "op": "move"}, "load or store"),
        ({"addr": 7, "width_bytes": 4}, "not a list of addresses"),
        ({"variants": []}, "not a list of patterns"),
        ({"variants": [7]}, r"variants\[0\]=7"),
        ({"variants": [{"adr": "lane"}]}, "unknown key 'adr'"),
        ({"variants": [{"name": "x", "addr": "2 * lane", "width_bytes": 4}]}, r"variants\[0\]='x': addresses\[1\]=2"),
        ({"width_bytes": 1, "variants": [{"name": "a", "addr": "lane"}, {"name": "a", "addr": "lane"}]}, "one name"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(said, words):
    answer = ask(**said)
    assert answer.exit_code == 2
    with pytest.raises(Exception, match=words):
        raise answer.error


@pytest.mark.parametrize("op", [["load"], {}, 7, ""])
def test_an_operation_that_is_no_text_is_refused(op):
    answer = ask(addr="4 * lane", width_bytes=4, op=op)
    assert (answer.exit_code, answer.error.field) == (2, "op")


@pytest.mark.parametrize(
    ("op", "lanes", "degree", "wavefronts"),
    [
        ("ldmatrix", 8, 8, 8),
        ("ldmatrix", 16, 8, 16),
        ("ldmatrix", 32, 8, 32),
        ("ldmatrix.x2", 32, 8, 16),
        ("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", 32, 8, 32),
        ("stmatrix.x1", 8, 8, 8),
    ],
)
def test_a_matrix_operation_may_be_said_as_ptx_says_it(op, lanes, degree, wavefronts):
    facts = ask(addr="128 * lane", op=op, lanes=lanes).facts
    assert (facts["degree"], facts["wavefronts"]) == (degree, wavefronts)


@pytest.mark.parametrize(
    "addr", ["132*tid", "132*lane_id", "132 * threadIdx.x", "132*lane + 4*floor(lane/32)", "132*lane+int((lane%8)/8)"]
)
def test_the_lane_has_other_names_and_a_division_may_be_rounded(addr):
    assert ask(addr=addr, width_bytes=4).facts["degree"] == 1


def test_a_place_is_counted_in_what_was_typed():
    answer = ask(addr="4 * threadIdx.x + 4 * row", width_bytes=4)
    assert "column 23" in str(answer.error)
    assert "floor" in str(ask(addr="floor(lane * 4)", width_bytes=4).error)


def test_a_variants_unknown_key_is_left_aside_where_that_is_asked_for():
    text = json.dumps({"mode": "bank_pattern", "width_bytes": 4, "variants": [{"addr": "4 * lane", "seen": 9}]})
    assert "unknown key 'seen'" in str(check_text(text).error)
    answer = check_text(text, {"keep_unknown": True})
    assert answer.facts["degree"] == {"0": 1}
    assert answer.notes[0].message == "the key 'seen' of a variant is not known and was left aside"

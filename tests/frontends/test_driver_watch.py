"""The watch: a library's own function, its entry replaced and put back; maps found in a launch's parameters."""

from __future__ import annotations

import ctypes
import platform

import pytest

from tmalab import observe
from tmalab.errors import HardwareError
from tmalab.frontends import driver_watch
from tmalab.frontends.driver_watch import Watch, maps_in, watch_call, watch_driver

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="the watch writes x86-64 code")


@pytest.fixture
def library():
    return ctypes.CDLL(None)  # the C library: abs(int) is a function of its own there


def test_a_watched_call_answers_as_before_and_is_noted(library):
    address = ctypes.cast(library.abs, ctypes.c_void_p).value
    before = ctypes.string_at(address, 13)
    noted, missed = [], []
    with watch_call(address, (ctypes.c_int,), lambda *seen: noted.append(seen), missed, []):
        assert ctypes.string_at(address, 13) != before
        assert [library.abs(-7), library.abs(5)] == [7, 5]
    assert ctypes.string_at(address, 13) == before
    assert library.abs(-9) == 9
    assert noted == [(7, -7), (5, 5)]
    assert missed == []


def test_what_goes_wrong_in_the_note_is_kept_and_the_call_answers(library):
    address = ctypes.cast(library.abs, ctypes.c_void_p).value
    missed = []
    with watch_call(address, (ctypes.c_int,), lambda *_: 1 / 0, missed, []):
        assert library.abs(-7) == 7
    assert missed == ["ZeroDivisionError: division by zero"]


def test_one_entry_that_leads_to_another_is_noted_once(library):
    address = ctypes.cast(library.abs, ctypes.c_void_p).value
    noted = []
    with watch_call(address, (ctypes.c_int,), lambda *seen: noted.append(seen), [], [1]):
        assert library.abs(-7) == 7
    assert noted == []


def test_a_map_is_found_in_a_parameter_alone_and_in_a_structure():
    encoded = observe("encode/mixed/1", live=False)["encoded"].tobytes()
    assert list(maps_in(encoded)) == [encoded]
    assert list(maps_in(bytes(64) + encoded + bytes(64))) == [encoded]
    assert list(maps_in(bytes(32) + encoded)) == []  # a descriptor is 64-byte aligned
    assert list(maps_in(bytes(192))) == []


def test_the_maps_of_all_launches_come_each_once():
    encoded = observe("encode/mixed/1", live=False)["encoded"].tobytes()
    watch = Watch(launched=[[b"12345678", encoded], [], [encoded]])
    assert watch.descriptors() == [encoded]


def test_without_a_driver_it_says_so(monkeypatch):
    def missing(name):
        raise OSError("no such file")

    monkeypatch.setattr(driver_watch.c, "CDLL", missing)
    with pytest.raises(HardwareError, match="no driver to watch"), watch_driver():
        pass

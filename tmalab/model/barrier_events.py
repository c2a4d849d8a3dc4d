"""The events of a barrier program, read and checked: who does what to which barrier, buffer or descriptor.

    {"t": "p", "op": "arrive_expect_tx", "bar": "full", "bytes": 4096}
      agent      operation               its fields

>>> [event] = read_events([{"t": "p", "op": "arrive_expect_tx", "bar": "full", "bytes": 4096}])
>>> event.agent, event.op, event.bar, event.amount
('p', 'arrive_expect_tx', 'full', 4096)

`OPS` is the grammar: each operation with its fields, an optional one with a question mark. A field that is not known is
carried along for whoever draws the program; one that looks like a misspelled known one is an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tmalab.errors import InputError, short_repr

MOST_EVENTS = 5_000
ENGINE, EVERY_THREAD, FIRST = "hw", "all", ("init", "host")
OPS: dict[str, tuple[str, ...]] = {
    "init": ("bar", "count", "address?"),
    "arrive": ("bar", "count?"),
    "expect_tx": ("bar", "bytes"),
    "arrive_expect_tx": ("bar", "bytes"),
    "arrive_drop": ("bar", "count?"),
    "complete_tx": ("bar", "bytes"),
    "inval": ("bar",),
    "wait": ("bar", "parity"),
    "test_wait": ("bar", "parity"),
    "tma_load": ("bar", "bytes", "buf?", "desc?", "multicast?"),
    "tma_store": ("buf", "bytes?", "desc?"),
    "commit_group": (),
    "wait_group": ("n", "read?"),
    "st_shared": ("buf",),
    "ld_shared": ("buf",),
    "fence_proxy_async": (),
    "fence_mbarrier_init": (),
    "fence_tensormap_acquire": ("desc?",),
    "cta_sync": (),
    "cluster_sync": (),
    "memcpy_desc": ("desc",),
    "tensormap_replace": ("desc",),
    "st_global_flag": ("flag?",),
    "exit": (),
}
_ALIASES = {"try_wait": "wait"}
KNOWN_OPS = frozenset({*OPS, *_ALIASES})
_FIELDS = {field.rstrip("?") for fields in OPS.values() for field in fields}
_NAMES = ("bar", "buf", "desc", "flag")
_NUMBERS = {"bytes": "bytes", "count": "arrivals", "n": "groups"}
# What a story's is taken for: a wait is for the first phase, a copy has some bytes.
_TOLD = {"bytes": 64, "count": 1, "parity": 0, "n": 0}
# What an operation's number is where it is not said.
_DEFAULTS = {"arrive": 1, "arrive_drop": 1, "tma_store": 0}


class Event(NamedTuple):
    """One event. `amount` is its bytes, arrivals or groups; `number` its place in the list; `said` all of it."""

    number: int
    agent: str
    op: str
    bar: str | None
    amount: int
    parity: int
    buf: str | None
    desc: str | None
    read: bool
    multicast: tuple[int, ...] | bool
    said: Mapping[str, Any]


def read_events(events: Any, *, story: bool = False) -> tuple[Event, ...]:
    """The events of a list of mappings; a story may leave numbers out. Raises InputError for what has no meaning.

    The error's field names the place: `events[3].bytes`.
    """
    if isinstance(events, (str, bytes, Mapping)) or not isinstance(events, Sequence):
        raise InputError("not a list of events", field="events", value=events, fix='give [{"t": …, "op": …}, …]')
    if len(events) > MOST_EVENTS:
        message = f"{len(events)} events; the model takes {MOST_EVENTS}"
        raise InputError(message, field="events", limit=MOST_EVENTS, fix="give fewer turns of the loop")
    return tuple(_event(index, said) for index, said in enumerate(_told(events) if story else events))


def _told(events: Sequence[Any]) -> Iterator[Any]:
    """The events of a story, with the numbers that it leaves out: an agent's waits are for one phase after another."""
    waited: dict[tuple[Any, Any], int] = {}
    for said in events:
        op = said.get("op") if isinstance(said, Mapping) else None
        if not isinstance(op, str) or op not in OPS:
            yield said
            continue
        told = {field: number for field, number in _TOLD.items() if field in OPS[op]}
        if op == "wait":
            at = str(said.get("t")), str(said.get("bar"))
            told["parity"] = waited.get(at, 0) % 2
            waited[at] = waited.get(at, 0) + 1
        yield told | dict(said)


def _event(index: int, said: Any) -> Event:
    place = f"events[{index}]"
    if not isinstance(said, Mapping):
        raise InputError("not an object", field=place, value=said, fix='give {"t": agent, "op": operation, …}')
    agent, op = _word(place, said, "t"), _word(place, said, "op")
    op = _ALIASES.get(op, op)
    if op not in OPS:
        near = _near(op, OPS)
        fix = f"did you mean {near}?" if near else f"use one of {', '.join(OPS)}"
        raise InputError("unknown operation", field=f"{place}.op", value=op, fix=fix)
    if agent == ENGINE and op != "complete_tx":
        fix = "give the event to the thread that issues it; its bytes arrive by complete_tx of hw"
        raise InputError("the engine only completes bytes", field=f"{place}.op", value=op, fix=fix)
    if op == "init" and said.get("address") is not None:
        _integer(f"{place}.address", said["address"], "bytes")
    if agent in FIRST and op in ("wait", "wait_group", "cta_sync", "cluster_sync"):
        raise InputError(f"{agent} acts before every thread and cannot wait", field=f"{place}.op", value=op,
                         fix="give the event to a thread")  # fmt: skip
    _refuse_misspelled(place, op, said)
    needed = [field for field in OPS[op] if field[-1] != "?"]
    for field in needed:
        if said.get(field) is None:
            raise InputError("missing", field=f"{place}.{field}", value=None, fix=f"{op} needs {' and '.join(needed)}")
    number = next((field for known in OPS[op] if (field := known.rstrip("?")) in _NUMBERS), None)
    amount = _DEFAULTS.get(op, 0)
    if number is not None and said.get(number) is not None:
        amount = _integer(f"{place}.{number}", said[number], _NUMBERS[number])
    parity = said.get("parity", 0) if "parity" in OPS[op] else 0
    if isinstance(parity, bool) or not isinstance(parity, int) or parity < 0:
        raise InputError("a parity is 0 or 1", field=f"{place}.parity", value=parity, limit=1,
                         fix="take the count of the barrier's phases modulo 2")  # fmt: skip
    names = {field: _word(place, said, field) for field in _NAMES if said.get(field) is not None}
    return Event(
        index, agent, op, names.get("bar"), amount, parity, names.get("buf"), names.get("desc"),
        _yes_or_no(place, said, "read"), _multicast(place, said.get("multicast")), said,
    )  # fmt: skip


def _refuse_misspelled(place: str, op: str, said: Mapping[str, Any]) -> None:
    missing = [known.rstrip("?") for known in OPS[op] if known.rstrip("?") not in said]
    for field in said if missing else ():
        if field not in _FIELDS and field not in ("t", "op") and (near := _near(str(field), missing)):
            raise InputError("unknown field", field=place, value=field, fix=f"did you mean {near}?")


def _word(place: str, said: Mapping[str, Any], field: str) -> str:
    value = said.get(field)
    if not isinstance(value, str) or not value or len(value) > 200:
        what = "missing" if value is None else "not a name"
        raise InputError(what, field=f"{place}.{field}", value=value, fix="give a short text")
    return value


def _integer(field: str, value: Any, unit: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError("not an integer", field=field, value=value, fix=f"give the number of {unit}")
    if value < 0:
        raise InputError(f"a negative number of {unit}", field=field, value=value, limit=0, fix="give 0 or more")
    if value.bit_length() > 64:
        raise InputError("more than 64 bits", field=field, value=value, fix=f"give the number of {unit}")
    return value


def _yes_or_no(place: str, said: Mapping[str, Any], field: str) -> bool:
    value = said.get(field, False)
    if not isinstance(value, (bool, int)) or value not in (0, 1):
        raise InputError("neither yes nor no", field=f"{place}.{field}", value=value, fix="give true or false")
    return bool(value)


def _multicast(place: str, value: Any) -> tuple[int, ...] | bool:
    """CTA numbers where a list names them; else whether it is one at all."""
    if isinstance(value, (list, tuple)):
        for cta in value:
            if isinstance(cta, bool) or not isinstance(cta, int) or not 0 <= cta < 16:
                raise InputError("a cluster's CTAs are 0 to 15", field=f"{place}.multicast", value=cta, limit=15,
                                 fix="name each CTA by its rank in the cluster")  # fmt: skip
        return tuple(sorted(set(value)))
    if value is not None and not isinstance(value, (bool, int)):
        raise InputError("neither yes nor a list of CTAs", field=f"{place}.multicast", value=value, fix="give [0, 1]")
    if not isinstance(value, bool) and value is not None and not 0 <= value < 1 << 16:
        raise InputError("not a mask of a cluster's CTAs", field=f"{place}.multicast", value=value, limit=(1 << 16) - 1,
                         fix="set bit k for CTA k, or give [0, 1]")  # fmt: skip
    return bool(value)


def _near(name: str, known: Any) -> str:
    from difflib import get_close_matches  # late: only a misspelled word needs it

    return " or ".join(get_close_matches(name[:64].lower(), list(known), n=2, cutoff=0.72))


def place_of(event: Event) -> str:
    """*events[3] (p: arrive_expect_tx full 4096)*, for a message."""
    what = [event.op, *(str(event.said[field]) for field in _NAMES if event.said.get(field))]
    what += [short_repr(event.amount)] if "bytes" in OPS[event.op] else []
    what += [f"parity {event.parity}"] if event.op in ("wait", "test_wait") else []
    what += [f"{event.amount}{' .read' if event.read else ''}"] if event.op == "wait_group" else []
    return f"events[{event.number}] ({event.agent}: {' '.join(what)})"

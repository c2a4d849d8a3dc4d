"""`observe`: what the hardware does with a case: the recording, unless a live run is asked for; it says which.

    observe(case)  ──▶  recorded           the store's, or a RecordingError that says how to get it
                   ──▶  live=True, or TMALAB_SOURCE=live: run now, on this machine's Hopper GPU

>>> observe("zebra")
Traceback (most recent call last):
    ...
tmalab.errors.InputError: case='zebra': no case of this name in the catalogue. Fix: see tmalab observe --list.
"""

from __future__ import annotations

import os
from difflib import get_close_matches

from tmalab.errors import InputError, RecordingError
from tmalab.experiment import catalogue
from tmalab.experiment.case import Case
from tmalab.experiment.observation import Observation
from tmalab.model.tensor_map_fields import integer
from tmalab.recordings.files import REMEDY
from tmalab.recordings.store import MANIFEST, default_store

SOURCE_VARIABLE = "TMALAB_SOURCE"


def observe(case: Case | str, *, live: bool | None = None, repeats: int = 1) -> Observation:
    """What was seen when `case`, a Case or a name from the catalogue, ran on a Hopper GPU; `.source` says when.

    `live=None` follows the environment variable TMALAB_SOURCE: `recorded` (also when unset) or `live`; then the case of
    a front end that is not installed is still read from its recording, and `.source` says that. `repeats`
    is how often a live run is measured; a recording keeps its own. Raises InputError for an unknown name or
    source, RecordingError where nothing is recorded or the recording is damaged, NoHopperGpuError where a live
    run is asked of a machine that cannot.
    """
    if isinstance(case, str):
        case = catalogue.case(case)
    elif not isinstance(case, Case):
        raise InputError("not a case", field="case", value=case, fix="give a Case, or a name from the catalogue")
    if integer("repeats", repeats) < 1:
        raise InputError("nothing to measure", field="repeats", value=repeats, limit=1, fix="use 1 or more")
    if (_live_by_environment() and not _front_end_missing(case)) if live is None else live:
        from tmalab.recordings.live import run_live  # late: a reader without a GPU needs none of it

        return run_live(case, repeats=repeats)
    recorded = default_store().get(case)
    if recorded is None:
        raise _not_recorded(case)
    return recorded


def _live_by_environment() -> bool:
    source = os.environ.get(SOURCE_VARIABLE, "recorded") or "recorded"
    if source not in ("recorded", "live"):
        raise InputError("unknown source", field=SOURCE_VARIABLE, value=source, fix="use recorded or live, or unset it")
    return source == "live"


def _front_end_missing(case: Case) -> bool:
    """Whether the case is a front end's whose package is not here, or not in the version that the case is for."""
    from tmalab.frontends.front_end import FRONT_ENDS

    if case.probe not in FRONT_ENDS:
        return False
    found = FRONT_ENDS[case.probe].version()
    return found is None or case.params.get("version", found) != found


def _not_recorded(case: Case) -> RecordingError:
    """Why there is no recording, and what the reader can do about it."""
    store = default_store()
    recorded = store.cases()
    if not recorded:
        return RecordingError(
            "there are no recordings here", field="file", value=str(store.folder / MANIFEST), fix=REMEDY
        )
    how = "run it on a Hopper GPU with observe(case, live=True)"
    if catalogue.cases().get(case.name) == case:
        how += f", or record it there with `tmalab record --only {case.name.split('/')[0]}`"
        return RecordingError("not recorded yet", field="case", value=case.name, fix=how)
    how += "; to have it recorded, add it to tmalab/experiment/catalogue.py"
    same_name = recorded.get(case.name)
    if same_name is not None:
        differing = sorted(
            name for name in {*same_name.params, *case.params} if same_name.params.get(name) != case.params.get(name)
        )
        what = f"recorded under this name with another {', '.join(differing) or 'probe'}"
        return RecordingError(what, field="case", value=case.name, fix=how)
    near = get_close_matches(case.name[:200], recorded, n=3)
    what = f"not recorded; the nearest that are: {', '.join(near)}" if near else "not recorded"
    return RecordingError(what, field="case", value=case.name, fix=how)

"""`tmalab record`: rewrite the recordings on a Hopper GPU; `tmalab record campaign`: hold the model against it.

    tmalab record --only tile --out DIR
    tmalab record campaign --descriptors 200000 --transfers 40000 --seed 1 --out DIR

Both show how far they are and, after an interruption, go on where they stopped.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add_parser(subparsers: Any) -> None:
    """Add the command and its one sub-command."""
    parser = subparsers.add_parser(
        "record",
        help="rewrite the recordings, or run a campaign, on a Hopper GPU",
        description="Run every case of the catalogue on this machine's Hopper GPU and rewrite the recordings.",
    )
    parser.add_argument(
        "--only", action="append", default=[], metavar="GROUP", help="only this group of cases (may be repeated)"
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder of the recordings (default: the package's)")
    parser.add_argument("--force", action="store_true", help="measure everything anew, whatever an earlier run left")
    inner = parser.add_subparsers(dest="record_what", metavar="campaign", title="sub-commands")
    campaign = inner.add_parser(
        "campaign",
        help="compare random descriptors and transfers with the model",
        description="Ask the driver and the engine about random descriptors and transfers, and the model too.",
    )
    campaign.add_argument("--descriptors", type=int, default=200_000, metavar="N", help="how many (default: 200000)")
    campaign.add_argument("--transfers", type=int, default=40_000, metavar="N", help="how many (default: 40000)")
    campaign.add_argument("--seed", type=int, default=1, metavar="S", help="another seed, other ones (default: 1)")
    campaign.add_argument("--workers", type=int, metavar="N", help="processes (default: one a core, at most 16)")
    # not --out of the outer parser: argparse would let this one's default overwrite what stood before the word
    campaign.add_argument("--out", type=Path, required=True, dest="campaign_out", metavar="DIR", help="results' folder")
    campaign.add_argument("--force", action="store_true", dest="campaign_force", help="do not go on from a journal")


def run(args: argparse.Namespace) -> int:
    """Record, or run the campaign; 1 where the campaign found a disagreement."""
    return _campaign(args) if args.record_what == "campaign" else _record(args)


def _record(args: argparse.Namespace) -> int:
    from tmalab.recordings.recorder import record
    from tmalab.recordings.store import DATA

    out = args.out or DATA
    seen = record(args.only, out=out, force=args.force)
    size = sum(path.stat().st_size for path in out.glob("*"))
    print(f"recorded {len(seen)} cases into {out}, {size / 1e6:.2f} MB in all\n{seen[-1].provenance.line()}")
    return 0


def _campaign(args: argparse.Namespace) -> int:
    from tmalab.recordings.campaign import run_campaign

    summary = run_campaign(
        descriptors=args.descriptors, transfers=args.transfers, seed=args.seed, out=args.campaign_out,
        workers=args.workers, force=args.campaign_force,
    )  # fmt: skip
    wrong = 0
    for kind in ("descriptors", "transfers"):
        wrong += summary[kind]["disagreements"]
        print(f"{summary[kind]['compared']} {kind} compared, {summary[kind]['disagreements']} disagreements")
    print(f"{summary['gpu']}, driver {summary['driver']}; results in {args.campaign_out}")
    return 1 if wrong else 0

"""How long the page "Check my descriptor" takes: from the click until the checker is ready, and then for an answer.

    make book
    python benchmarks/check_page.py                 the book in _build/html; medians, their limits
    python benchmarks/check_page.py --book FOLDER --visits 5 --json FILE

Each visit is a new browser profile, with nothing cached. An answer is timed in the page, from the question's leaving
until the answer stands in it. Exit code 1 if a limit is passed; a busy machine is slow, which the calibration shows.
"""

import argparse
import functools
import http.server
import json
import shutil
import statistics
import sys
import threading
from pathlib import Path
from time import perf_counter

from playwright.sync_api import Page, sync_playwright

from tmalab.checker.explain import rule_ids
from tmalab.checker.rule_examples import example_text

ROOT = Path(__file__).parent.parent
LIMITS_MS = {"ready": 6000.0, "answer": 100.0}


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def calibration_ms() -> float:
    """The same loop in Python, to compare machines by."""
    begun = perf_counter()
    total = 0
    for number in range(3_000_000):
        total += number % 7
    return (perf_counter() - begun) * 1e3


def visit(page: Page, address: str) -> tuple[float, list[float]]:
    """Milliseconds until the checker was ready, and of each answer: every rule's example."""
    page.goto(address)
    page.wait_for_selector(".check[data-mounted]")
    page.get_by_role("button", name="Load the checker").click()
    page.wait_for_selector('.check[data-state="ready"]', timeout=120_000)
    page.wait_for_selector(".check[data-answered]")  # the question that stood there
    ready = float(page.locator(".check").get_attribute("data-ready-ms") or "nan")
    answers = []
    for rule in rule_ids():
        before = int(page.locator(".check").get_attribute("data-answered") or 0)
        page.get_by_label("Your descriptor").fill(example_text(rule))
        page.wait_for_function("n => Number(document.querySelector('.check').dataset.answered) > n", arg=before)
        answers.append(float(page.locator(".check").get_attribute("data-answer-ms") or "nan"))
    return ready, answers


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--book", type=Path, default=ROOT / "_build" / "html", help="the built book")
    parser.add_argument("--visits", type=int, default=5)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every sample here")
    arguments = parser.parse_args()
    if not (arguments.book / "_static" / "tmalab" / "python" / "pyodide").is_dir():
        sys.exit(f"{arguments.book} holds no checker: make book, with npm")

    handler = functools.partial(Quiet, directory=str(arguments.book))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    samples: dict[str, list[float]] = {"calibration": [], "ready": [], "answer": []}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for _ in range(arguments.visits):
            samples["calibration"].append(calibration_ms())
            context = browser.new_context()
            address = f"http://127.0.0.1:{server.server_port}/chapters/check.html"
            ready, answers = visit(context.new_page(), address)
            samples["ready"].append(ready)
            samples["answer"] += answers
            context.close()
        browser.close()
    server.shutdown()

    good = True
    for name, taken in samples.items():
        limit = LIMITS_MS.get(name)
        median, worst = statistics.median(taken), max(taken)
        passed = limit is not None and median > limit
        good &= not passed
        verdict = "" if limit is None else f"limit {limit:g} ms   {'OVER' if passed else 'within'}"
        print(f"{name:12} median {median:8.1f} ms   worst {worst:8.1f} ms   of {len(taken):4}   {verdict}")
    if arguments.json:
        arguments.json.write_text(json.dumps({"schema": 1, "limits_ms": LIMITS_MS, "samples_ms": samples}) + "\n")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

"""Layers import only what lies to their left, and nothing heavier than they need.

    model ← experiment ← hardware ← frontends ← recordings        model ← inputs ← checker
    model, experiment, checker ← figures              cli uses all

What is read from the source (imports, cycles, sizes) is read with `ast`; what really loads is asked of a fresh
Python, one a layer.
"""

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted((ROOT / "tmalab").rglob("*.py"))
}
MAY_IMPORT = {  # a layer: the layers that its modules may name, late imports included
    "errors": {"model"},  # for its annotations alone: test_imports_have_no_cycles sees to that
    "model": {"errors"},
    "experiment": {"errors", "model"},
    "inputs": {"errors", "model"},
    "checker": {"errors", "model", "inputs"},
    "hardware": {"errors", "model", "experiment"},
    "frontends": {"errors", "model", "experiment", "hardware"},
    "recordings": {"errors", "model", "experiment", "hardware", "frontends"},
    "figures": {"errors", "model", "experiment", "checker"},
    "gallery": {"errors", "model", "experiment", "hardware"},
}
# The model reaches the driver in these places only, each inside the one function that needs it.
LATE = {("tmalab.model.tensor_map", "tmalab.hardware.encode")}
MOST_LINES = 300


def layer(module: str) -> str:
    return [*module.split("."), ""][1]


def imports(module: str, *, late: bool) -> Iterator[str]:
    """The tmalab modules that this one imports; with `late`, also inside functions and for annotations only."""
    pending: list[ast.AST] = [ast.parse(MODULES[module].read_text(encoding="utf-8"))]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "tmalab")
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: write imports in full"
            for alias in node.names if (node.module or "").split(".")[0] == "tmalab" else ():
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in MODULES else str(node.module)
        elif not late and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        elif not late and isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            pending.extend(node.orelse)
            continue
        pending.extend(ast.iter_child_nodes(node))


@pytest.mark.parametrize("module", [name for name in MODULES if layer(name) in MAY_IMPORT])
def test_a_layer_names_only_layers_to_its_left(module):
    for imported in imports(module, late=True):
        if (module, imported) not in LATE:
            assert layer(imported) in MAY_IMPORT[layer(module)] | {layer(module)}, f"{module} imports {imported}"


def test_imports_have_no_cycles():
    # Raises CycleError with the modules in a row; a package is itself, not an edge from each of its modules.
    TopologicalSorter({module: set(imports(module, late=False)) for module in MODULES}).prepare()


@pytest.mark.parametrize("package", [name for name, path in MODULES.items() if path.name == "__init__.py"])
def test_no_module_hides_a_name_that_its_package_fetches_late(package):
    # Importing package.x sets package's attribute x to the module; __getattr__ is then never asked for the function.
    homes = getattr(import_module(package), "_HOMES", {})
    assert not {f"{package}.{name}" for name in homes} & set(MODULES)


def loaded_after(statement: str) -> set[str]:
    """The modules that a fresh Python holds after `statement`."""
    program = f"{statement}\nimport sys, json\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


def import_all(layer_name: str) -> str:
    """Every module of a layer, but for the front ends' programs: each imports a package that may not be here."""
    wanted = [name for name in MODULES if layer(name) == layer_name and ".programs." not in name]
    return "\n".join(f"import {name}" for name in wanted)


GPU = {"cuda", "cupy", "torch"}
FRONT_ENDS = {"cutlass", "tvm_tirx", "triton", "tilelang", "jax", "numba"}
LAYERS_ABOVE_MODEL = {f"tmalab.{name}" for name in ("experiment", "hardware", "recordings", "figures", "cli")}


@pytest.mark.parametrize(
    ("statement", "absent"),
    [
        ("import tmalab", {"numpy", "argparse", "tmalab.model", "tmalab.errors"} | GPU | LAYERS_ABOVE_MODEL),
        ("import tmalab.model", {"numpy"} | GPU | LAYERS_ABOVE_MODEL),
        ("import tmalab.model.tensor_map", {"numpy"} | GPU | LAYERS_ABOVE_MODEL),
        ("from tmalab import TensorMap; TensorMap.tiled('int8', (64,), (), (64,)).violations()", {"numpy"} | GPU),
        ("import tmalab.cli", {"numpy", "rich", "tmalab.model"} | GPU),
        (import_all("model"), GPU | LAYERS_ABOVE_MODEL | {"matplotlib", "anywidget"}),
        (import_all("experiment"), GPU | LAYERS_ABOVE_MODEL - {"tmalab.experiment"}),
        (import_all("hardware"), GPU | {"tmalab.recordings", "tmalab.figures", "tmalab.cli"}),
        (import_all("frontends"), GPU | FRONT_ENDS | {"tmalab.recordings", "tmalab.figures", "tmalab.cli"}),
        (import_all("recordings"), GPU | FRONT_ENDS | {"tmalab.figures", "tmalab.cli", "matplotlib", "rich"}),
        (import_all("figures"), GPU | {"tmalab.hardware", "tmalab.recordings", "tmalab.cli", "matplotlib"}),
        (import_all("gallery"), GPU | {"numpy", "tmalab.recordings", "tmalab.figures", "tmalab.cli", "matplotlib"}),
        (import_all("cli"), GPU | {"numpy", "rich", "matplotlib", "anywidget"}),
    ],
    ids=[
        "tmalab",
        "tmalab.model",
        "the tensor map",
        "the rules at work",
        "tmalab.cli",
        "all of model",
        "all of experiment",
        "all of hardware",
        "all of frontends",
        "all of recordings",
        "all of figures",
        "all of gallery",
        "all of cli",
    ],
)
def test_importing_loads_nothing_heavier(statement, absent):
    assert not absent & loaded_after(statement)


@pytest.mark.parametrize("module", MODULES)
def test_a_module_stays_short_enough_to_read(module):
    assert len(MODULES[module].read_text(encoding="utf-8").splitlines()) <= MOST_LINES


@pytest.mark.parametrize("module", MODULES)
def test_a_module_says_what_it_is(module):
    docstring = ast.get_docstring(ast.parse(MODULES[module].read_text(encoding="utf-8")))
    assert docstring is not None
    assert docstring.split("\n\n")[0].rstrip().endswith((".", ":", "?")), "begin with one sentence"


def test_nothing_is_loaded_from_outside_at_run_time():
    outside = re.compile(r"""(?:src|href|import|fetch|url)[^"'`\n]{0,12}["'`(]\s*(?:https?:)?//""")
    shipped = [path for path in (ROOT / "tmalab").rglob("*") if path.suffix in {".py", ".js", ".css", ".html", ".svg"}]
    assert [str(path) for path in shipped if outside.search(path.read_text(encoding="utf-8"))] == []

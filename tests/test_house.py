"""The rules of the house that no linter knows: no cycles, nobody reaches into a learner, no file too long."""

import ast
import re
import subprocess
from pathlib import Path

import grimp
import pytest

import lopsided
from lopsided.constraints import check_parameters

PACKAGE = Path(lopsided.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
_OWN = {"self", "cls", "super()"}
_NAMED_TUPLES = {"_replace", "_asdict", "_fields", "_make"}  # public, whatever their names look like
LONGEST = 400


def test_no_file_imports_itself_by_way_of_others():
    graph = grimp.build_graph("lopsided", cache_dir=None, exclude_type_checking_imports=True)
    imports = {module: set(graph.find_modules_directly_imported_by(module)) for module in graph.modules}
    # What imports nothing that is left goes; what cannot go is a cycle, or stands before one.
    while True:
        leaves = {module for module, others in imports.items() if not others & imports.keys()}
        if not leaves:
            break
        imports = {module: others for module, others in imports.items() if module not in leaves}
    assert not imports


def _reaches_inside(path):
    """Uses of private attributes of others; a class may reach into its like, so what the file itself has is its own."""
    tree = ast.parse(path.read_text())
    attributes = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    own = {node.attr for node in attributes if ast.unparse(node.value) in _OWN}
    own |= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    for node in attributes:
        is_private = node.attr.startswith("_") and not node.attr.startswith("__")
        if is_private and node.attr not in own | _NAMED_TUPLES:
            yield f"{path.relative_to(PACKAGE)}:{node.lineno}: {ast.unparse(node)}"


def test_nothing_outside_of_the_learners_uses_what_is_not_public_of_them():
    outside = [path for path in FILES if path.relative_to(PACKAGE).parts[0] not in ("estimators", "core")]
    assert [place for path in outside for place in _reaches_inside(path)] == []


def _writes_and_sums(path):
    """Innermost compiled loops, free of calls, that write an array and sum up numbers at once."""
    functions = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)]
    for function in functions:
        if not any(isinstance(made_by, ast.Name) and made_by.id == "compiled" for made_by in function.decorator_list):
            continue
        for loop in [node for node in ast.walk(function) if isinstance(node, ast.For)]:
            inside = [node for part in loop.body for node in ast.walk(part)]
            called = {node.func.id for node in inside if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
            if any(isinstance(node, ast.For | ast.While) for node in inside) or called - _CHEAP:
                continue
            targets = [t for node in inside if isinstance(node, ast.Assign) for t in node.targets]
            sums = [node for node in inside if isinstance(node, ast.AugAssign)]
            targets += [node.target for node in sums]
            is_summing = any(
                isinstance(node.target, ast.Name) and not isinstance(node.value, ast.Constant) for node in sums
            )
            written = [part for target in targets for part in getattr(target, "elts", [target])]
            if is_summing and any(isinstance(target, ast.Subscript) for target in written):
                yield f"{path.relative_to(PACKAGE)} {function.name}"


_CHEAP = {"abs", "min", "max", "int", "float", "exponential"}
# Whole numbers, which no order of additions changes, and sums that are all wanted on the way, which keeps their order.
_IN_ORDER = {
    "core/linear/oam.py _learn_all_pairs",
    "core/pairwise/violators.py _collect",
    "core/trees/growing.py _part",
    "core/trees/growing.py _fill_lefts",
}


def test_no_compiled_loop_writes_an_array_while_it_sums_up():
    """Whether such a loop is vectorised depends on how near the arrays lie in memory, and with it the last digit."""
    core = [path for path in FILES if path.relative_to(PACKAGE).parts[0] == "core"]
    assert {place for path in core for place in _writes_and_sums(path)} - _IN_ORDER == set()


@pytest.mark.parametrize("room", ["streams", "feeds"])
def test_files_and_feeds_name_no_option_of_the_command_line(room):
    for path in sorted((PACKAGE / room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert not re.search(r"(?<![\w-])--[a-z]", node.value), f"{path.name}:{node.lineno}"


def test_files_are_of_a_size_to_be_read():
    long = {str(path.relative_to(PACKAGE)): n for path in FILES if (n := len(path.read_text().splitlines())) > LONGEST}
    assert not long


def test_importing_the_package_is_quick():
    """Neither Numba nor scikit-learn nor pyarrow is imported before somebody asks for what needs them."""
    told = "import sys, lopsided; print([m for m in ('numba', 'sklearn', 'pyarrow', 'scipy') if m in sys.modules])"
    output = subprocess.run([_python(), "-c", told], check=True, capture_output=True, text=True)
    assert output.stdout.strip() == "[]"


def _python():
    import sys

    return sys.executable


def test_a_class_that_forgets_what_a_parameter_may_be_is_told_so():
    with pytest.raises(TypeError, match="'_constraints' of Mine must say what 'rate' may be"):
        check_parameters("Mine", {"rate": 1.0}, {})

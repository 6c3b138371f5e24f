"""Before a command has begun, and what a shell offers for it."""

import importlib
import pkgutil
import signal
import subprocess
import sys

import pytest
from click.shell_completion import ShellComplete

import lopsided
from lopsided import __main__ as entry_point
from lopsided.cli.main import cli
from lopsided.evaluate import Race


def offered(*words):
    *before, begun = words
    return {item.value for item in ShellComplete(cli, {}, "lopsided", "_X").get_completions(list(before), begun)}


def test_a_shell_is_offered_names_of_learners_and_of_data_sets(tmp_path):
    assert offered("learn", "d.csv", "--learner", "fo") == {"fogd", "forgetron", "fourierranker"}
    assert offered("tune", "d.csv", "--learner", "koi") == offered("compare", "KOI") == {"koil"}
    assert offered("compare", "koil", "--on", "four_c") == {"four_clusters"}
    assert offered("compare", "koil", "--on", "xor,breast") == {"xor,breast_cancer"}
    (tmp_path / "mine.csv").write_text("a,y\n1,0\n")
    assert offered("compare", "koil", "--data", str(tmp_path), "--on", "mine") == {"mine"}
    assert offered("compare", "koil", "--data", "nowhere", "--on", "xo") == {"xor"}


class Impatient:
    """Somebody presses Ctrl-C while a module is imported."""

    def find_spec(self, name, *_):
        if name == "lopsided.cli.main":
            raise KeyboardInterrupt


def test_ctrl_c_before_the_command_has_begun_is_one_line(monkeypatch, capsys):
    monkeypatch.delitem(sys.modules, "lopsided.cli.main")
    monkeypatch.setattr(sys, "meta_path", [Impatient(), *sys.meta_path])
    with pytest.raises(SystemExit) as left:
        entry_point.main()
    assert left.value.code == 130 and capsys.readouterr().err == "interrupted\n"


def test_the_package_itself_imports_nothing_in_which_ctrl_c_would_leave_a_traceback():
    code = "import sys; before = set(sys.modules); import lopsided; print(sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "['__future__', 'lopsided', 'lopsided.version']"


def test_names_that_are_found_when_they_are_used_are_shown():
    lazy = ["lopsided"] + [f"lopsided.{one.name}" for one in pkgutil.iter_modules(lopsided.__path__) if one.ispkg]
    modules = [importlib.import_module(name) for name in lazy]
    for module in [module for module in modules if "__getattr__" in vars(module)]:
        assert set(module.__all__) <= set(dir(module)), module.__name__
    assert {"AUROC", "AUPRC", "Confusion", "WindowedAUROC"} <= set(dir(lopsided.metrics))


def interrupting(monkeypatch, when):
    """Ctrl-C while the race is at its second step."""
    steps, step = [], Race.step

    def watched(self, *arguments):
        steps.append(1)
        if len(steps) == 2:
            when()
        return step(self, *arguments)

    monkeypatch.setattr(Race, "step", watched)


def raise_interrupt():
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("when", "rows"), [(lambda: signal.raise_signal(signal.SIGINT), "2,048"), (raise_interrupt, "1,024")]
)
def test_an_interrupted_tuning_says_what_it_saw(lopsided, tmp_path, monkeypatch, when, rows):
    lines = [f"{n % 13},{n % 7},{int(n % 13 == 5)}" for n in range(3000)]
    (tmp_path / "d.csv").write_text("\n".join(["a,b,y", *lines]) + "\n")
    interrupting(monkeypatch, when)
    done = lopsided("tune", "d.csv", "--learner", "opauc", "--candidates", 3, "--output", "best")
    assert done.returncode == 130
    assert f"interrupted after {rows} rows: the best so far" in done.stderr
    assert done.stdout.startswith("learner") and "best: --learner opauc" in done.stdout
    assert (tmp_path / "best").exists() == (rows == "2,048")

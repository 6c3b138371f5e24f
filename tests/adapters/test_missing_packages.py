"""Who imports an adapter without its package is told what to install; the package itself imports none of them."""

import importlib
import subprocess
import sys

import pytest


@pytest.mark.parametrize("package", ["river", "mlflow", "capymoa"])
def test_a_sentence_says_what_to_install(package, monkeypatch):
    for name in [name for name in sys.modules if name.startswith(f"lopsided.adapters.{package}")]:
        monkeypatch.delitem(sys.modules, name)
    for name in [name for name in sys.modules if name.startswith(f"{package}.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ModuleNotFoundError, match=rf'`pip install "lopsided\[{package}\]"` brings, got no package'):
        importlib.import_module(f"lopsided.adapters.{package}")


def test_nothing_of_others_is_imported_before_an_adapter_is():
    told = "import sys, lopsided as lp; lp.adapters, lp.KOIL; print({'river', 'mlflow', 'jpype'} & set(sys.modules))"
    output = subprocess.run([sys.executable, "-c", told], check=True, capture_output=True, text=True)
    assert output.stdout.strip() == "set()"

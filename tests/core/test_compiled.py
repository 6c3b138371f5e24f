"""The disk cache of compiled code: used by a second process, and never stale."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

import lopsided.core
from lopsided.core.arithmetic import compiled
from lopsided.core.arithmetic.compiled import bound
from lopsided.core.geometry.points import first_beyond
from lopsided.core.pairwise.koil import run
from lopsided.streams.parsing import svmlight

LEARN = """
import numpy as np
import lopsided
from lopsided.core.pairwise.koil import run
lopsided.KOIL(random_state=0).learn_one(np.zeros(3), 1).learn_one(np.ones(3), 0)
"""
TELL = "print(sum(run.stats.cache_hits.values()), sum(run.stats.cache_misses.values()))"


def test_a_second_process_loads_what_the_first_has_compiled():
    exec(LEARN, {})  # this process is the first
    output = subprocess.run([sys.executable, "-c", LEARN + TELL], check=True, capture_output=True, text=True)
    assert output.stdout.split() == ["1", "0"]


def test_a_change_anywhere_in_the_core_makes_the_cache_stale():
    core = Path(lopsided.core.__file__).parent
    everything = {path.relative_to(core.parent).as_posix() for path in core.rglob("*.py")}
    assert len(everything) > 40
    assert _stamped_by(run) == everything


def test_a_change_beside_compiled_code_outside_of_the_core_makes_the_cache_stale_too():
    beside = {f"streams/parsing/{path.name}" for path in Path(svmlight.__file__).parent.glob("*.py")}
    assert beside > {"streams/parsing/svmlight.py", "streams/parsing/decimals.py"}
    assert _stamped_by(svmlight.read_rows) == _stamped_by(run) | beside


def test_a_fresh_copy_of_the_same_sources_keeps_the_cache(tmp_path):
    own = Path(lopsided.core.__file__)
    copy = tmp_path / "copy.py"
    copy.write_bytes(own.read_bytes())
    os.utime(copy, (0, 0))
    assert compiled._digest(copy) == compiled._digest(own)
    other = tmp_path / "other.py"
    other.write_bytes(own.read_bytes().swapcase())
    assert compiled._digest(other) != compiled._digest(own)


def _stamped_by(function):
    return {name for name, _ in function._cache._cache_file._source_stamp}


def test_one_specialisation_serves_dense_sparse_and_single_rows():
    import scipy.sparse as sp

    from lopsided import KOIL

    X, y = np.random.default_rng(0).random((40, 3)), np.arange(40) % 2
    readonly = X.copy()
    readonly.flags.writeable = False
    model = KOIL(random_state=0)
    model.partial_fit(X, y).partial_fit(sp.csr_matrix(X), y).partial_fit(np.asfortranarray(X), y)
    model.partial_fit(readonly, y).partial_fit(X.astype(np.float32), y).learn_one(X[0], 1)
    KOIL(policy="fifo", loss="squared_hinge", kernel="poly").partial_fit(X, y)
    assert len(run.signatures) == 1


def test_a_bound_call_is_the_call():
    x = np.zeros(4)
    call = bound(first_beyond, x, 1e150)
    assert call() == -1
    x[2] = np.inf
    assert call() == first_beyond(x, 1e150) == 2

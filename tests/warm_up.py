"""Fill the disk cache of compiled programs in two processes: else every worker of pytest would compile alone."""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np

from lopsided.estimators import registry

OTHERS = "everything that is no learner"


def compile_module(module: str) -> None:
    """Let the learners of a module do what tests make them do: batches and single examples, dense and sparse."""
    if module == OTHERS:
        compile_others()
        return
    import scipy.sparse as sp

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 3)), np.tile([0, 1], 50)
    for entry in registry.entries(is_learner=True, online=True, takes_tables=False):
        for learner in entry.instances() if entry.module == module else []:
            learner.progressive_scores(X, y)
            learner.learn_one(X[0], y[0])
            learner.score_one(X[0])
            if entry.claims("sparse", learner):
                learner.decision_function(sp.csr_array(X))


def compile_others() -> None:
    """Tables, files, tuning and measures."""
    import lopsided as lp
    from lopsided.evaluate import tune
    from lopsided.streams.blocks import Block, record_ends
    from lopsided.streams.libsvm import read_block

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3)), np.tile([0, 1], 10)
    rows = {"number": X[:, 0].tolist(), "word": list("ab" * 10), "text": ["a b c d e", "f g h i j"] * 10}
    table = lp.TablePipeline(lp.encoding.infer_schema(rows)).partial_fit(rows, y)
    table.learn_one({name: cells[0] for name, cells in rows.items()}, y[0])
    tune(lp.KOIL, [{}], np.tile(X, 6), y, np.tile([[0], [0], [1], [1]], (5, 1)))  # wide enough to look distances up
    read_block(Block("", 1, b"1 1:2\n"))
    record_ends(b'"a",b\n', ",")
    for metric in (lp.metrics.AUROC(), lp.metrics.AUPRC(), lp.metrics.WindowedAUROC(9), lp.metrics.Confusion()):
        metric.update_many(y, X[:, 0])
        _ = metric.value, metric.error_bound


def chains() -> list[list[list[str]]]:
    """Modules to be compiled one after the other, chain beside chain; the second pair when the first is done.

    Modules of a family share most of what they compile, so two of them at once would both compile it. What is made of
    other learners comes when those have been compiled.
    """
    modules = list(dict.fromkeys(entry.module for entry in registry.entries(is_learner=True)))
    kernel = [module for module in modules if ".kernel." in module]
    made_of_others = [module for module in modules if ".compose." in module]
    return [
        [kernel, [module for module in modules if module not in {*kernel, *made_of_others}]],
        [made_of_others, [OTHERS]],
    ]


def compile_chain(modules: list[str]) -> None:
    for module in modules:
        compile_module(module)


if __name__ == "__main__":
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as processes:
        for side_by_side in chains():
            list(processes.map(compile_chain, side_by_side))

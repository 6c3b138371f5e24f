"""Fill the disk cache of compiled programs in two processes: else every worker of pytest would compile alone."""

from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

import numpy as np

from lopsided.estimators import registry


def compile_family(family: str) -> None:
    """Let the learners of a family do what tests make them do: batches and single examples, dense and sparse."""
    import scipy.sparse as sp

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 3)), np.tile([0, 1], 50)
    for entry in registry.entries(is_learner=True, online=True, takes_tables=False):
        for learner in entry.instances() if entry.family == family else []:
            learner.progressive_scores(X, y)
            learner.learn_one(X[0], y[0])
            learner.score_one(X[0])
            if entry.claims("mergeable", learner):
                learner.merged_with([learner.empty_like().partial_fit(X, y, classes=[0, 1])])
            if entry.claims("sparse", learner):
                learner.decision_function(sp.csr_array(X))
            if hasattr(learner, "part_scores"):
                learner.part_scores(X)


def compile_reading() -> None:
    """Cells of files and tables, measures, and what keys did before: nothing that a learner has to do with."""
    import lopsided as lp
    import lopsided.alerts
    from lopsided.streams.blocks import Block, record_ends
    from lopsided.streams.libsvm import read_block

    read_block(Block("", 1, b"1 1:2\n"))
    record_ends(b'"a",b\n', ",")
    scores, y = np.random.default_rng(0).normal(size=20), np.tile([0, 1], 10)
    for metric in (lp.metrics.AUROC(), lp.metrics.AUPRC(), lp.metrics.WindowedAUROC(9), lp.metrics.Confusion()):
        metric.update_many(y, scores)
        _ = metric.value, metric.error_bound
    table = {"card": list("ab" * 10), "when": list(range(20)), "amount": scores.tolist()}
    histories = [lp.KeyedHistory(keys=["card"], time="when", value="amount", slots=64) for _ in range(2)]
    for history in histories:
        _, tokens = history.observe(table)
        history.learn_labels(tokens, y)
    histories[0].absorb(histories[1])
    lp.OnlinePerceptron(threshold="rate:0.1").partial_fit(scores[:, None], y).score_one(scores[:1])
    lp.alerts.AlertShare(0.1, scores).decide(scores)


def compile_tables() -> None:
    """Tables in front of learners, stacked models of keys, vectors in single precision, and tuning."""
    import lopsided as lp
    from lopsided.evaluate import tune

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3)), np.tile([0, 1], 10)
    rows = {"number": X[:, 0].tolist(), "word": list("ab" * 10), "text": ["a b c d e", "f g h i j"] * 10}
    table = lp.TablePipeline(lp.encoding.infer_schema(rows)).partial_fit(rows, y)
    table.learn_one({name: cells[0] for name, cells in rows.items()}, y[0])
    for learner in (lp.OPAUC(), lp.OMCSL(random_state=0), lp.FOGD(random_state=0)):
        lp.KeyedLearner(learner, key=0).partial_fit(X.round(), y).raw_scores(X.round())
    single = lp.KOIL(dtype="float32", random_state=0).partial_fit(X, y)
    single.learn_one(X[0], y[0]).score_one(X[0])
    tune(lp.KOIL, [{}], np.tile(X, 6), y, np.tile([[0], [0], [1], [1]], (5, 1)))  # wide enough to look distances up


def chains() -> list[list[list[partial[None]]]]:
    """What is compiled one after the other, chain beside chain, the longest first; then what is made of learners.

    Families of a chain share most of what they compile, so two of them at once would both compile it.
    """

    def of(*families: str) -> list[partial[None]]:
        return [partial(compile_family, family) for family in families]

    apart = [of("kernel"), of("features", "rare"), of("linear", "bayesian"), [partial(compile_reading)]]
    assert {*registry.FAMILIES} == {"kernel", "features", "rare", "linear", "bayesian", "compose"}
    return [apart, [of("compose"), [partial(compile_tables)]]]


def compile_chain(steps: list[partial[None]]) -> None:
    for step in steps:
        step()


if __name__ == "__main__":
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as processes:
        for side_by_side in chains():
            list(processes.map(compile_chain, side_by_side))

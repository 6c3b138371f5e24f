"""Laws of merging that `lopsided.checks` does not have: over every learner of the registry."""

import numpy as np
import pandas as pd
import pytest

import lopsided as lp
from lopsided.checks.subject import Stream, fresh
from lopsided.estimators import registry

ONLINE = [learner for entry in registry.entries(is_learner=True, online=True) for learner in entry.instances()]
TRIALS = [learner for learner in ONLINE if registry.can(learner, "mergeable")]
NAMES = [" ".join(str(learner).split())[:50] for learner in TRIALS]
# Twice the same rows are more rows: sums have smaller ridges or go further, samples every row twice, histories two
# events for one.
SUMS = ("RareEventClassifier", "BoostedSample", "FourierRanker", "OPAUC", "OB2RMK", "HistoryPipeline", "ExpertPool")
# A measure that is looked at now and then is looked at when models are merged; keys count for more with more rows.
EXACT = [
    of
    for of in TRIALS
    if type(of).__name__ not in SUMS
    and getattr(of, "refresh", 1) == 1
    and getattr(of.final_learner, "prior", None) is None
]
BOUNDED = [of for of in TRIALS if getattr(of, "budget", None) is not None and registry.can(of, "bounded")]


def parts(learner, *sizes):
    stream = Stream(as_table=registry.entry_of(type(learner)).takes_tables, n_rows=sum(sizes))
    models, start = [], 0
    for size in sizes:
        model = lp.empty_like(models[0]) if models else fresh(learner)
        models.append(model.partial_fit(stream.rows(start, start + size), stream.y[start : start + size]))
        start += size
    return stream, models


@pytest.mark.parametrize("learner", TRIALS, ids=NAMES)
def test_every_learner_that_merges_says_so(learner):
    assert isinstance(learner, lp.protocol.Mergeable)


def test_all_can_be_merged():
    assert TRIALS == ONLINE


@pytest.mark.parametrize("learner", EXACT, ids=[" ".join(str(of).split())[:50] for of in EXACT])
def test_two_copies_rank_as_one_does(learner):
    stream, (model,) = parts(learner, 60)
    scores = model.raw_scores(stream.rows())
    merged = lp.merge([model, model.snapshot()])
    assert merged.raw_scores(stream.rows()) == pytest.approx(scores, rel=1e-9, abs=1e-12)
    assert merged.n_seen_ == 120


@pytest.mark.parametrize("learner", BOUNDED, ids=[" ".join(str(of).split())[:50] for of in BOUNDED])
def test_memory_stays_within_the_budget(learner):
    _, models = parts(learner, 90, 90, 90)
    merged = lp.merge(models)
    assert merged.nbytes_ <= max(model.nbytes_ for model in models)


@pytest.mark.parametrize(
    ("make", "most"),
    [
        (lambda: lp.KOIL(budget=12, random_state=0), 8),
        (lambda: lp.KOIL(budget=(9, 12), policy="fifo", random_state=0), 8),
        (lambda: lp.OILK(budget=12, random_state=0), 4),
        (lambda: lp.RBP(budget=12, random_state=0), 4),
        (lambda: lp.Projectron(budget=12), 4),
        (lambda: lp.BPAS(budget=12), 4),
        (lambda: lp.SPA(budget=12, random_state=0), 4),
        (lambda: lp.NOGD(budget=12, rank=3), 4),
        (lambda: lp.OMKC(base="bpas", budget=64, random_state=0), 16),
        (lambda: lp.StreamPipeline(lp.OnlineScaler(), lp.RBP(budget=12, random_state=0)), 4),
        (lambda: lp.ExpertPool([lp.RBP(budget=12), lp.OCS()], random_state=0), 4),
    ],
)
def test_another_budget(make, most):
    stream, models = parts(make(), 60, 60)
    for given in (models, models[:1]):
        merged = lp.merge(given, budget=most // 2 if type(make()).__name__ == "KOIL" else most)
        vectors = merged.members_[0].n_support_ if isinstance(merged, lp.ExpertPool) else merged.n_support_
        assert 0 < vectors <= most
        again = lp.from_bytes(merged.to_bytes())
        assert np.array_equal(again.raw_scores(stream.rows()), merged.raw_scores(stream.rows()))
        assert again.partial_fit(stream.rows(), stream.y).n_seen_ == merged.n_seen_ + 120


def test_empty_models_of_one_model_draw_other_numbers_and_leave_it_as_it_is():
    stream, (model,) = parts(lp.RBP(budget=5), 60)
    before = model.to_bytes()
    first, second = (lp.empty_like(model).partial_fit(stream.rows(), stream.y) for _ in range(2))
    assert model.to_bytes() == before and first.to_bytes() != second.to_bytes()
    assert lp.empty_like(lp.KOIL(C=3.0)).C == 3.0 and not lp.empty_like(lp.KOIL()).started_


REFUSED = [
    (lambda X, y: [], "at least one model"),
    (lambda X, y: [3], "must be a learner, a scaler"),
    (lambda X, y: [lp.KOIL().fit(X, y), lp.OILK().fit(X, y)], "of one class. Got KOIL and OILK"),
    (lambda X, y: [lp.KOIL(gamma=1.0).fit(X, y), lp.KOIL(gamma=2.0).fit(X, y)], r"same 'gamma'. Got 1.0 and 2.0"),
    (lambda X, y: [lp.OCS().fit(X, y), lp.OCS().fit(X[:, :2], y)], "same number of features. Got 3 and 2"),
    (lambda X, y: [lp.OCS().fit(X, y), lp.OCS().fit(X, 2 * y)], "same labels, the rare one first. Got 1 against 0"),
    (lambda X, y: [lp.OCS().fit(X, y), lp.OCS(pos_label=0).fit(X, y)], "same labels, the rare one first"),
    (lambda X, y: [lp.FOGD(random_state=s).fit(X, y) for s in (1, 2)], "FOGD to merge must have the same random dir"),
    (lambda X, y: [lp.FourierRanker(random_state=s).fit(X, y) for s in (1, 2)], "same random directions"),
    (
        lambda X, y: [
            lp.FourierRanker(random_state=1, warm_up=50, rescale=False).fit(X * scale, y) for scale in (1.0, 2.0)
        ],
        "same scale of features where they hold it",
    ),
    (lambda X, y: [lp.B2RMK(max_sweeps=2).fit(X, y)], "Got B2RMK"),
    (lambda X, y: [lp.PrioritySample(5, fade=f).add(X) for f in (0.5, 1.0)], "same 'fade'. Got"),
    (lambda X, y: [lp.PrioritySample(5).add(X), lp.PrioritySample(5).add(X[:, :1])], "number of features. Got"),
    (lambda X, y: [lp.OnlineScaler().fit(X), lp.OnlineScaler().fit(X[:, :1])], "same number of features"),
    (lambda X, y: [lp.metrics.AUROC(), lp.metrics.AUPRC()], "of one class. Got AUROC and AUPRC"),
    (lambda X, y: [lp.metrics.Confusion(fade=f) for f in (0.5, 1.0)], r"Confusion to merge .* same 'fade'"),
]


@pytest.mark.parametrize(("models", "sentence"), REFUSED)
def test_models_that_do_not_fit_are_refused_with_a_sentence(models, sentence):
    stream = Stream()
    with pytest.raises(ValueError, match=sentence):
        lp.merge(models(stream.X, stream.y))


@pytest.mark.parametrize(
    "model",
    [
        lp.FourierRanker(warm_up=50),
        lp.OCS(),
        lp.KernelPerceptron(),
        lp.StreamPipeline(learner=lp.OCS()),
        lp.ExpertPool([lp.OCS()]),
        lp.OnlineScaler(),
    ],
)
def test_a_budget_is_for_those_that_have_one(model):
    stream = Stream()
    fitted = model.fit(stream.X, stream.y)
    with pytest.raises(ValueError, match=r"'budget' parameter of merge must be None .*Got 5"):
        lp.merge([fitted], budget=5)


def test_names_of_features_and_labels_not_known_yet():
    X, y = Stream().X, Stream().y
    named = [lp.OCS().fit(pd.DataFrame(X, columns=list(names)), y) for names in ("abc", "abd")]
    with pytest.raises(ValueError, match="same names of features"):
        lp.merge(named)
    ones, both = lp.OCS().partial_fit(X[:5], np.ones(5)), lp.OCS().partial_fit(X, 2.0 * y - 1.0)
    merged = lp.merge([ones, both])
    assert merged.classes_.tolist() == [-1.0, 1.0] and merged.n_seen_ == 95

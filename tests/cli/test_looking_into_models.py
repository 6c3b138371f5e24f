"""`inspect`, `explain` and `completion`."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import lopsided as lp
from cli.payments import payment_rows
from lopsided.encoding import infer_schema
from lopsided.inspection import explain, kernel_sums_of

COLUMNS = ("amount", "country", "kind")


def saved(path, learner, n=400, scaler=None):
    """A model of the payments, without their dates."""
    rows = [{name: row[name] for name in COLUMNS} for row in payment_rows(n)]
    schema = infer_schema({name: [row[name] for row in rows] for name in COLUMNS}, label="kind")
    model = lp.TablePipeline(schema, scaler, learner).partial_fit(rows, [row["kind"] for row in rows])
    model.save(path)
    return model


def said(lopsided, *arguments):
    done = lopsided(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


KERNEL = {"gamma": 0.3, "random_state": 0, "pos_label": "bad"}


def test_inspect_says_what_a_model_is_made_of(lopsided, tmp_path):
    model = saved(tmp_path / "m", lp.KOIL(threshold="rate:0.1", **KERNEL))
    facts = said(lopsided, "inspect", "m", "--top", 3)
    assert (facts["learner"], facts["positive"], facts["rows"], facts["n_support"]) == (
        "KOIL",
        "bad",
        400,
        model.n_support_,
    )
    assert facts["threshold"] == model.threshold_ and facts["threshold_rule"] == "rate:0.1"
    assert facts["schema"] == model.schema.to_json() and facts["bytes"] == (tmp_path / "m").stat().st_size
    weights = sorted(model.support_weights_, key=abs, reverse=True)[:3]
    assert [vector["weight"] for vector in facts["largest_vectors"]] == pytest.approx(weights)
    for vector in facts["largest_vectors"]:
        was = payment_rows(400)[vector["row"] - 1]
        amount = None if was["amount"] in ("", None) else float(was["amount"])
        assert vector["as_it_came"] and vector["columns"] == {"amount": amount, "country": was["country"]}
    text = lopsided("inspect", "m").stdout
    assert "bad is the positive label, ok the other" in text and "country  category, hashed into 8 columns" in text
    assert ", the budget is 100 per class" in text


@pytest.mark.parametrize(
    "learner",
    [
        lp.KOIL(threshold="f1", **KERNEL),
        lp.OILK(**KERNEL),
        lp.SPA(**KERNEL),
        lp.BPAS(kernel="poly", degree=2, coef0=1.0, random_state=0, pos_label="bad"),
        lp.MultiKernelKOIL(random_state=0, pos_label="bad"),
        lp.OPAUC(pos_label="bad"),
        lp.OCS(fit_intercept=True, pos_label="bad"),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_explain_gives_a_sum_that_is_the_score(lopsided, payments, tmp_path, learner):
    model = saved(tmp_path / "m", learner)
    facts = said(lopsided, "explain", "m", "payments.csv", "--row", 17, "--top", 4)
    row = payment_rows(400)[16]
    assert facts["score"] == pytest.approx(model.score_one(row), abs=1e-12)
    total = sum(part["amount"] for part in facts["parts"]) + facts["rest"]["amount"]
    assert total - facts["threshold"] == pytest.approx(facts["score"], abs=1e-9)
    assert len(facts["parts"]) <= 4
    assert all(part["amount"] == pytest.approx(part["weight"] * part["times"]) for part in facts["parts"])
    text = lopsided("explain", "m", json.dumps({"amount": row["amount"], "country": row["country"]}), "--top", 4).stdout
    assert f"{facts['score']:+.6g}" in text.splitlines()[0]


@pytest.mark.parametrize(
    "learner",
    [lp.KOIL, lp.MultiKernelKOIL, lp.OILK, lp.NOGD, lp.Projectron, lp.BPAS, lp.SPA, lp.KernelOGD, lp.OMKC],
)
def test_a_vector_is_of_the_class_of_its_row_whatever_its_weight(learner):
    rng = np.random.default_rng(0)
    rows = {name: rng.normal(size=300).tolist() for name in "ab"}
    y = (np.array(rows["a"]) + rng.normal(size=300) > 1.0).astype(int)
    signs = dict(zip(zip(*rows.values(), strict=True), 2 * y - 1, strict=True))
    model = lp.TablePipeline(infer_schema(rows), "none", learner(random_state=0)).partial_fit(rows, y)
    n_vectors = 0
    for terms in kernel_sums_of(model):
        assert [signs[tuple(vector)] for vector in terms.vectors.tolist()] == terms.signs.tolist()
        n_vectors += terms.signs.size
    assert n_vectors == model.n_support_ > 0
    if learner is lp.Projectron:
        parts = explain(model, np.zeros(2)).parts
        named = {tuple(part.columns.values()): part.name for part in parts}
        assert named == {row: "like" if signs[row] > 0 else "unlike" for row in named}
        assert any((part.weight > 0) != (part.name == "like") for part in parts)


def test_explain_on_a_linear_model_names_features(lopsided, payments, tmp_path):
    model = saved(tmp_path / "m", lp.OPAUC(pos_label="bad"))
    facts = said(lopsided, "explain", "m", '{"amount": 9, "country": ""}')
    assert [part["name"] for part in facts["parts"]] == ["amount"]
    names = [entry["feature"] for entry in said(lopsided, "inspect", "m")["largest_weights"]]
    assert set(names) <= set(model.encoder_.names)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["explain", "m", "payments.csv"], "Missing option '--row' or '--id'"),
        (["explain", "m", "payments.csv", "--row", 1, "--id", "p1"], "'--row' and '--id' exclude each other"),
        (["explain", "m", "payments.csv", "--id", "p1"], "Missing option '--id-column': the model was not told"),
        (["explain", "m", "payments.csv", "--id", "p1", "--id-column", "who"], "must hold the column 'who', by which"),
        (
            ["explain", "m", "payments.csv", "--id", "nobody", "--id-column", "id"],
            "payments.csv must hold a row whose id is 'nobody', and which is not bad, got none among 400 rows",
        ),
        (["explain", "m", "payments.csv", "--row", 401], "payments.csv must have 401 rows, got 400"),
        (["explain", "m", "{oops}"], "must be a JSON object, got '{oops}'"),
        (["explain", "m", '{"sum": 1}'], "table must hold the column 'amount', got only sum"),
        (["explain", "m", '{"amount": "x", "country": "NO"}'], "Column 'amount' of the row to explain must be a"),
        (["explain", "vote", "payments.csv", "--row", 1, "--by", "terms"], "BOMKC, whose score is made otherwise"),
        (["inspect", "payments.csv"], "must be a model written by lopsided's save"),
    ],
)
@pytest.mark.usefixtures("payments")
def test_what_cannot_be_looked_into_is_said(refused, tmp_path, arguments, sentence):
    saved(tmp_path / "m", lp.KOIL(**KERNEL), n=40)
    if "vote" in arguments:
        saved(tmp_path / "vote", lp.BOMKC(random_state=0, pos_label="bad"), n=60)
    assert sentence in refused(*arguments)


# Twelve rows with bad ones at 3, 4 and 9; blank lines, and a line end in quotes, are no rows of their own.
WITH_BAD_ROWS = {
    "rows.csv": [
        "amount,country", "1,NO", "", '2,"N\nO"', "x,NO", "4", "5,SE", "", "6,SE", "7,NO", "8,DK", "9,NO,", "10,NO",
        "11,SE", "12,NO",
    ],
    "rows.ndjson": [
        *(json.dumps({"amount": amount, "country": "NO"}) for amount in (1, 2, "x")), "", "{", "",
        *(json.dumps({"amount": amount, "country": "NO"}) for amount in (5, 6, 7, 8, [9], 10, 11, 12)),
    ],
    "rows.svm": [
        "+1 1:1", "# a comment", "-1 1:2 # another", "1 1:x", "", "no 1:1",
        *(f"+1 1:{amount}" if amount != 9 else "1 2:1 1:2" for amount in range(5, 13)),
    ],
}  # fmt: skip


@pytest.mark.parametrize("policy", ["stop", "skip"])
@pytest.mark.parametrize("name", [*WITH_BAD_ROWS, "rows.parquet"])
def test_explain_counts_bad_rows_too(lopsided, refused, tmp_path, name, policy):
    if name == "rows.parquet":
        amounts = [None if amount in (3, 4, 9) else str(amount) for amount in range(1, 13)]
        table = pa.table({"amount": ["x" if text is None else text for text in amounts], "country": ["NO"] * 12})
        pyarrow.parquet.write_table(table, tmp_path / name)
    else:
        (tmp_path / name).write_text("\n".join(WITH_BAD_ROWS[name]) + "\n")
    if name == "rows.svm":
        X = np.linspace(0.0, 12.0, 40)[:, None]
        model = lp.SparsePipeline(learner=lp.OPAUC(), scaler=lp.OnlineScaler(center=False))
        model.partial_fit(X, (np.arange(40) % 4 == 0).astype(int)).save(tmp_path / "m")
        expected = {n: model.decision_function(np.array([[float(n)]]))[0] for n in range(1, 13)}
    else:
        country = {5: "SE", 6: "SE", 8: "DK", 11: "SE", 2: "N\nO"} if name == "rows.csv" else {}
        model = saved(tmp_path / "m", lp.OPAUC(pos_label="bad"))
        expected = {n: model.score_one({"amount": n, "country": country.get(n, "NO")}) for n in range(1, 13)}
    for row in range(1, 13):
        arguments = ("explain", "m", name, "--row", row, "--on-error", policy)
        if row in (3, 4, 9):
            assert f" of {name} must " in refused(*arguments)
        else:
            assert said(lopsided, *arguments)["score"] == pytest.approx(expected[row], abs=1e-12)
    assert f"{name} must have 13 rows, got 12" in refused("explain", "m", name, "--row", 13, "--on-error", policy)


def test_sparse_models_can_be_looked_into(lopsided, libsvm_file):
    assert (
        lopsided(
            "learn", libsvm_file, "-o", "m", "--learner", "koil", "--set", "gamma=20", "--scale", "standard"
        ).returncode
        == 0
    )
    facts = said(lopsided, "inspect", "m")
    assert facts["schema"] is None and set(facts["largest_vectors"][0]["columns"]) == {"1", "2"}
    facts = said(lopsided, "explain", "m", libsvm_file, "--row", 3)
    assert facts["rest"]["terms"] > 0


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_can_complete(lopsided, shell):
    assert "_LOPSIDED_COMPLETE" in lopsided("completion", shell).stdout


def test_completion_answers(installed):
    done = installed(_LOPSIDED_COMPLETE="bash_complete", COMP_WORDS="lopsided ins", COMP_CWORD="1")
    assert done.stdout == "plain,inspect\n"


def test_the_parts_of_a_learner_for_rare_events_are_told(lopsided, tmp_path):
    saved(tmp_path / "m", lp.RareEventClassifier(sample_size=100, n_components=8, pos_label="bad", random_state=0))
    assert said(lopsided, "inspect", "m")["anatomy"]["trees"] == 100
    assert "which count" in lopsided("inspect", "m").stdout
    row = json.dumps({"amount": 17.5, "country": "NO"})
    done = lopsided("explain", "m", row)
    assert "parts say    ranker " in done.stdout and done.stdout.count("most like ") == 3
    told = said(lopsided, "explain", "m", row)
    assert set(told["says"]) == {"ranker", "short", "trees", "linear", "lean", "blend", "score"}
    assert all(part["as_it_came"] and set(part["columns"]) == {"amount", "country"} for part in told["nearest"])

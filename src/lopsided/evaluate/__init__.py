"""Judging learners: progressive validation, repeated runs over folds, tuning on inner folds, and significance."""

from lopsided.evaluate.candidates import Candidate, draw_candidates
from lopsided.evaluate.column_losses import ColumnLoss, ColumnLosses, column_losses
from lopsided.evaluate.delays import delayed_scores
from lopsided.evaluate.history import History, Moment
from lopsided.evaluate.kept_rows import KeptRow, KeptRows
from lopsided.evaluate.progressive import Estimates, Evaluation, Record, progressive
from lopsided.evaluate.racing import Race, Racer, race
from lopsided.evaluate.records import RunLog
from lopsided.evaluate.row_by_row import RowByRow, progressive_scores_of
from lopsided.evaluate.significance import Comparison, compare_across_sets, paired_t_test, wins_ties_losses
from lopsided.evaluate.splits import Split, fold_splits, inner_labellings, random_splits
from lopsided.evaluate.tuning import Tuned, grid, tune

__all__ = [
    "Candidate",
    "ColumnLoss",
    "ColumnLosses",
    "Comparison",
    "Estimates",
    "Evaluation",
    "History",
    "KeptRow",
    "KeptRows",
    "Moment",
    "Race",
    "Racer",
    "Record",
    "RowByRow",
    "RunLog",
    "Split",
    "Tuned",
    "column_losses",
    "compare_across_sets",
    "delayed_scores",
    "draw_candidates",
    "fold_splits",
    "grid",
    "inner_labellings",
    "paired_t_test",
    "progressive",
    "progressive_scores_of",
    "race",
    "random_splits",
    "tune",
    "wins_ties_losses",
]

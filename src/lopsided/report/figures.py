"""Drawings as SVG inside the page. The only file that imports matplotlib.

Text and axes are drawn in `currentColor`, the colour of the text around them, and backgrounds are left out: one drawing
serves light and dark pages. The colours of learners and classes are variables of the page, which has others for dark
screens; those written here are for a drawing without a page.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Sequence
from itertools import cycle
from typing import Any

import numpy as np

from lopsided.evaluate import Evaluation, Record
from lopsided.report.contents import Run, StreamResult

try:
    import matplotlib
    from matplotlib.colors import ListedColormap, to_rgb
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        'The figures of a report must be drawn by matplotlib, which `pip install "lopsided[report]"` brings, '
        f"got no package {error.name}.",
        name=error.name,
    ) from None

Frame = tuple[tuple[float, float], tuple[float, float]]  # left and right, bottom and top

_RARE, _COMMON = "#e8590c", "#3b8ed0"
_LEARNERS = ("#e8590c", "#3b8ed0", "#2f9e57", "#b05cc8", "#b8860b")
INK = "#010203"  # stands for currentColor until the drawing is text
_STYLE: Any = {
    "svg.fonttype": "none",  # real text, in the font of the page
    "font.family": "sans-serif",
    "font.size": 10.0,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "axes.linewidth": 0.6,
    "axes.titlesize": 11.0,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": INK,
    "grid.alpha": 0.12,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.labelcolor": INK,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
}
_WIDTH = 10.0  # inches; the page stretches the drawing to its own width
_GRID_POINTS = 90
_STRONGEST_TINT = 0.45
_LARGEST_MARK = 120.0  # area of the support vector with the largest weight, in square points


def progressive_curves(result: StreamResult) -> str:
    """AUROC and average precision of every learner, over all examples up to each point of the stream."""
    share = float(np.mean(result.runs[0].evaluation.positive))
    panels: tuple[tuple[str, Callable[[Record], float], float], ...] = (
        ("AUROC so far", lambda record: record.auroc, 0.5),
        ("average precision so far", lambda record: record.average_precision, share),
    )
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(_WIDTH, 3.6), layout="constrained")
        for position, (title, value, chance) in enumerate(panels, start=1):
            axes = figure.add_subplot(1, 2, position)
            for run, colour in zip(result.runs, cycle(_LEARNERS), strict=False):
                points = [(record.n, value(record)) for record in run.evaluation.records]
                points = [(n, height) for n, height in points if not math.isnan(height)]
                # A stream of one record is a point, which a line would not show.
                marker = "o" if len(points) == 1 else None
                axes.plot(*_columns(points), color=colour, lw=1.8, marker=marker, label=run.learner)
            axes.axhline(chance, color=INK, alpha=0.5, lw=0.9, ls=(0, (4, 3)), label="by chance")
            axes.set(title=title, xlabel="examples", xlim=(0, result.runs[0].evaluation.n), ylim=(0, 1.02))
            axes.grid(True)
        figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=len(result.runs) + 1)
        return _as_markup(figure, salt=f"curves of {result.name}")


def decision_surfaces(result: StreamResult) -> str:
    """For points of a plane: what every learner makes of it, its support vectors, and the rare class from near."""
    X, positive = np.asarray(result.X), np.asarray(result.y) == 1
    panels = _panels(result.runs)
    whole, near = _frame(X, margin=0.02), _frame(_without_outliers(X[positive]), margin=0.45)
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(_WIDTH, _WIDTH / len(panels) + 0.75), layout="constrained")
        for position, (title, run, close) in enumerate(panels, start=1):
            axes = figure.add_subplot(1, len(panels), position)
            frame = near if close else whole
            _draw_surface(axes, run.evaluation, frame)
            if close or _support(run) is None:
                _draw_examples(axes, X, positive, size=12.0 if close else 5.0)
            else:
                _draw_support(axes, run)
            axes.set(title=title, xlim=frame[0], ylim=frame[1], aspect="equal", xticks=[], yticks=[])
            axes.spines[:].set_visible(True)
        figure.legend(handles=_legend_of_surfaces(), loc="outside lower center", ncols=3)
        return _as_markup(figure, salt=f"surfaces of {result.name}")


def _columns(points: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [x for x, _ in points], [y for _, y in points]


def _panels(runs: Sequence[Run]) -> list[tuple[str, Run, bool]]:
    """Every learner once, and the first of those with support vectors also from near."""
    panels = []
    for run in runs:
        shows = "examples" if _support(run) is None else "support vectors"
        panels.append((f"{run.learner}, {shows}", run, False))
    first = next((position for position, run in enumerate(runs) if _support(run) is not None), None)
    if first is not None:
        panels.insert(first + 1, (f"{runs[first].learner}, examples (zoomed in)", runs[first], True))
    return panels


def _support(run: Run) -> tuple[Any, Any] | None:
    """Support vectors and weights of a learner that has one set of them."""
    learner = run.evaluation.learner
    vectors, weights = getattr(learner, "support_vectors_", None), getattr(learner, "support_weights_", None)
    return (vectors, weights) if isinstance(vectors, np.ndarray) and isinstance(weights, np.ndarray) else None


def _frame(X: Any, margin: float) -> Frame:
    """A square around these points."""
    low, high = X.min(axis=0), X.max(axis=0)
    half = max(float((high - low).max()) * (0.5 + margin), 1e-9)
    x, y = (float(middle) for middle in (low + high) / 2)
    return (x - half, x + half), (y - half, y + half)


def _without_outliers(X: Any) -> Any:
    """The points with the outer tenths in each direction pulled in: where a class mostly is."""
    low, high = np.quantile(X, [0.1, 0.9], axis=0)
    return np.clip(X, low, high)


def _draw_surface(axes: Any, evaluation: Evaluation, frame: Frame) -> None:
    """Tint by the score on either side of the decision, and the decision as a line."""
    across, up = (np.linspace(*side, _GRID_POINTS) for side in frame)
    points = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
    scores = evaluation.decision_function(points).reshape(_GRID_POINTS, _GRID_POINTS)
    largest = max(float(np.abs(scores).max()), 1e-300)
    # From the colour of the common class over nothing at all, at the decision, to that of the rare class.
    steps = np.linspace(-1.0, 1.0, 256)
    tints = [(*to_rgb(_RARE if step > 0 else _COMMON), _STRONGEST_TINT * abs(step)) for step in steps]
    levels = np.linspace(-1.0, 1.0, 17)
    axes.contourf(across, up, scores / largest, levels=levels, cmap=ListedColormap(tints))
    if scores.min() < 0.0 < scores.max():
        axes.contour(across, up, scores, levels=[0.0], colors=[INK], linewidths=1.3)


def _draw_examples(axes: Any, X: Any, positive: Any, size: float) -> None:
    for chosen, colour in ((~positive, _COMMON), (positive, _RARE)):
        axes.scatter(*X[chosen].T, s=size, color=colour, edgecolors=INK, linewidths=size / 40)


def _draw_support(axes: Any, run: Run) -> None:
    """A mark for each support vector, its area in proportion to the size of the weight."""
    vectors, weights = _support(run) or (np.empty((0, 2)), np.empty(0))
    largest = max(float(np.abs(weights).max(initial=0.0)), 1e-300)
    for chosen, colour in ((weights < 0, _COMMON), (weights > 0, _RARE)):
        sizes = _LARGEST_MARK * np.abs(weights[chosen]) / largest
        axes.scatter(*vectors[chosen].T, s=sizes, color=colour, alpha=0.75, edgecolors=INK, linewidths=0.5)


def _legend_of_surfaces() -> list[Line2D]:
    def dot(colour: str, text: str) -> Line2D:
        return Line2D([], [], ls="", marker="o", color=colour, label=text)

    return [dot(_RARE, "rare class"), dot(_COMMON, "other class"), Line2D([], [], color=INK, lw=1.3, label="decision")]


def _as_markup(figure: Figure, salt: str) -> str:
    """The drawing as an svg element; the salt keeps the names inside different from those of other drawings."""
    text = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": salt}):
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    markup = text.getvalue()
    markup = markup[markup.index("<svg") :]
    markup = re.sub(r"<metadata>.*?</metadata>", "", markup, flags=re.DOTALL)
    markup = re.sub(r'<g id="[\w.]+_\d+">', "<g>", markup)  # every drawing has its axes_1
    for place, colour in enumerate(_LEARNERS, start=1):
        markup = markup.replace(f": {colour}", f": var(--colour-{place}, {colour})")
    return markup.replace(INK, "currentColor").strip()


def weights_figure(model: Any) -> Figure:
    """What a Bayesian ranker is made of: the weights of its kernels, and those of its examples by class.

    A matplotlib figure, for `B2RMK` and `OB2RMK`: `weights_figure(model).savefig("weights.png")`.
    """
    figure = Figure(figsize=(_WIDTH, 3.2), layout="constrained")
    of_kernels, of_examples = figure.subplots(1, 2, width_ratios=(1, 2))
    kernels = model.kernel_weights_
    of_kernels.bar(np.arange(1, kernels.size + 1), kernels, color=_COMMON)
    of_kernels.set_title("weights of the kernels")
    of_kernels.set_xlabel("kernel")
    weights, is_rare = model.support_weights_, model.support_signs_ > 0
    places = np.arange(weights.size)
    for chosen, colour, name in ((is_rare, _RARE, "rare class"), (~is_rare, _COMMON, "other class")):
        of_examples.vlines(places[chosen], 0.0, weights[chosen], color=colour, label=name)
    of_examples.axhline(0.0, color="grey", linewidth=0.6)
    of_examples.set_title("weights of the examples")
    of_examples.set_xlabel("example")
    of_examples.legend(frameon=False)
    return figure


COLOURS = (*_LEARNERS, "#6c757d", "#d6336c", "#0c8599", "#74b816")


def empty_figure(width: float, height: float) -> Figure:
    """A figure of so many inches to draw on."""
    return Figure(figsize=(width, height), layout="constrained")


def drawing_style() -> Any:
    """A context in which figures look like those of a report."""
    return matplotlib.rc_context(_STYLE)


def as_markup(figure: Figure, salt: str) -> str:
    """Any figure as an svg element for a page."""
    return _as_markup(figure, salt)

"""The tables of the evidence for rare events, out of the log of its runs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lopsided.evaluate import RunLog, compare_across_sets
from rare_contestants import FADES, KNOWS, NEVER, NEW, PARTS
from rare_plays import LOOKS, held_out_after
from rare_sections import Section

Means = dict[str, dict[str, dict[str, float]]]  # set, method, measure
_PARTS = " of "
_MANY = 10  # sets that still stand side by side
_OLDEST = 2  # of PARTS: the ranker and the trees


def means_of(log: RunLog, section: Section) -> Means:
    """Means over the runs (medians where the number of rows that a recovery takes is among them)."""
    found: Means = {}
    for kind in section.sets:
        for name in section.runs:
            runs = [entry["measures"] for entry in log.of(section.name, kind, name)]
            if runs:
                average = np.median if "regained" in runs[0] else np.mean
                measures = {key: float(average([run[key] for run in runs])) for key in runs[0]}
                found.setdefault(kind, {})[name] = measures
    return found


def page(log: RunLog, known: Mapping[str, Section]) -> str:
    """All tables for which there is anything in the log, and last what the parts of the blend achieve."""
    order = [
        "cards",
        "cards-raw",
        "cards-small",
        "keel",
        "unseen",
        "one-percent",
        "flights",
        "drift",
        "drift-short",
        "series",
        "survey",
        "more",
    ]
    made = []
    for name in (name for name in order if name in known):
        section, means = known[name], means_of(log, known[name])
        if means:
            lines = _changes(section, means) if name.startswith("drift") else _table(section, means)
            lines += _to_one_level(log, section) if name.startswith("drift") else []
            made.append(f"### {section.title}\n\n{section.text}\n\n" + "\n".join(lines))
    found = [(section, means_of(log, section)) for section in known.values()]
    for title, lines in (
        ("The blend and its parts", _parts(found)),
        ("What watching for drift costs", _watching(found)),
    ):
        made += [f"### {title}\n\n" + "\n".join(lines)] if lines else []
    return "\n\n".join(made)


def _cell(measures: Mapping[str, float] | None, keys: tuple[str, ...]) -> str:
    return "-" if measures is None else " / ".join(_decimals(measures[key]) for key in keys)


def _table(section: Section, means: Means) -> list[str]:
    """A row for each contestant; columns by measure and set, the mean of sets, mean ranks, microseconds."""
    kinds = [kind for kind in section.sets if kind in means]
    columns, heads = [], []
    labels = {2: "AUC / AP", 3: "AUC / AP / best of the day"}
    for keys in section.measures:
        heading = section.headings.get(keys[0], "")
        heading = f"{heading}, {labels[len(keys)]}" if heading else labels[len(keys)]
        if section.per_set and len(kinds) > 1 and keys == section.measures[0]:
            columns += [(kind, keys) for kind in kinds]
            heads += [_short(kind) for kind in kinds]
        if section.averaged or len(kinds) == 1:
            columns.append((None, keys))
            heads.append(f"mean, {heading}" if len(kinds) > 1 else heading)
    ranked = section.averaged and len(kinds) > 1
    shown = [name for name in section.runs if name != NEVER]  # which has a table of its own
    everywhere = [name for name in shown if name != KNOWS and all(name in means[kind] for kind in kinds)]
    heads += ["rank by AUC", "rank by AP"] if ranked else []
    cells_of = [["", *heads, "us a row"]]
    ranks = [_ranks(means, kinds, everywhere, key) for key in section.measures[0][:2]] if ranked else []
    for name in shown:
        if not any(name in means[kind] for kind in kinds):
            continue
        cells = []
        for kind, keys in columns:
            own = means[kind].get(name) if kind else _mean([means[k].get(name) for k in kinds], keys)
            cells.append(_cell(own, keys))
        cells += [f"{rank[name]:.1f}" if name in rank else "-" for rank in ranks]
        cost = np.mean([means[kind][name]["us"] for kind in kinds if name in means[kind]])
        cells_of.append([name, *cells, f"{cost:,.0f}"])
    if len(kinds) > _MANY and section.per_set:  # a row for each set, and the contestants side by side
        cells_of = [list(row) for row in zip(*cells_of, strict=True)]
    lines = ["| " + " | ".join(row) + " |" for row in cells_of]
    return [lines[0].replace("|  |", "| |"), "|---|" + "---|" * (len(cells_of[0]) - 1), *lines[1:]]


def _mean(found: list[Mapping[str, float] | None], keys: tuple[str, ...]) -> dict[str, float] | None:
    if any(one is None for one in found):
        return None
    return {key: float(np.mean([one[key] for one in found if one is not None])) for key in keys}


def _ranks(means: Means, kinds: list[str], names: list[str], key: str) -> dict[str, float]:
    if len(names) < 2 or len(kinds) < 2:
        return {}
    return dict(compare_across_sets({k: {n: means[k][n][key] for n in names} for k in kinds}).mean_ranks)


def _short(kind: str) -> str:
    return kind.removeprefix("series ")


def _changes(section: Section, means: Means) -> list[str]:
    """AUC before / of all rows after / of the last 5,000, and rows until half is regained."""
    kinds = [kind for kind in section.sets if kind in means]
    is_long = any(own.get("rows after", 0.0) > 5_000 for kind in kinds for own in means[kind].values())
    keys = ("before", "auc", "auc last") if is_long else ("before", "auc")
    lines = [
        "AUC of rows held out before the change / of the rows after it"
        + (" / of the last 5,000 of them" if is_long else "")
        + "; rows until half of the loss is regained."
        + (" The rotating stream never stands still: AUC / AP of all rows." if "rotating" in kinds else ""),
        "",
        f"| | {' | '.join(kinds)} |",
        "|---|" + "---|" * len(kinds),
    ]
    for name in section.runs:
        if not any(name in means[kind] for kind in kinds):
            continue
        cells = []
        for kind in kinds:
            own = means[kind].get(name)
            if own is None or "regained" not in own:
                cells.append(_cell(own, ("auc", "ap")))
                continue
            rows = "never" if own["regained"] >= own["rows after"] else f"{own['regained']:,.0f}"
            cells.append(f"{_cell(own, keys)}; {rows}")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def _to_one_level(log: RunLog, section: Section) -> list[str]:
    """Rows until held-out rows are ranked as well as by the ranker that fades when it has regained half of its loss."""
    found: dict[str, dict[str, list[float]]] = {}
    for kind in section.sets:
        for own, theirs in zip(log.of(section.name, kind, NEW), log.of(section.name, kind, FADES), strict=False):
            measures = theirs["measures"]
            if not measures.get("regained") or held_out_after(LOOKS[0]) not in own["measures"]:
                continue  # blind to it, or nothing was lost
            level = (measures["before"] + measures["fell to"]) / 2.0
            for name, entry in ((NEW, own), (FADES, theirs)):
                found.setdefault(name, {}).setdefault(kind, []).append(_rows_until(level, entry["measures"]))
    if not found:
        return []
    kinds = [kind for kind in section.sets if kind in found[NEW]]
    lines = [f"| | {' | '.join(kinds)} |", "|---" * (len(kinds) + 1) + "|"]
    for name, rows in found.items():
        middles = [float(np.median(rows[kind])) for kind in kinds]
        lines.append(f"| {name} | " + " | ".join(f"{m:,.0f}" if np.isfinite(m) else "-" for m in middles) + " |")
    text = (
        f"{FADES} has less to regain where it had learned less. To one level: rows until the AUC of held-out rows is "
        "what it is when that one has regained half of its loss; medians of the runs in which it lost anything."
    )
    return ["", text, "", *lines]


def _rows_until(level: float, measures: Mapping[str, float]) -> float:
    """At the first look at which held-out rows are ranked that well; infinite if at none."""
    return next((float(rows) for rows in LOOKS if measures[held_out_after(rows)] >= level), float("inf"))


def _parts(found: list[tuple[Section, Means]]) -> list[str]:
    """For every section, means over its streams: the blend, the part that is better on each, and the difference."""
    lines = []
    for section, means in found:
        measured = [methods[NEW] for methods in means.values() if f"auc{_PARTS}{PARTS[0]}" in methods.get(NEW, {})]
        later = " from 60" if measured and "auc from 60" in measured[0] else None
        for suffix in ("", later) if later else ("",) if measured else ():
            cells = []
            for measure in (f"auc{suffix}", f"ap{suffix}"):
                own = np.array([one[measure] for one in measured])
                parts = np.array([[one[f"{measure}{_PARTS}{part}"] for part in PARTS] for one in measured])
                by_part = " / ".join(_decimals(value) for value in parts.mean(axis=0))
                cells += [_decimals(own.mean()), by_part, *(_less(own, parts[:, :n]) for n in (len(PARTS), _OLDEST))]
            kinds = [kind for kind, methods in means.items() if f"auc{_PARTS}{PARTS[0]}" in methods.get(NEW, {})]
            name = section.title + (f": {kinds[0]}" if len(kinds) == 1 < len(section.sets) else "")
            name += ", from day 60" if suffix else ""
            lines.append(f"| {name} | {len(measured)} | {' | '.join(cells)} |")
    if not lines:
        return []
    text = (
        "Means over streams: the answer; its ranker, trees, short memory and linear part alone, as they were in the "
        "same run; and the answer less the part that is best on each stream, all four of them considered, or only "
        "ranker and trees."
    )
    heads = (
        "| | streams | AUC | ranker / trees / short / linear | less the best | less ranker or trees | AP "
        "| ranker / trees / short / linear | less the best | less ranker or trees |"
    )
    return [text, "", heads, "|---" * 10 + "|", *lines]


def _less(own: np.ndarray, parts: np.ndarray) -> str:
    """By how much the answer is above the best part of each stream, and the worst of them."""
    less = own - parts.max(axis=1)
    return f"{less.mean():+.3f}" + (f" ({less.min():+.3f} at worst)" if less.size > 1 else "")


def _watching(found: list[tuple[Section, Means]]) -> list[str]:
    """What `forget="auto"` loses where nothing changes."""
    lines = []
    for section, means in found:
        both = [(methods[NEW], methods[NEVER]) for methods in means.values() if NEW in methods and NEVER in methods]
        if not both:
            continue
        cells, keys = [], section.measures[0]
        for key in keys[:2]:
            watching, never = (np.array([pair[k][key] for pair in both]) for k in (0, 1))
            worst = f" ({(watching - never).min():+.3f} at worst)" if len(both) > 1 else ""
            less = f"{(watching - never).mean():+.4f}{worst}"
            cells.append(f"{_decimals(watching.mean())} | {_decimals(never.mean())} | {less}")
        lines.append(f"| {section.title} | {len(both)} | {' | '.join(cells)} |")
    if not lines:
        return []
    text = 'On streams that do not change, `forget="auto"` beside `forget="never"`; means over streams.'
    heads = "| | streams | AUC | never | difference | AP | never | difference |"
    return [text, "", heads, "|---" * 8 + "|", *lines]


def _decimals(value: float) -> str:
    return f"{value:.3f}".replace("0.", ".", 1)

"""The sections of the evidence for rare events: which streams, who takes part, what is measured, how it is shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial

import numpy as np

import lopsided.datasets as streams
from flights import KEYS, flights
from lopsided.datasets import Dataset
from rare_contestants import EVERYBODY, FADES, KNOWS, NEVER, NEW, SLOW, contestant, parts_of
from rare_history import can_remember, with_history
from rare_plays import DAY, Change, Measures, areas, daily_precision, late, prompt, recovery

FRESH = 100  # seeds 0 to 4 and those of other pages were seen while choices were made; run r has the seed 100 + r
NINE = [
    "poker-8_vs_6",
    "poker-8-9_vs_6",
    "shuttle-2_vs_5",
    "kr-vs-k-zero_vs_eight",
    "winequality-white-3_vs_7",
    "yeast6",
    "abalone-17_vs_7-8-9-10",
    "yeast4",
    "page-blocks0",
]
# All other KEEL sets of at least 900 rows and 15 positives, as evidence_fourier.py finds them.
UNSEEN = [
    "abalone-19_vs_10-11-12-13",
    "abalone-20_vs_8-9-10",
    "abalone19",
    "car-good",
    "car-vgood",
    "flare-F",
    "kddcup-buffer_overflow_vs_back",
    "kddcup-guess_passwd_vs_satan",
    "kddcup-land_vs_portsweep",
    "kddcup-land_vs_satan",
    "kddcup-rootkit-imap_vs_back",
    "kr-vs-k-one_vs_fifteen",
    "kr-vs-k-three_vs_eleven",
    "kr-vs-k-zero-one_vs_draw",
    "kr-vs-k-zero_vs_fifteen",
    "poker-8-9_vs_5",
    "segment0",
    "shuttle-c0-vs-c4",
    "vowel0",
    "winequality-red-4",
    "winequality-white-3-9_vs_5",
    "yeast-0-2-5-6_vs_3-7-8-9",
    "yeast-0-2-5-7-9_vs_3-6-8",
    "yeast-1-2-8-9_vs_7",
    "yeast1",
    "yeast3",
    "yeast5",
]
SURVEY = {
    "agrawal": streams.agrawal,
    "asset_negotiation": streams.asset_negotiation,
    "hyperplane": streams.hyperplane,
    "minority_clusters": streams.minority_clusters,
    "mixed": streams.mixed,
    "random_rbf": streams.random_rbf,
    "random_tree": streams.random_tree,
    "sea": streams.sea,
    "sine": streams.sine,
    "texts": streams.texts,
}
SERIES = {
    "agrawal": (1, 2, 3, 4, 5),
    "random_rbf": (1, 2, 3, 4, 5),
    "random_tree": (1, 2, 3, 4, 5),
    "sea": (1, 2, 3, 4),
}
OF_THE_SURVEY = ("agrawal", "hyperplane", "mixed", "random_rbf", "random_tree", "sine")
_RATIOS = (20, 100)
_COUNTRIES = 16  # small ones in which everybody takes part
_FAR = 3.2  # between the means of classes that are farther apart


@dataclass(frozen=True)
class Section:
    """One table: its sets, who takes part in how many runs, how a cell is run, and what stands above it."""

    name: str
    title: str
    text: str
    sets: Sequence[str]
    runs: dict[str, int]  # how often each contestant is run
    play: Callable[[str, str, int], Measures]
    measures: tuple[tuple[str, str], ...] = (("auc", "ap"),)
    per_set: bool = True  # whether each set has a column
    averaged: bool = True  # whether a mean over its sets says anything
    headings: dict[str, str] = field(default_factory=dict)


@lru_cache(maxsize=2)
def stream_of(kind: str, seed: int) -> Dataset:
    """A stream by its name, kept for the next contestant."""
    family, _, rest = kind.partition(" ")
    if family == "cards":
        customers, days = map(int, rest.split(" ")[0].split("x"))
        cards = streams.card_stream(customers, 2 * customers, days, random_state=seed)
        if not rest.endswith("raw"):
            return cards
        raw = replace(cards, X=np.zeros((cards.n_rows, 0)), feature_names=[])
        return with_history(raw, ["customer", "terminal"], "amount", block=DAY, delay=7 * DAY)
    if family == "flights":
        plan = flights()
        return with_history(plan, list(KEYS), None, block=3600.0, delay=DAY / 2) if rest else plan
    if family == "linear":
        return streams.overlapping(20_000, 20, 0.01, distance=_FAR if rest else 2.4, random_state=seed)
    if family == "xor":
        return streams.xor(20_000, 0.01, random_state=seed)
    if family == "rotating":
        return streams.rotating_hyperplane(20_000, turns=1.0, random_state=seed)
    if family == "series":
        return SURVEY[rest](40_000, 0.01, SERIES[rest], random_state=seed)
    if rest.startswith("1:"):
        return SURVEY[family](20_000, 1.0 / (1.0 + int(rest[2:])), random_state=seed)
    return streams.load_keel(kind, random_state=seed)


def play_prompt(kind: str, name: str, run: int, changes: tuple[float, ...] = ()) -> Measures:
    """Labels that come at once; what the parts of the new learner would have answered is measured too."""
    stream = stream_of(kind, FRESH + run)
    found, _ = prompt(contestant(name, run), stream, changes)
    if name == NEW:
        found |= _areas_of_parts(stream.y, parts_of(contestant(name, run), stream.X, stream.y))
    return found


def _areas_of_parts(y: np.ndarray, parts: dict[str, np.ndarray], suffix: str = "") -> Measures:
    found: Measures = {}
    for name, scores in parts.items():
        found |= areas(y, scores, f"{suffix} of {name}")
    return found


def play_series(kind: str, name: str, run: int) -> Measures:
    """A stream of several concepts, and how the rows of each after the first are ranked."""
    n = len(SERIES[kind.partition(" ")[2]])
    return play_prompt(kind, name, run, tuple(k / n for k in range(1, n)))


def play_cards(kind: str, name: str, run: int) -> Measures:
    """Labels a week late, handed over at midnight; judged from the first labels on, and from day 60 on."""
    stream = stream_of(kind, FRESH + run)
    assert stream.times is not None and stream.columns is not None
    played = late(contestant(name, run, asked=True), stream, block=DAY, delay=7 * DAY, progress=name)
    found: Measures = {}
    best = max(1, int(kind.split(" ")[1].split("x")[0]) // 50)
    for first, suffix in ((8, ""), (60, " from 60")):
        part = stream.times >= first * DAY
        y, scores = stream.y[part], played.scores[part]
        found |= areas(y, scores, suffix)
        days, cards = stream.times[part] // DAY, stream.columns["customer"][part]
        found[f"best{suffix}"] = daily_precision(y, scores, days, cards, best)
        found |= _areas_of_parts(y, {name: said[part] for name, said in played.parts.items()}, suffix)
    return found | {"us": played.learning + played.scoring, "us to score": played.scoring, "rows": stream.n_rows}


def play_more_cards(kind: str, name: str, run: int) -> Measures:
    """The same in countries behind those of all contestants."""
    return play_cards(kind, name, _COUNTRIES + run)


def play_flights(kind: str, name: str, run: int) -> Measures:
    """Labels twelve hours late, handed over every hour; judged from the second month on."""
    stream = stream_of(kind, 0)
    assert stream.times is not None
    played = late(contestant(name, run, asked=True), stream, block=3600.0, delay=DAY / 2, progress=name)
    part = stream.times >= 31 * DAY
    found = _areas_of_parts(stream.y[part], {name: said[part] for name, said in played.parts.items()})
    return areas(stream.y[part], played.scores[part]) | found | {"us": played.learning + played.scoring}


CHANGES: dict[str, Callable[..., Dataset]] = {
    "places, abrupt": partial(streams.abrupt_drift, kind="places"),
    "places, gradual": partial(streams.abrupt_drift, kind="places"),
    "features, abrupt": partial(streams.abrupt_drift, kind="features"),
    "AGRAWAL 1 to 3": partial(streams.agrawal, concepts=(1, 3)),
    "AGRAWAL 2 to 4": partial(streams.agrawal, concepts=(2, 4)),
    "random tree": partial(streams.random_tree, concepts=(1, 2)),
    "random RBF": partial(streams.random_rbf, concepts=(1, 2)),
}
_LONG, _SHORT = 20_000, 5_000  # rows before a change, and after it


@lru_cache(maxsize=1)
def change_of(kind: str, seed: int, rows: int = _LONG, rare: float = 0.01) -> Change:
    """So many rows to learn before and after the change, and as many of each kind that nobody learns."""
    n, half = 4 * rows, 2 * rows
    gradual = rows // 5 if kind.endswith("gradual") else 0
    place, make = (half + gradual / 2) / n, CHANGES[kind]
    at = place if kind.startswith(("places", "features")) else (place,)
    stream = make(n, rare=rare, at=at, width=gradual / n, random_state=seed)
    return Change(
        stream,
        old=slice(0, rows),
        apart_old=slice(rows, half),
        new=slice(half, half + rows),
        apart_new=slice(half + rows, n),
    )


def play_change(kind: str, name: str, run: int) -> Measures:
    """One change, and what becomes of it; the rotating stream never stands still, so only its rows are judged."""
    if kind == "rotating":
        return play_prompt(kind, name, run)
    return recovery(contestant(name, run), change_of(kind, FRESH + run))


def play_short_change(kind: str, name: str, run: int) -> Measures:
    """The same at a length that forests row by row can afford."""
    return recovery(contestant(name, run), change_of(kind, FRESH + run, _SHORT, 0.05))


def sections() -> dict[str, Section]:
    """All of them by name, cheap ones first."""
    followers = [NEW, "FourierRanker", "FourierRanker 'auto', focus=6", FADES, "KOIL, scaled"]
    boosted = ["LightGBM", "LightGBM, lambda 10, positives x5", "LightGBM, small"]
    both = (("auc", "ap"), ("auc from 250", "ap from 250"))
    listed = [
        Section(
            "one-percent",
            "One positive in a hundred",
            "20,000 rows, 200 positives: two Gaussian classes in 20 dimensions, their means 2.4 deviations apart (far "
            "apart: 3.2); exclusive or in two. The second half is judged. Three streams each, the slow rivals one. "
            "Choices were made on linear and xor under other seeds.",
            ["linear", "linear far apart", "xor"],
            _runs(3, 1) | {NEVER: 3, KNOWS: 3},
            play_prompt,
            measures=(("auc half", "ap half"), ("auc", "ap")),
            headings={"auc half": "second half", "auc": "all rows"},
        ),
        Section(
            "keel",
            "Nine KEEL sets",
            "Two new orders (of the slow rivals one); from the first row on, and from row 250 on. Choices were made on "
            "these sets in other orders.",
            NINE,
            _runs(2, 1) | {NEVER: 2},
            play_prompt,
            measures=both,
            headings={"auc": "from row 0", "auc from 250": "from row 250"},
        ),
        Section(
            "unseen",
            "Twenty-seven other KEEL sets",
            f"{', '.join(UNSEEN)}. Means over the sets and mean ranks (1 is best). They had no part in any choice.",
            UNSEEN,
            _runs(1, 1) | {NEVER: 1},
            play_prompt,
            measures=both,
            per_set=False,
            headings={"auc": "from row 0", "auc from 250": "from row 250"},
        ),
        Section(
            "cards-small",
            "Cards, a small country",
            "200 customers, 400 terminals, 183 days; the best 4 cards a day. Labels 7 days late. Means of sixteen "
            "countries; the first was looked at when the linear part was limited, the others had no part in a choice.",
            ["cards 200x183"],
            dict.fromkeys([*followers[:3], "KOIL, scaled", *boosted[:2], "VW linear, balanced", NEVER], _COUNTRIES),
            play_cards,
            measures=(("auc", "ap", "best"), ("auc from 60", "ap from 60", "best from 60")),
            headings={"auc": "from day 8", "auc from 60": "from day 60"},
        ),
        Section(
            "cards-more",
            "Cards, thirty-two more small countries",
            "Countries of 200 customers that had no part in a choice, for a closer look at the blend and its parts.",
            ["cards 200x183"],
            {NEW: 32},
            play_more_cards,
            measures=(("auc", "ap", "best"), ("auc from 60", "ap from 60", "best from 60")),
        ),
        Section(
            "drift",
            "One change",
            "20,000 rows, one change, 20,000 rows, 1 % positives; medians of the runs. Held out are rows that nobody "
            "learns from. What notices drift was chosen on the same changes under other seeds.",
            [*CHANGES, "rotating"],
            dict.fromkeys(followers, 3)
            | {NEW: 30, FADES: 30}
            | dict.fromkeys([*boosted[:2], "VW linear, balanced"], 1),
            play_change,
        ),
        Section(
            "drift-short",
            "One change, sooner",
            "5,000 rows, one change, 5,000 rows, 5 % positives: the length at which River's forests could be run. This "
            "length and rate had no part in any choice.",
            list(CHANGES),
            dict.fromkeys([NEW, FADES], 3) | {"River ARF": 1, "River SRP": 1},
            play_short_change,
        ),
        Section(
            "series",
            "A series of concepts",
            "40,000 rows at 1:100, a new concept at every fifth (SEA: at every quarter); all rows are judged. What "
            "notices drift was chosen on single changes of the first three, under other seeds.",
            [f"series {name}" for name in SERIES],
            dict.fromkeys([*followers, *boosted[:2], "VW linear, balanced", "River ARF", "River SRP"], 1),
            play_series,
        ),
        Section(
            "survey",
            "The generators of the imbalanced-streams survey, at rest",
            "20,000 rows each, one in 20 and one in 100 positive. Under another seed they were among the streams that "
            "leaning blends must not make worse; agrawal, random_rbf, random_tree with a change had a part in choices.",
            [f"{name} 1:{ratio}" for ratio in _RATIOS for name in OF_THE_SURVEY],
            dict.fromkeys(
                [*followers[:3], "KOIL, scaled", *boosted[:2], "VW linear, balanced", "River ARF", "River SRP", NEVER],
                1,
            ),
            play_prompt,
        ),
        Section(
            "more",
            "Other generators, at rest",
            "20,000 rows each, one in 20 and one in 100 positive. sea and texts, under another seed, were among the "
            "streams on which choices were made; the others had no part in any.",
            [f"{name} 1:{ratio}" for ratio in _RATIOS for name in SURVEY if name not in OF_THE_SURVEY],
            dict.fromkeys([*followers[:3], "KOIL, scaled", *boosted[:2], "VW linear, balanced"], 1),
            play_prompt,
        ),
        Section(
            "flights",
            "Flights",
            "336,776 flights out of New York in 2013, 3.6 % cancelled or three hours late; labels 12 hours late, "
            "LightGBM refitted weekly. Judged from February on. They were looked at when the linear part was "
            "added and when bursts of positives were made to count less.",
            ["flights", *(["flights with history"] if can_remember() else [])],
            dict.fromkeys([*followers[:3], "KOIL, scaled", *boosted[:2], "VW linear, balanced"], 1),
            play_flights,
            averaged=False,
        ),
        Section(
            "cards",
            "Cards",
            "5,000 customers, 10,000 terminals, 183 days: 1.8 million rows. Labels 7 days late, handed over at "
            "midnight; LightGBM refitted weekly on all labelled rows. The best 100 cards a day. Choices were made on "
            "other, smaller countries.",
            ["cards 5000x183"],
            dict.fromkeys([*followers[:3], "KOIL, scaled", *boosted, "VW linear, balanced", NEVER], 1),
            play_cards,
            measures=(("auc", "ap", "best"), ("auc from 60", "ap from 60", "best from 60")),
            headings={"auc": "from day 8", "auc from 60": "from day 60"},
        ),
    ]
    if can_remember():
        listed.append(
            Section(
                "cards-raw",
                "Cards, from raw columns",
                "1,000 customers, 2,000 terminals, 183 days. The payments as customer, terminal, time and amount, with "
                "what a `KeyedHistory` of the two keys says of them. The best 20 cards a day. Raw columns "
                "of two smaller countries were among the streams on which scores were put on one scale.",
                ["cards 1000x183 raw"],
                dict.fromkeys([NEW, "FourierRanker 'auto', focus=6", *boosted[:2]], 1),
                play_cards,
                measures=(("auc", "ap", "best"), ("auc from 60", "ap from 60", "best from 60")),
                headings={"auc": "from day 8", "auc from 60": "from day 60"},
            )
        )
    return {section.name: section for section in listed}


def _runs(quick: int, slow: int) -> dict[str, int]:
    return {name: slow if name in SLOW else quick for name in EVERYBODY}

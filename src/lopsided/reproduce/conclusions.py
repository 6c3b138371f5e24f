"""Do the papers' conclusions hold? Who wins, ties and loses against whom, as published and here, by one rule."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from lopsided.evaluate import RunLog, paired_t_test
from lopsided.reproduce.comparison import Measured, Outcome, differs, method_for
from lopsided.reproduce.index import Made, read_folder
from lopsided.reproduce.published import Cell, published_cells, source_of
from lopsided.reproduce.registry import tables
from lopsided.reproduce.table import LITERAL, Table

_ENOUGH = 0.75  # of the published lead, for a claim to hold
_NOT_QUALITY = {"seconds", "vectors"}
_HEADING = (
    "# Do the papers' conclusions hold?",
    "A figure may be met and the conclusion drawn from it not, or the other way round. Here each method of a paper is "
    "set against each of its rivals: on how many sets it wins, ties and loses (win/tie/loss), as printed and here.",
    "```\nlopsided reproduce conclusions --output docs/evidence\n```",
    "**One rule for both sides.** The papers test runs in pairs, but print means and deviations alone, and pairs "
    "cannot be had from these. So a difference counts if Welch's t-test on means, deviations and numbers of runs calls "
    "it significant at 95 %; all else is a tie. Where no deviation is printed (OMCSL, LIBSVM), or none is above 0, a "
    "difference of at most 0.01 or 0.3 points is a tie, there and here. A paired test sees more, so a paper's own "
    "marks may show more wins; the last column has the paired t-test (95 %) on the runs made here, over the sets on "
    "which both methods have the same runs; by the published algorithms unless it says *ours*.",
    "*Published* counts all printed sets, *published, same sets* those that were run here. *Here* is the published "
    "algorithm; *ours* takes our variant where there is one. **Holds**: here the lead (wins less losses) is at least "
    "three quarters of that published on the same sets; **weaker**: there is a lead, but a smaller one; **not shown**: "
    "neither wins anywhere; **does not hold**: no more wins than losses; **no lead published**: by this rule the paper "
    "shows none on these sets. A claim that rests on a single set says so.",
    "The papers' own marks of significance are not among the figures that were copied from them, so they are not shown "
    "beside this rule.",
)


class Claim(NamedTuple):
    """A method that should be better than its rivals: all that are not the paper's own unless they are named."""

    table: str
    method: str
    rivals: tuple[str, ...] = ()
    rivals_in: str = ""  # another table of the same sets
    note: str = ""


CLAIMS = (
    Claim("koil-3.2", "KOIL_RS++"),
    Claim("koil-3.3", "KOIL_RS++", note="NORMA has no budget here, and is better than printed on most sets."),
    Claim("koil-3.3", "KOIL_FIFO++"),
    Claim(
        "koil-4.1",
        "KOIL_MKL_RS++",
        ("KOIL_RS++",),
        "koil-3.3",
        "Many kernels against one; in pairs on [a page of their own](many-kernels.md).",
    ),
    Claim("koil-4.1", "KOIL_MKL_FIFO++", ("KOIL_FIFO++",), "koil-3.3"),
    Claim("koil-4.1", "KOIL2_MKL_RS++", ("KOIL2_RS++",), "koil-3.3"),
    Claim("koil-4.1", "KOIL2_MKL_FIFO++", ("KOIL2_FIFO++",), "koil-3.3"),
    Claim("oilk-1", "OILK_FIFO"),
    Claim("oilk-1", "OILK_RS"),
    Claim(
        "spa-2",
        "SPA",
        note="Perceptron, OGD and PA-I have no budget. BPA-S and both Projectrons are far better here than printed.",
    ),
    Claim("spa-3", "SPA-avg"),
    Claim("spa-3", "SPA-avg", ("SPA-last",), note="The average against the last model."),
    Claim("spa-5", "BOMKC(SPA)", note="These rivals have no budget."),
    Claim("spa-6", "BOMKC(SPA)", note="The same budget for all."),
    Claim("omcsl-3", "OMCSL-h", ("OCS1-h", "OCS2-h", "OFO-h", "iOOB-h", "iUOB-h", "OPAUC")),
    Claim(
        "omcsl-3",
        "OMCSL-l",
        ("OCS1-l", "OCS2-l", "OFO-l", "iOOB-l", "iUOB-l", "OPAUC"),
        note="A set counts once for each measure. Areas of OCS and the F of iOOB and iUOB cannot be what they are "
        "printed as, so the published leads over these say little.",
    ),
    Claim("b2rmk-2", "B2RMK"),
    Claim(
        "b2rmk-3",
        "OB2RMK",
        note="Ours fits its buffers anew now and then. Many rivals are better here than printed, above all "
        "Projectron++.",
    ),
    Claim("b2rmk-3", "B2RMK", ("OB2RMK",), note="The batch ranker against its online form."),
)


class Record(NamedTuple):
    """Wins, ties and losses."""

    won: int = 0
    tied: int = 0
    lost: int = 0

    def __str__(self) -> str:
        return f"{self.won}/{self.tied}/{self.lost}" if sum(self) else "-"


Figures = Mapping[tuple[str, str, str], Measured]  # by set, measure and method


def write_conclusions(folder: Path) -> str:
    """Write conclusions.md into a folder, from the JSON files there or in its folder `tables`."""
    place = "tables/" if (folder / "tables").is_dir() else ""
    made = {one.table.name: one for one in read_folder(folder / place)}
    for name, one in made.items():
        made[name] = replace(one, log=RunLog(folder / place / f"{name}.jsonl"))
    text = "\n\n".join([*_HEADING, _tally(made), *_papers(made, place)]) + "\n"
    (folder / "conclusions.md").write_text(text, encoding="utf-8")
    return text


def _tally(made: Mapping[str, Made]) -> str:
    """How many claims hold, over all papers: a method against one rival is a claim."""
    rows = [compared(claim, rival, made) for claim in _made(made) for rival in _rivals(claim)]
    shown = [_verdict(row.before_here, row.here) for row in rows if sum(row.here)]
    led = [verdict for verdict in shown if verdict != "no lead published"]
    counted = ", ".join(f"{led.count(verdict)} {text}" for verdict, text in _COUNTED.items())
    return (
        f"**Of {len(rows)} comparisons {len(shown)} were run as published, and in {len(led)} of these the paper shows "
        f"a lead on the sets that were run: {counted}.** In the other {len(shown) - len(led)} it shows none."
    )


_COUNTED = {
    "holds": "hold",
    "weaker": "are weaker here",
    "not shown": "cannot be told here",
    "does not hold": "do not hold",
}


def _made(made: Mapping[str, Made]) -> list[Claim]:
    """The claims whose tables were made."""
    return [claim for claim in CLAIMS if {claim.table, claim.rivals_in or claim.table} <= set(made)]


def _papers(made: Mapping[str, Made], place: str) -> list[str]:
    parts: list[str] = []
    for paper in dict.fromkeys(claim.table.split("-")[0] for claim in _made(made)):
        claims = [claim for claim in _made(made) if claim.table.split("-")[0] == paper]
        head = "| claim | table | published | published, same sets | here | ours | the claim | here, paired |"
        lines, sentences = [head, "|---" * 8 + "|"], []
        for claim in claims:
            rows = {rival: compared(claim, rival, made) for rival in _rivals(claim)}
            lines += [
                f"| {claim.method} against {rival} | [{claim.table}]({place}{claim.table}.md) | {row.published} "
                f"| {row.before} | {row.here} | {row.ours} | {row.verdict} | {row.paired} |"
                for rival, row in rows.items()
            ]
            sentences.append(f"- {_sentence(claim, rows)}")
        parts += [f"## {source_of(paper)}", "\n".join(lines), "\n".join(sentences)]
    return parts


class Row(NamedTuple):
    """One method against one rival: in print, here by the published algorithms, and with our variants."""

    published: Record
    before_here: Record  # in print, on the sets of `here`
    here: Record
    before_ours: Record  # in print, on the sets of `ours`
    ours: Record
    paired: str

    @property
    def before(self) -> Record:
        """In print, on the sets that the verdict is about."""
        return self.before_here if sum(self.here) else self.before_ours

    @property
    def verdict(self) -> str:
        """What becomes of the claim; by the published algorithm if that was run, else by ours."""
        if sum(self.here):
            alone = " (one set)" if sum(self.here) == 1 else ""
            return _verdict(self.before_here, self.here) + alone
        return f"{_verdict(self.before_ours, self.ours)} (ours)" if sum(self.ours) else "not run"


def _verdict(before: Record, now: Record) -> str:
    if before.won <= before.lost:
        return "no lead published"
    if now.won == now.lost == 0:
        return "not shown"
    if now.won <= now.lost:
        return "does not hold"
    return "holds" if now.won - now.lost >= _ENOUGH * (before.won - before.lost) else "weaker"


def compared(claim: Claim, rival: str, made: Mapping[str, Made]) -> Row:
    """Count one claim on the published figures and on ours."""
    table, other = made[claim.table], made[claim.rivals_in or claim.table]
    printed = _printed(table.table) | _printed(other.table)
    as_published: dict[tuple[str, str, str], Measured] = {}
    with_ours: dict[tuple[str, str, str], Measured] = {}
    for one in (table, other):
        as_published |= {_key(r): r.here for r in one.results if r.here.runs}
        with_ours |= {_key(r): r.ours if r.ours.runs else r.here for r in one.results if r.ours.runs or r.here.runs}
    pair = (claim.method, rival)
    varied = any(r.ours.runs for one in (table, other) for r in one.results if r.cell.method in pair)
    places = [key[:2] for key in printed if key[2] == claim.method and (*key[:2], rival) in printed]
    here = [place for place in places if all((*place, name) in as_published for name in pair)]
    ours = [place for place in places if varied and all((*place, name) in with_ours for name in pair)]
    paired = _paired(table, other, pair, here)
    earlier = other.summary.get("wins", {}) if claim.method == table.table.reference and not claim.rivals_in else {}
    known = Record(*earlier.get(rival, ()))  # of runs that may not be in the log
    return Row(
        _record(table.table, pair, printed, printed, places),
        _record(table.table, pair, printed, printed, here),
        _record(table.table, pair, printed, as_published, here),
        _record(table.table, pair, printed, printed, ours),
        _record(table.table, pair, printed, with_ours, ours),
        str(paired) if sum(paired) >= sum(known) else f"{known}{' (ours)' if varied else ''}",
    )


def _rivals(claim: Claim) -> tuple[str, ...]:
    table = tables()[claim.table]
    methods = dict.fromkeys(cell.method for cell in published_cells(claim.table))
    return claim.rivals or tuple(name for name in methods if not table.is_own(name))


def _printed(table: Table) -> dict[tuple[str, str, str], Measured]:
    return {
        (cell.data, cell.measure, cell.method): Measured(cell.value, cell.deviation, table.runs)
        for cell in published_cells(table.name)
        if cell.measure not in _NOT_QUALITY
    }


def _key(result: Outcome) -> tuple[str, str, str]:
    cell: Cell = result.cell
    return cell.data, cell.measure, cell.method


def _record(
    table: Table, pair: tuple[str, str], printed: Figures, figures: Figures, places: Iterable[tuple[str, str]]
) -> Record:
    """Wins, ties and losses of the first of a pair."""
    counts = [0, 0, 0]
    for place in places:
        first, second = (figures[(*place, name)] for name in pair)
        tested = all(printed[(*place, name)].deviation >= 0.0 for name in pair)  # nan where none is printed
        difference = second.mean - first.mean if table.lower_is_better else first.mean - second.mean
        counts[1 - int(math.copysign(differs(first, second, table.tolerance, tested=tested), difference))] += 1
    return Record(*counts)


def _paired(table: Made, other: Made, pair: tuple[str, str], places: Iterable[tuple[str, str]]) -> Record:
    """The same, by the runs of the published algorithms in pairs; where the log has the same runs of both."""
    counts = [0, 0, 0]
    for place in places:
        first, second = (_runs(one, place, method) for one, method in zip((table, other), pair, strict=True))
        if len(first) > 1 and first.keys() == second.keys():
            better = paired_t_test(*([runs[number] for number in sorted(runs)] for runs in (first, second)))
            counts[1 + better if table.table.lower_is_better else 1 - better] += 1
    return Record(*counts)


def _runs(one: Made, place: tuple[str, str], method: str) -> dict[int, float]:
    """The published algorithm on one set by one measure: values by the number of the run."""
    data, measure = place
    name = method_for(one.table, Cell(one.table.name, data, method, measure, math.nan, math.nan))
    if one.table.difference_of(method) is not None:
        name += LITERAL
    return {entry["run"]: entry["measures"][measure] for entry in one.log.of(one.table.name, data, name)}


_WORDS = {
    "holds": "is better than {} here too",
    "weaker": "leads {} here, by less than published",
    "not shown": "cannot be told from {} here",
    "does not hold": "is not better than {} here",
    "no lead published": "has no clear lead over {} in print either",
}


def _sentence(claim: Claim, rows: Mapping[str, Row]) -> str:
    """What becomes of a claim against all rivals, in words; once more with our variants where there are any."""
    here = {rival: _verdict(row.before_here, row.here) for rival, row in rows.items() if sum(row.here)}
    ours = {rival: _verdict(row.before_ours, row.ours) for rival, row in rows.items() if sum(row.ours)}
    sentences = [f"**{claim.method}** ({claim.table}) {_in_words(here)}."] if here else []
    if ours:
        start = "With variants of ours it" if here else f"**{claim.method}** ({claim.table}), run as a variant of ours,"
        sentences.append(f"{start} {_in_words(ours)}.")
    return " ".join([*sentences, claim.note]).rstrip()


def _in_words(verdicts: Mapping[str, str]) -> str:
    said = []
    for verdict, text in _WORDS.items():
        rivals = [rival for rival, found in verdicts.items() if found == verdict]
        if rivals:
            said.append(text.format(" and ".join(filter(None, [", ".join(rivals[:-1]), rivals[-1]]))))
    return "; it ".join(said)

// Everything that is only looked at: measures over time, rivals, scores, days, pace.

import { escaped, histograms, lines, spans, stacks } from "./charts.js";
import * as words from "./words.js";

const byId = (id) => document.getElementById(id);
const MEASURES = ["auroc", "average_precision", "alert_precision"];
const MOST_POINTS = 300;
const MOST_SECONDS = 120;

function fill(field, text) {
  for (const element of document.querySelectorAll(`[data-field="${field}"]`)) {
    if (element.textContent !== text) element.textContent = text;
  }
}

export function showNumbers(state) {
  const { measures } = state.champion;
  const { pace, delay } = state;
  for (const name of MEASURES) {
    fill(name, words.share(measures[name]));
    fill(`${name}_interval`, words.interval(measures[`${name}_interval`]));
  }
  for (const name of ["waiting", "labels", "parked", "expired", "events"]) fill(name, words.count(state[name]));
  fill("delay_median", words.duration(delay?.median));
  fill("delay_p90", words.duration(delay?.p90));
  fill("share_known", words.percent(measures.share_known));
  byId("share-known").value = measures.share_known ?? 0;
  for (const name of ["events_per_second", "labels_per_second"]) fill(name, words.rate(pace[name]));
  for (const name of ["answer_median", "answer_p99", "write"]) fill(name, words.duration(pace[name]));
  fill("removed", words.count(state.storage.removed));
  fill("storage", words.bytes(state.storage.bytes) + (state.storage.limit === null ? "" : ` of ${words.bytes(state.storage.limit)}`));
  fill("positive", String(state.positive));
  fill("negative", String(state.negative));
  byId("clock").textContent = words.clock(state.clock);
  byId("window-words").textContent = measures.labels
    ? `Over the latest ${words.count(measures.labels)} labels, ${words.count(measures.positives)} of them ${state.positive}, by the scores that were answered before the labels came. Bands are 95 % intervals.${state.challenger ? " Dashed: the challenger." : ""}`
    : "Measures begin with the first labels of events that the model has scored.";
  document.documentElement.dataset.sequence = state.sequence;
  document.documentElement.dataset.measured = measures.labels;
}

// How the measures went: the past that the service kept, and what has come since.
export class Course {
  constructor(points) {
    this.points = points;
    this.seconds = [];
    this.step = 1;
    this.skipped = 0;
  }

  take(state) {
    this.seconds.push([Date.now() / 1000, state.pace.events_per_second]);
    if (this.seconds.length > MOST_SECONDS) this.seconds.shift();
    const band = (measures, name) => (measures?.[name] == null ? null : [measures[name], ...(measures[`${name}_interval`] ?? [])]);
    const point = (line) => line && Object.fromEntries(MEASURES.map((name) => [name, band(line.measures, name)]));
    if (state.clock === null || state.champion.measures.auroc === null) return;
    if (++this.skipped < this.step && this.points.length) this.points.pop(); // the last one is always the present
    else this.skipped = 0;
    this.points = this.points.filter((known) => known.clock < state.clock);
    this.points.push({ clock: state.clock, champion: point(state.champion), challenger: point(state.challenger) });
    if (this.points.length > MOST_POINTS) {
      this.points = this.points.filter((_, k) => (this.points.length - 1 - k) % 2 === 0);
      this.step *= 2;
    }
  }

  draw() {
    for (const name of MEASURES) {
      const of = (who) => this.points.filter((point) => point[who]?.[name]).map((point) => [point.clock, ...point[who][name]]);
      const series = [{ kind: "champion", points: of("champion") }];
      // Alerts are the champion's: a precision of them says nothing of the challenger.
      if (name !== "alert_precision" && of("challenger").length) series.push({ kind: "rival", points: of("challenger") });
      const last = series[0].points.at(-1);
      lines(byId(`${name}-chart`), series, { say: `${name.replaceAll("_", " ")} over time${last ? `, now ${words.share(last[1])}` : ""}` });
    }
    lines(byId("pace-chart"), [{ kind: "champion", points: this.seconds }], {
      say: "Events per second in the last two minutes", height: 80, limits: [0, Infinity], least: 2, floor: 0, xs: (x) => words.moment(x, 1),
    });
  }
}

export function showRivals(state) {
  const { champion, challenger } = state;
  byId("promote").hidden = challenger === null;
  const row = (who, line) => {
    const number = (name) => `<td><span data-field="${who}.${name}">${words.share(line.measures[name])}</span><small>${words.interval(line.measures[`${name}_interval`])}</small></td>`;
    return `<tr><th scope="row"><i class="${who}"></i>${escaped(line.learner)}<small class="quiet"> ${who}</small></th>${number("auroc")}${number("average_precision")}</tr>`;
  };
  const table = `<table><thead><tr><th scope="col">Learner</th><th scope="col">AUROC</th><th scope="col">Avg. precision</th></tr></thead><tbody>${row("champion", champion)}${challenger ? row("challenger", challenger) : ""}</tbody></table>`;
  byId("rivals").innerHTML = `${table}<div class="chart" id="spans"></div><p class="verdict-words">${escaped(state.status === "live" ? verdict(champion, challenger) : "")}</p>`;
  const lines = [["champion", champion], ["challenger", challenger]].filter(([, line]) => line);
  spans(byId("spans"), lines.map(([who, line]) => [who, who, line.measures.auroc, line.measures.auroc_interval]), "AUROC of both learners with 95 % intervals");
}

function verdict(champion, challenger) {
  if (!challenger) return "No challenger watches. One can be set by PUT /models/NAME/challenger.";
  const [own, other] = [champion.measures.auroc_interval, challenger.measures.auroc_interval];
  if (!own || !other) return "There are too few labels to compare them.";
  if (other[0] > own[1]) return "By AUROC the challenger is ahead: the intervals do not overlap.";
  if (own[0] > other[1]) return "By AUROC the champion is ahead: the intervals do not overlap.";
  return "The intervals of their AUROC overlap: neither is clearly better yet.";
}

export function showScores(scores, state) {
  const sum = (counts) => counts.reduce((total, n) => total + n, 0);
  const kinds = [["rare", state.positive, scores.positive], ["usual", state.negative, scores.negative], ["unknown", "not known yet", scores.unknown]];
  histograms(byId("scores-chart"), scores, kinds, `Scores of ${kinds.map(([, name, counts]) => `${sum(counts)} ${name}`).join(", ")}`);
  byId("scores-legend").innerHTML = kinds.map(([kind, name, counts]) => `<span><i class="${kind}"></i>${escaped(name)} ${words.count(sum(counts))}</span>`).join("");
}

// What the alarm for drift says, the latest first.
export function showDrift({ drift }) {
  const sentence = drift === null ? "" : drift.found.length ? "" : drift.days + 1 < drift.days_needed
    ? `The alarm compares whole days of ${drift.series.join(", ")}: it can tell after ${drift.days_needed} of them, ${drift.days} so far.`
    : `No drift found in ${drift.series.join(", ")}, comparing whole days.`;
  const items = (drift?.found ?? []).slice(-3).reverse().map((one) => `<li>${escaped(one.what)} <span class="quiet">since ${words.moment(one.since, Infinity)}</span></li>`);
  const content = items.length ? `<ul class="found">${items.join("")}</ul>` : escaped(sentence);
  if (byId("drift-words").dataset.shown !== content) byId("drift-words").innerHTML = content;
  byId("drift-words").dataset.shown = content;
}

export function showDays(days, state) {
  const { positive, negative } = state;
  const parts = (day) => [
    ["rare", day.positive_alerts, positive],
    ["usual", day.labelled_alerts - day.positive_alerts, negative],
    ["unknown", day.alerts - day.labelled_alerts, "not known yet"],
  ];
  stacks(byId("outcomes-chart"), days.filter((day, k, all) => all.slice(0, k + 1).some((one) => one.alerts)).map((day) => [words.shortDay(day.day), parts(day)]), "Alerts by day and what they turned out to be");
  byId("outcomes-legend").innerHTML = [["rare", positive], ["usual", negative], ["unknown", "not known yet"]].map(([kind, name]) => `<span><i class="${kind}"></i>${escaped(name)}</span>`).join("");
  const scored = days.filter((day) => day.mean_score !== null).map((day) => [Date.parse(day.day) / 1000, day.mean_score]);
  lines(byId("drift-chart"), scored.length ? [{ kind: "champion", points: scored }] : [], { say: "Mean score by day", height: 130, limits: [-Infinity, Infinity], least: 1e-6, xs: (x) => words.moment(x, Infinity) });
}

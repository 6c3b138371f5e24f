// The alerts of a day: what they are, why, and what an analyst says of them.

import { ask } from "./service.js";
import { cell, count, dayName, percent, shiftedDay, timeOfDay } from "./words.js";

const byId = (id) => document.getElementById(id);
const MOST = 200;
const OUTCOMES = {
  learned: "learned",
  corrected: "corrected",
  duplicate: "known already",
  parked: "waits for its event",
  "too late": "came too late to be learned",
  "not selected": "not learned: this event was not selected for labelling",
};

function made(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "style") element.style.cssText = value;
    else if (name.startsWith("on")) element[name] = value;
    else if (value !== false) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

export class Alerts {
  constructor(say) {
    this.say = say;
    this.list = byId("alert-list");
    this.reset(null);
    byId("day-before").onclick = () => this.show(shiftedDay(this.day, -1));
    byId("day-after").onclick = () => this.show(shiftedDay(this.day, 1));
    byId("day-latest").onclick = () => this.show(null);
    byId("yesterday").onclick = () => this.show(shiftedDay(this.latest, -1));
    byId("new-alerts").onclick = () => this.draw(true);
    document.addEventListener("keydown", (event) => this.key(event));
    byId("alerts").addEventListener("focusin", () => this.hold());
  }

  reset(model) {
    Object.assign(this, { model, latest: null, pinned: null, found: [], rows: new Map(), drawn: null, state: null });
    this.list.replaceChildren();
  }

  get day() {
    return this.pinned ?? this.latest;
  }

  get path() {
    return `/models/${encodeURIComponent(this.model)}`;
  }

  // A new state of the model: the latest day may be another one now.
  take(state) {
    const isNew = this.latest !== state.day;
    this.state = state;
    this.latest = state.day;
    if (isNew) this.refresh();
  }

  // Somebody works on this day: it stays, while the stream goes on.
  hold() {
    if (this.pinned === null && this.latest !== null && this.list.contains(document.activeElement)) {
      this.pinned = this.latest;
      this.name();
    }
  }

  show(day) {
    this.pinned = day === this.latest ? null : day;
    if (day === null) document.activeElement?.blur();
    this.refresh();
  }

  async refresh() {
    const [day, model] = [this.day, this.model];
    if (day === null || this.state === null) return;
    const answer = await ask(`${this.path}/alerts?day=${day}&limit=${MOST}`);
    if (day !== this.day || model !== this.model) return;
    this.found = answer.alerts;
    this.draw(this.drawn !== day);
  }

  // What became of yesterday's alerts, while today's are shown.
  takeDays(days) {
    const found = this.pinned === null && this.latest ? days.find((day) => day.day === shiftedDay(this.latest, -1)) : undefined;
    byId("yesterday").hidden = !found;
    if (!found) return;
    const { positive, negative } = this.state;
    const no = found.labelled_alerts - found.positive_alerts;
    byId("yesterday").textContent = `Yesterday: ${count(found.alerts)} alerts, ${count(found.positive_alerts)} ${positive}, ${count(no)} ${negative}`;
  }

  name() {
    const gap = (Date.parse(this.latest) - Date.parse(this.day)) / 86400000;
    const word = gap === 0 ? "Today" : gap === 1 ? "Yesterday" : "";
    byId("day-name").textContent = `${word ? `${word}, ` : ""}${dayName(this.day)}`;
    byId("day-name").dataset.day = this.day;
    byId("day-after").disabled = gap <= 0;
    byId("day-latest").hidden = this.pinned === null;
  }

  // New rows go on top, but never while somebody aims at one: then a button offers them.
  draw(all = false) {
    this.name();
    if (this.drawn !== this.day) {
      this.list.replaceChildren();
      this.rows.clear();
      this.drawn = this.day;
    }
    const isBusy = !all && this.rows.size > 0 && (this.list.matches(":hover") || this.list.contains(document.activeElement));
    const fresh = this.found.filter((alert) => !this.rows.has(alert.id));
    if (!isBusy) for (const alert of fresh.reverse()) this.insert(alert);
    byId("new-alerts").hidden = !isBusy || fresh.length === 0;
    byId("new-alerts").textContent = `Show ${count(fresh.length)} new ${fresh.length === 1 ? "alert" : "alerts"}`;
    for (const alert of this.found) this.judge(alert);
    this.sum();
  }

  sum() {
    const { positive, negative } = this.state;
    const all = this.found.filter((alert) => !alert.explore);
    const explored = this.found.length - all.length;
    const [yes, no] = [positive, negative].map((label) => all.filter((alert) => alert.label === label).length);
    const open = all.length - yes - no;
    const budget = this.state.settings.decision?.alerts;
    const words = all.length === 0 ? "No alerts on this day yet." : `${count(all.length)} ${all.length === 1 ? "alert" : "alerts"}${all.length === MOST ? " (the latest)" : ""}: ${count(yes)} ${positive}, ${count(no)} ${negative}, ${count(open)} not known yet.`;
    const extra = (budget ? ` Budget ${budget}.` : "") + (explored ? ` ${count(explored)} more were drawn at random to be looked at.` : "");
    byId("day-words").textContent = words + extra;
    byId("day-outcomes").replaceChildren(...[["rare", yes], ["usual", no], ["unknown", open]].map(([kind, n]) => made("i", { class: kind, style: `flex-grow: ${n}` })));
  }

  insert(alert) {
    const cells = Object.entries(alert.columns).filter(([name]) => name !== this.state.settings.time).slice(0, 6);
    const strength = alert.probability ?? null;
    const button = made(
      "button",
      { class: "row", "aria-expanded": "false", onclick: () => this.open(alert.id) },
      made("time", {}, timeOfDay(alert.time)),
      made("span", { class: "cells" }, ...cells.map(([name, value]) => made("span", {}, made("em", {}, `${name} `), cell(value))), ...(alert.explore ? [" ", made("span", { class: "explore" }, "drawn at random")] : [])),
      made("span", { class: "strength", title: `score ${alert.score}` }, strength === null ? alert.score.toFixed(3) : percent(strength), made("i", { style: `--share: ${100 * (strength ?? 0)}%` })),
    );
    const row = made("li", { "data-id": alert.id }, button, made("span", { class: "verdict" }));
    this.rows.set(alert.id, { row, button, label: undefined });
    this.list.prepend(row);
  }

  // What an alert turned out to be, or two buttons to say so.
  judge(alert) {
    const known = this.rows.get(alert.id);
    if (!known || known.label === alert.label) return;
    known.label = alert.label;
    const { positive, negative } = this.state;
    const verdict = known.row.querySelector(".verdict");
    if (alert.label !== null) {
      verdict.replaceChildren(made("span", { class: `chip ${alert.label === positive ? "positive" : ""}` }, String(alert.label)));
    } else {
      const say = (label, kind) => made("button", { class: kind, "aria-label": `Label ${alert.id} ${label}`, onclick: () => this.label(alert.id, label) }, String(label));
      verdict.replaceChildren(say(positive, "yes"), say(negative, "no"));
    }
  }

  async label(id, label, correct = false) {
    const known = this.rows.get(id);
    try {
      const { outcome } = await ask(`${this.path}/labels`, "POST", correct ? { id, label, correct } : { id, label });
      this.say(`${id} is ${label}: ${OUTCOMES[outcome] ?? outcome}.`);
      known?.button.focus();
      await this.refresh();
    } catch (refusal) {
      if (refusal.status === 409) {
        this.say(`${id} has another label.`, { words: `Correct it: ${label}`, act: () => this.label(id, label, true) });
        await this.refresh();
      } else {
        this.say(refusal.message);
      }
    }
  }

  async open(id) {
    const { row, button } = this.rows.get(id);
    const shown = row.querySelector(".reasons");
    button.setAttribute("aria-expanded", String(!shown));
    if (shown) {
      shown.remove();
      return;
    }
    const box = made("div", { class: "reasons" }, made("p", { class: "caption" }, "Looking for reasons…"));
    row.append(box);
    try {
      const event = await ask(`${this.path}/events/${encodeURIComponent(id)}`);
      const most = Math.max(...event.reasons.map((reason) => Math.abs(reason.amount)), 1e-12);
      const rows = event.reasons.map(({ what, amount }) =>
        made("tr", {}, made("th", { scope: "row" }, what), made("td", { class: "amount" }, `${amount < 0 ? "−" : "+"}${Math.abs(amount).toFixed(3)}`), made("td", {}, made("span", { class: `push ${amount > 0 ? "up" : ""}`, style: `--share: ${(100 * Math.abs(amount)) / most}%` }))),
      );
      const words = `${id} · score ${event.answer.score.toFixed(3)}. What it is made of, by the model that answers now:`;
      box.replaceChildren(made("p", { class: "caption" }, rows.length ? words : `${id} · this learner gives no reasons.`), made("table", {}, made("tbody", {}, ...rows)));
    } catch (refusal) {
      box.replaceChildren(made("p", { class: "caption" }, refusal.message));
    }
  }

  // j and k move, p and n label what is in focus; not while somebody writes.
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea") || document.querySelector("dialog[open]")) return;
    const rows = [...this.list.children];
    const here = rows.indexOf(document.activeElement?.closest("#alert-list > li"));
    if (event.key === "j" || event.key === "k") {
      const next = rows[here === -1 ? 0 : Math.min(rows.length - 1, Math.max(0, here + (event.key === "j" ? 1 : -1)))];
      next?.querySelector(".row").focus();
      event.preventDefault();
    } else if ((event.key === "p" || event.key === "n") && here !== -1) {
      this.label(rows[here].dataset.id, event.key === "p" ? this.state.positive : this.state.negative);
      event.preventDefault();
    }
  }
}

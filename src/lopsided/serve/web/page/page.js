// The page: which model is looked at, what comes of it, and when what is drawn anew.

import { Alerts } from "./alerts.js";
import { Course, showDays, showDrift, showNumbers, showRivals, showScores } from "./panels.js";
import { ask, states } from "./service.js";

const byId = (id) => document.getElementById(id);
const BETWEEN_LOOKS = 2500; // milliseconds, at what the stream of states does not tell
const BETWEEN_MODELS = 10000;

let chosen = null; // the model, its last state, and what ends watching it
let silence = 0;
const alerts = new Alerts(say);

function say(text, action = null) {
  const box = byId("said");
  box.textContent = text;
  if (action) {
    const button = document.createElement("button");
    button.textContent = action.words;
    button.onclick = action.act;
    box.append(button);
  }
  clearTimeout(silence);
  silence = setTimeout(() => (box.textContent = ""), action ? 12000 : 5000);
}

function showStatus(is, text) {
  if (byId("status").textContent !== text) byId("status").textContent = text;
  byId("status").dataset.is = is;
}

function showNotes(notes) {
  const items = notes.map((note) => {
    const item = document.createElement("li");
    item.textContent = note;
    return item;
  });
  if (byId("notes").textContent !== notes.join("")) byId("notes").replaceChildren(...items);
}

function take(own, state) {
  own.state = state;
  byId("main").hidden = false;
  showStatus(state.status, state.status);
  showNotes(state.notes);
  showNumbers(state);
  showDrift(state);
  own.course.take(state);
  alerts.take(state);
  if (!document.hidden) draw(own);
}

function draw(own) {
  if (own.state === null) return;
  own.course.draw();
  showRivals(own.state);
}

async function look(own) {
  if (own.state === null || document.hidden) return;
  const [scores, { days }] = await Promise.all([ask(`${own.path}/scores`), ask(`${own.path}/days?limit=30`), alerts.refresh()]);
  if (own !== chosen) return;
  Object.assign(own, { scores, days });
  showScores(scores, own.state);
  showDays(days, own.state);
  alerts.takeDays(days);
}

async function watch(name) {
  chosen?.ending.abort();
  const own = { name, path: `/models/${encodeURIComponent(name)}`, state: null, course: new Course([]), ending: new AbortController() };
  chosen = own;
  alerts.reset(name);
  location.hash = name;
  const looking = setInterval(() => look(own).catch(() => {}), BETWEEN_LOOKS);
  own.ending.signal.addEventListener("abort", () => clearInterval(looking));
  for (let wait = 500; own === chosen; wait = Math.min(2 * wait, 5000)) {
    try {
      own.course = new Course((await ask(`${own.path}/history`)).points);
      for await (const state of states(name, own.ending.signal)) {
        if (own !== chosen) return;
        const isFirst = own.state === null;
        take(own, state);
        if (isFirst) look(own).catch(() => {});
        wait = 500;
      }
    } catch (error) {
      if (own !== chosen) return;
      console.debug(error);
    }
    showStatus("lost", "reconnecting");
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}

async function findModels() {
  const { models } = await ask("/models");
  const select = byId("model");
  if ([...select.options].map((option) => option.value).join(" ") !== models.join(" ")) {
    select.replaceChildren(...models.map((name) => new Option(name, name)));
    if (chosen) select.value = chosen.name;
  }
  select.disabled = models.length < 2;
  byId("empty").hidden = models.length > 0;
  if (models.length === 0) showStatus("waiting", "no model yet");
  if (chosen === null && models.length) {
    const wanted = decodeURIComponent(location.hash.slice(1));
    select.value = models.includes(wanted) ? wanted : models[0];
    watch(select.value);
  }
}

async function keepFinding() {
  for (;;) {
    await findModels().catch(() => showStatus("lost", "reconnecting"));
    await new Promise((resolve) => setTimeout(resolve, chosen === null ? 1000 : BETWEEN_MODELS));
  }
}

byId("origin").textContent = location.origin;
byId("model").onchange = (event) => watch(event.target.value);
byId("promote").onclick = () => {
  const { champion, challenger } = chosen.state;
  byId("promote-words").textContent = `${challenger.learner} will answer from now on, in the place of ${champion.learner}. Keep the champion as a version first if you may want to go back to it.`;
  byId("promote-dialog").returnValue = "";
  byId("promote-dialog").showModal();
};
byId("promote-dialog").onclose = async () => {
  if (byId("promote-dialog").returnValue !== "yes") return;
  try {
    await ask(`${chosen.path}/promote`, "POST");
    say("The challenger answers from now on.");
  } catch (refusal) {
    say(refusal.message);
  }
};
const redraw = () => {
  if (!chosen?.state) return;
  draw(chosen);
  if (chosen.days) {
    showScores(chosen.scores, chosen.state);
    showDays(chosen.days, chosen.state);
  }
};
new ResizeObserver(redraw).observe(document.body);
document.addEventListener("visibilitychange", () => document.hidden || redraw());
keepFinding();

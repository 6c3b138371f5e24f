// Drawings as SVG, as wide as the box that holds them. Colours and type are those of page.css.

import { moment } from "./words.js";

const NAMES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
export const escaped = (text) => String(text).replace(/[&<>"']/g, (sign) => NAMES[sign]);
const at = (x) => x.toFixed(1);

// A frame with a scale on the right and whatever is drawn inside; `say` is for those who cannot see it.
function frame(box, height, say, draw) {
  const width = Math.max(160, box.clientWidth);
  const content = draw(width, height);
  if (content !== null) {
    box.innerHTML = `<svg viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(say)}">${content}</svg>`;
  }
}

// Two to four round numbers from low to high.
export function ticks(low, high) {
  const span = high - low;
  if (!(span > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(span / 3));
  const step = [1, 2, 2.5, 5, 10].map((k) => k * power).find((step) => span / step <= 4) ?? 10 * power;
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * span; k++) found.push(Number((k * step).toPrecision(12)));
  return found;
}

const number = (x) => String(Number(x.toPrecision(3)));

// Lines over time, each with a band where it has one: series are [{kind, points: [[x, value, low, high], ...]}].
export function lines(box, series, { say, height = 150, least = 0.02, limits = [0, 1], xs = moment, floor = Infinity } = {}) {
  const every = series.flatMap((one) => one.points);
  if (every.length === 0) {
    box.innerHTML = '<p class="caption">Nothing to draw yet.</p>';
    return;
  }
  const values = every.flatMap((point) => point.slice(1).filter((value) => value != null));
  const [x0, x1] = [Math.min(...every.map((p) => p[0])), Math.max(...every.map((p) => p[0]))];
  let [low, high] = [Math.min(floor, ...values), Math.max(...values)];
  const air = Math.max(0.08 * (high - low), least / 2);
  [low, high] = [Math.max(limits[0], low - air), Math.min(limits[1], high + air)];
  if (!(high > low)) [low, high] = [low - least, high + least];
  const marks = ticks(low, high);
  const right = 8 + 6.5 * Math.max(...marks.map((mark) => number(mark).length));
  const [top, bottom] = [8, 20];
  let toX, toY;
  frame(box, height, say, (width) => {
    toX = (x) => 2 + (x1 > x0 ? (x - x0) / (x1 - x0) : 1) * (width - right - 8);
    toY = (y) => top + ((high - y) / (high - low)) * (height - top - bottom);
    const parts = marks.map((mark) => `<line class="grid" x1="0" x2="${width - right}" y1="${at(toY(mark))}" y2="${at(toY(mark))}"/><text x="${width}" y="${at(toY(mark) + 4)}" text-anchor="end">${number(mark)}</text>`);
    for (const one of [...series].reverse()) {
      const banded = one.points.filter((point) => point.length > 2 && point[2] != null);
      if (banded.length > 1) {
        const path = [...banded.map((p) => `${at(toX(p[0]))} ${at(toY(p[3]))}`), ...[...banded].reverse().map((p) => `${at(toX(p[0]))} ${at(toY(p[2]))}`)];
        parts.push(`<path class="band ${one.kind}" d="M${path.join("L")}Z"/>`);
      }
    }
    for (const one of [...series].reverse()) {
      parts.push(`<path class="curve ${one.kind}" d="M${one.points.map((p) => `${at(toX(p[0]))} ${at(toY(p[1]))}`).join("L")}"/>`);
    }
    const last = series[0].points.at(-1);
    if (last) parts.push(`<circle class="end" cx="${at(toX(last[0]))}" cy="${at(toY(last[1]))}" r="4"/>`);
    if (x1 > x0) parts.push(`<text x="0" y="${height - 4}">${xs(x0, x1 - x0)}</text><text x="${width - right}" y="${height - 4}" text-anchor="end">${xs(x1, x1 - x0)}</text>`);
    parts.push('<g class="aimed"></g>');
    return parts.join("");
  });
  if (x1 > x0) readable(box.firstElementChild, series[0].points, toX, toY, (x) => xs(x, x1 - x0), height - bottom);
}

// Under the pointer: the nearest point of the first line, in numbers.
function readable(svg, points, toX, toY, words, bottom) {
  const group = svg.querySelector(".aimed");
  svg.onpointermove = (event) => {
    const x = event.clientX - svg.getBoundingClientRect().left;
    const near = points.reduce((best, point) => (Math.abs(toX(point[0]) - x) < Math.abs(toX(best[0]) - x) ? point : best));
    const [px, side] = [toX(near[0]), toX(near[0]) > 150 ? "end" : "start"];
    const text = `${number(near[1])} · ${words(near[0])}`;
    const left = side === "end" ? px - 12 - 6.4 * text.length : px + 4;
    group.innerHTML = `<line class="aim" x1="${at(px)}" x2="${at(px)}" y1="4" y2="${bottom}"/><circle class="end" cx="${at(px)}" cy="${at(toY(near[1]))}" r="4"/><rect class="halo" x="${at(left)}" y="0" width="${at(6.4 * text.length + 8)}" height="16"/><text class="tip" x="${at(px + (side === "end" ? -8 : 8))}" y="12" text-anchor="${side}">${escaped(text)}</text>`;
  };
  svg.onpointerleave = () => (group.innerHTML = "");
}

// Shares of each class by score: the classes in rows of their own, because one is a hundred times rarer.
export function histograms(box, scores, kinds, say) {
  const rowHeight = 44;
  if (scores.edges.length === 0) {
    box.innerHTML = '<p class="caption">No scores yet.</p>';
    return;
  }
  const [low, high] = [scores.edges[0], scores.edges.at(-1)];
  frame(box, kinds.length * rowHeight + 18, say, (width, height) => {
    const toX = (x) => ((Math.min(Math.max(x, low), high) - low) / (high - low)) * width;
    const parts = kinds.map(([kind], row) => {
      const counts = scores[{ rare: "positive", usual: "negative", unknown: "unknown" }[kind]];
      const [most, floor] = [Math.max(...counts, 1), (row + 1) * rowHeight];
      const bars = counts.map((n, k) => {
        const tall = n ? Math.max(1.2, (n / most) * (rowHeight - 8)) : 0;
        return `<rect x="${at(toX(scores.edges[k]) + 0.5)}" y="${at(floor - tall)}" width="${at(Math.max(1, width / counts.length - 1))}" height="${at(tall)}"/>`;
      });
      return `<g class="${kind}">${bars.join("")}</g><line class="grid" x1="0" x2="${width}" y1="${floor + 0.5}" y2="${floor + 0.5}"/>`;
    });
    if (scores.threshold != null && scores.threshold >= low && scores.threshold <= high) {
      const x = toX(scores.threshold);
      parts.push(`<line class="aim" x1="${at(x)}" x2="${at(x)}" y1="0" y2="${kinds.length * rowHeight}"/>`);
    }
    parts.push(`<text x="0" y="${height - 3}">${number(low)}</text><text x="${width}" y="${height - 3}" text-anchor="end">${number(high)}</text>`);
    return parts.join("");
  });
}

// A bar for each day, in parts: days are [[name, [[kind, n], ...]], ...].
export function stacks(box, days, say, height = 130) {
  if (days.length === 0) {
    box.innerHTML = '<p class="caption">No alerts yet.</p>';
    return;
  }
  const most = Math.max(1, ...days.map(([, parts]) => parts.reduce((sum, [, n]) => sum + n, 0)));
  frame(box, height, say, (width) => {
    const [floor, wide] = [height - 20, Math.min(26, width / days.length)];
    const parts = days.map(([name, own], k) => {
      let y = floor;
      const bars = own.map(([kind, n]) => {
        const tall = (n / most) * (floor - 12);
        y -= tall;
        return `<rect class="${kind}" x="${at(k * wide + 1)}" y="${at(y)}" width="${at(wide - 2)}" height="${at(Math.max(0, tall - (tall > 3 ? 1 : 0)))}"/>`;
      });
      return `<g><title>${escaped(name)}: ${own.map(([kind, n, words]) => `${n} ${words}`).join(", ")}</title>${bars.join("")}</g>`;
    });
    parts.push(`<line class="grid" x1="0" x2="${width}" y1="${floor + 0.5}" y2="${floor + 0.5}"/>`);
    parts.push(`<text x="0" y="${height - 4}">${escaped(days[0][0])}</text>`);
    if (days.length * wide > 120) parts.push(`<text x="${at(days.length * wide)}" y="${height - 4}" text-anchor="end">${escaped(days.at(-1)[0])}</text>`);
    parts.push(`<text x="${width}" y="10" text-anchor="end">most: ${most} a day</text>`);
    return parts.join("");
  });
}

// Values with their intervals, one under the other: rows are [[kind, name, value, [low, high]], ...].
export function spans(box, rows, say) {
  const known = rows.filter((row) => row[2] != null);
  if (known.length === 0) {
    box.innerHTML = "";
    return;
  }
  const ends = known.flatMap((row) => row[3] ?? [row[2]]);
  const [low, high] = [Math.max(0, Math.min(...ends) - 0.02), Math.min(1, Math.max(...ends) + 0.02)];
  frame(box, known.length * 16 + 4, say, (width) => {
    const toX = (x) => 6 + ((x - low) / (high - low)) * (width - 12);
    return known.map(([kind, , value, own], row) => {
      const y = row * 16 + 9;
      const line = own ? `<line x1="${at(toX(own[0]))}" x2="${at(toX(own[1]))}" y1="${y}" y2="${y}" stroke="var(--${kind})" stroke-width="3" stroke-linecap="round" opacity=".35"/>` : "";
      return `${line}<circle cx="${at(toX(value))}" cy="${y}" r="4.5" fill="var(--${kind})"/>`;
    }).join("");
  });
}

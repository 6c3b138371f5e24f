// Numbers and times as people read them.

export const count = (n) => (n == null ? "–" : n.toLocaleString("en"));
export const share = (x) => (x == null ? "–" : x.toFixed(3));
export const percent = (x) => (x == null ? "–" : `${(100 * x).toFixed(x > 0 && x < 0.1 ? 1 : 0)} %`);
export const interval = (ends) => (ends ? `${ends[0].toFixed(3)} – ${ends[1].toFixed(3)}` : "");
export const rate = (x) => (x == null ? "–" : x >= 100 ? count(Math.round(x)) : x.toFixed(1));

export function duration(seconds) {
  if (seconds == null) return "–";
  const [size, unit] = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]].find(([size]) => Math.abs(seconds) >= size) ?? [0.001, "ms"];
  const amount = seconds / size;
  return `${Math.abs(amount) >= 100 ? Math.round(amount) : Number(amount.toPrecision(2))} ${unit}`;
}

export function bytes(n) {
  if (n == null) return "–";
  const [size, unit] = [[1e12, "TB"], [1e9, "GB"], [1e6, "MB"]].find(([size]) => n >= size) ?? [1e3, "kB"];
  return `${n / size >= 100 ? Math.round(n / size) : Number((n / size).toPrecision(2))} ${unit}`;
}

const dated = (options) => new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", ...options });
const CLOCK = dated({ weekday: "short", day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" });
const DAY = dated({ weekday: "short", day: "numeric", month: "short" });
const SHORT_DAY = dated({ day: "numeric", month: "short" });
const TIME = dated({ hour: "2-digit", minute: "2-digit" });
const EXACT = dated({ hour: "2-digit", minute: "2-digit", second: "2-digit" });

export const clock = (seconds) => (seconds == null ? "–" : `${CLOCK.format(seconds * 1000)} UTC`);
export const timeOfDay = (seconds) => TIME.format(seconds * 1000);
export const dayName = (day) => DAY.format(Date.parse(day));
export const shortDay = (day) => SHORT_DAY.format(Date.parse(day));

// A moment on an axis, as exact as the axis is short.
export function moment(seconds, span) {
  const form = span > 2 * 86400 ? SHORT_DAY : span > 600 ? TIME : EXACT;
  return form.format(seconds * 1000);
}

export function shiftedDay(day, days) {
  return new Date(Date.parse(day) + days * 86400000).toISOString().slice(0, 10);
}

// A cell of an event, short enough for a row.
export function cell(value) {
  if (typeof value === "number") return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(5)));
  return value === null ? "–" : String(value);
}

// SPDX-License-Identifier: LGPL-2.1-or-later
// Figures for people, as the summary of `umwelt run` writes them: four digits and a unit.

function scaled(value, units) {
  let index = 0;
  while (index + 1 < units.length && Math.abs(value) >= units[index + 1][1]) ++index;
  return [value / units[index][1], units[index][0]];
}

function digits(value) {
  const size = Math.abs(value);
  if (size >= 1000 || Number.isInteger(value)) return String(Math.round(value));
  return value.toPrecision(4);
}

const TIME_UNITS = [["ps", 1], ["ns", 1e3], ["µs", 1e6], ["ms", 1e9], ["s", 1e12]];

function showTime(ps) {
  if (!Number.isFinite(ps)) return "–";
  if (ps === 0) return "0 s";
  const [value, unit] = scaled(ps, TIME_UNITS);
  return `${digits(value)} ${unit}`;
}

const BYTE_UNITS = [["B", 1], ["KiB", 1024], ["MiB", 1024 ** 2], ["GiB", 1024 ** 3], ["TiB", 1024 ** 4]];

function showBytes(bytes) {
  if (!Number.isFinite(bytes)) return "–";
  const [value, unit] = scaled(bytes, BYTE_UNITS);
  return unit === "B" ? `${Math.round(value)} B` : `${value.toPrecision(value >= 1000 ? 4 : 3)} ${unit}`;
}

function showRate(bytesPerSecond) {
  const [value, unit] = scaled(bytesPerSecond, [["B/s", 1], ["kB/s", 1e3], ["MB/s", 1e6], ["GB/s", 1e9]]);
  return `${digits(value)} ${unit}`;
}

function showCount(number) {
  if (!Number.isFinite(number)) return "–";
  return Math.round(number).toLocaleString("en").replace(/,/g, "\u202f");
}

function showShare(part, all) {
  if (!(all > 0)) return "–";
  const percent = 100 * part / all;
  return `${percent !== 0 && Math.abs(percent) < 0.1 ? percent.toPrecision(1) : percent.toFixed(1)} %`;
}

function showSeconds(seconds) {
  if (!Number.isFinite(seconds)) return "–";
  if (seconds < 60) return `${digits(seconds)} s`;
  const whole = Math.round(seconds);
  const two = number => String(number).padStart(2, "0");
  return `${Math.floor(whole / 3600)}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)} h`;
}

// "+12.3 %" of what it was.
function showChange(from, to) {
  if (from === to) return "the same";
  if (!(from > 0) || !Number.isFinite(to)) return "–";
  const percent = 100 * (to - from) / from;
  const size = Math.abs(percent);
  return size < 0.05 ? "±0.0 %" : `${percent > 0 ? "+" : "−"}${size.toFixed(1)} %`;
}

function plural(number, word, several) {
  return `${showCount(number)} ${number === 1 ? word : several || word + "s"}`;
}

function shortBytes(bytes) {
  return showBytes(bytes).replace(/\.0+ /, " ").replace(/(\.\d)0 /, "$1 ");
}

// Classes end before a power of two: 1024 to 2047.
function sizeRange(from, to) {
  if (from === to || to === undefined) return shortBytes(from);
  return to < 1024 ? `${from} to ${to} B` : `${shortBytes(from)} to below ${shortBytes(to + 1)}`;
}

function sum(values) {
  let all = 0;
  for (const value of values || []) all += value;
  return all;
}

function indexOfMost(values) {
  let best = 0;
  for (let i = 1; i < values.length; ++i) if (values[i] > values[best]) best = i;
  return best;
}

// SPDX-License-Identifier: LGPL-2.1-or-later
// A run that goes on (--serve): how it is now, on top of what its report has so far. Asks again every second.

const LIVE_STATES = {loading: "--edges", computing: "--computing", communicating: "--communicating",
  waiting: "--waiting", sleeping: "--rest", ended: "--cold"};
const LIVE_PERIOD = 1000; // ms
const LIVE_MOST_ROWS = 64;

// What has been told last, and what for.
const live = {now: {}, before: null, report: null, drawn: "", lost: 0, over: false};

function liveText(now, lost) {
  if (now.state === "starting") return "The run is starting.";
  if (now.state === "ended") return `The run has ended: ${now.note} (exit code ${now.exit_code}).`;
  if (lost) return "The run has ended, or cannot be reached: this is how it was last.";
  if (now.state === "held") return `The run stands still. ${now.note}`;
  return live.still > 4
    ? `The run goes on; nothing new for ${live.still} s: a rank computes for long, or waits for this machine.`
    : "The run goes on.";
}

// Of the time between the last two answers, or of all of it.
function slowdownText(now, before) {
  const rate = (wall, ps) => (ps > 0 ? (wall / (ps / 1e12)).toPrecision(3) : "–");
  const all = rate(now.wall_seconds, now.simulated_ps);
  return before && now.wall_seconds > before.wall_seconds
    ? [rate(now.wall_seconds - before.wall_seconds, now.simulated_ps - before.simulated_ps), `${all} since the start`]
    : [all, "since the start"];
}

function liveCard(name, value, small) {
  return element("div", {"data-card": name}, element("dt", {}, name), element("dd", {}, value,
    small ? element("small", {}, small) : ""));
}

function liveCards(now, before) {
  const ranks = now.ranks || {state: []};
  const count = state => ranks.state.filter(one => one === state).length;
  const [slowdown, since] = slowdownText(now, before);
  const seconds = before ? now.wall_seconds - before.wall_seconds : 0;
  return element("dl", {class: "cards"},
    liveCard("Simulated now", showTime(now.simulated_ps), `${showCount(now.simulated_ps)} ps`),
    liveCard("Wall clock", showSeconds(now.wall_seconds), ""),
    liveCard("Slowdown", slowdown, since),
    liveCard("Events so far", showCount(now.events), seconds > 0
      ? `${showCount((now.events - before.events) / seconds)} per second` : ""),
    liveCard("Ranks ended", `${count("ended")} of ${ranks.state.length}`, Object.keys(LIVE_STATES)
      .filter(state => state !== "ended" && count(state)).map(state => `${count(state)} ${state}`).join(", ")));
}

function liveRank(ranks, i) {
  return [`rank ${i}: ${ranks.state[i]}`, ranks.call[i] || "outside of MPI", `since ${showTime(ranks.since_ps[i])}`];
}

// A square for each rank.
function liveSquares() {
  const count = () => ((live.now.ranks || {}).state || []).length;
  const size = width => Math.max(4, Math.min(22, Math.floor(Math.sqrt(width * 160 / Math.max(1, count())))));
  const columns = width => Math.max(1, Math.floor(width / size(width)));
  return chart({name: "states", label: "What each rank does now", zoom: 0,
    height: width => Math.max(24, size(width) * Math.ceil(count() / columns(width))),
    draw: (context, width, height, state) => {
      const {state: states} = live.now.ranks || {state: []};
      const colours = Object.fromEntries(Object.entries(LIVE_STATES).map(([key, name]) => [key, colour(name)]));
      const edge = size(width);
      context.clearRect(0, 0, width, height);
      states.forEach((one, i) => {
        context.fillStyle = colours[one] || colour("--line");
        context.fillRect((i % columns(width)) * edge, Math.floor(i / columns(width)) * edge, edge - 1, edge - 1);
        if (state.picked === i) {
          context.strokeStyle = colour("--text");
          context.strokeRect((i % columns(width)) * edge + 0.5, Math.floor(i / columns(width)) * edge + 0.5, edge - 2,
            edge - 2);
        }
      });
      return states.length;
    },
    pick: (x, y, width) => {
      const column = Math.floor(x / size(width));
      const i = Math.floor(y / size(width)) * columns(width) + column;
      return column < columns(width) && i >= 0 && i < count() ? i : null;
    },
    tell: i => liveRank(live.now.ranks, i),
    step: (picked, dx, dy) => Math.max(0, Math.min(count() - 1, picked === null ? 0 : picked + dx + dy))});
}

function liveTable(now, hosts) {
  const ranks = now.ranks || {state: []};
  const rows = ranks.state.slice(0, LIVE_MOST_ROWS).map((state, i) => [i, (hosts || [])[i] || "", state,
    ranks.call[i] || "–", ranks.since_ps[i]]);
  return table(ranks.state.length > LIVE_MOST_ROWS ? `Ranks 0 to ${LIVE_MOST_ROWS - 1} now` : "Ranks now",
    [{title: "rank"}, {title: "node", text: true}, {title: "state", text: true}, {title: "in", text: true},
      {title: "since", show: showTime}], rows, LIVE_MOST_ROWS);
}

// The button asks once more, since what is ended does not come back.
function stopButton() {
  const button = element("button", {type: "button", id: "stop"}, "End the run");
  let sure = false;
  button.addEventListener("click", async () => {
    if (!sure) {
      sure = true;
      button.textContent = "Really end the run?";
      setTimeout(() => {
        if (button.disabled) return;
        sure = false;
        button.textContent = "End the run";
      }, 5000);
      return;
    }
    button.disabled = true;
    button.textContent = "The run is asked to end";
    try {
      const answer = await fetch("stop", {method: "POST"});
      if (!answer.ok) throw new Error(await answer.text());
    } catch (error) {
      button.textContent = `The run was not asked: ${error.message}`;
    }
  });
  return button;
}

function drawNow() {
  const text = document.getElementById("now-text");
  text.className = live.now.state === "held" || live.lost ? "warn" : "sentence";
  text.textContent = liveText(live.now, live.lost);
  document.getElementById("now-cards").replaceChildren(liveCards(live.now, live.before));
  document.getElementById("now-table").replaceChildren(liveTable(live.now, ((live.report || {}).ranks || {}).host));
  document.querySelector("#now figure").redraw();
  const stop = document.getElementById("stop");
  if (stop && (live.over || live.lost)) stop.remove();
}

// What whoever reads the page has opened and chosen.
function chosenIn(main) {
  const key = node => `${node.closest("section").id} ${node.textContent}`;
  return {
    open: new Set([...main.querySelectorAll("details[open] > summary")].map(key)),
    choices: new Set([...main.querySelectorAll(".choice input:checked")].map(one => key(one.parentNode))),
    restore() {
      for (const one of main.querySelectorAll("details > summary"))
        if (this.open.has(key(one))) one.parentNode.open = true;
      for (const one of main.querySelectorAll(".choice input:not(:checked)"))
        if (this.choices.has(key(one.parentNode))) one.click();
    }};
}

// The parts of the report again, in place.
function redrawParts(report) {
  const main = document.getElementById("main");
  const scroll = [scrollX, scrollY];
  const chosen = chosenIn(main);
  main.style.minHeight = `${main.offsetHeight}px`;
  for (const old of main.querySelectorAll(":scope > section:not(#now)")) old.remove();
  redraws.length = 1; // that of the squares
  sectionNumber = 1;
  const ending = report.ending === "running" ? "completed" : report.ending;
  drawRun({...report, ending});
  chosen.restore();
  main.style.minHeight = "";
  scrollTo(...scroll);
}

// Who reads or points at a picture keeps it.
function isBusy() {
  const main = document.getElementById("main");
  const focus = document.activeElement;
  return document.getElementById("hold").checked || main.querySelector("section:not(#now) canvas:hover") !== null ||
    (focus && focus.closest("section:not(#now) .chart, section:not(#now) .scroll, select") !== null);
}

function showLive(data) {
  const now = data.now;
  if (live.now.state && live.now.wall_seconds === now.wall_seconds) live.still = (live.still || 0) + 1;
  else {
    live.still = 0;
    live.before = live.now.wall_seconds === undefined ? null : live.now;
  }
  live.now = now;
  live.over = now.state === "ended";
  const run = data.runs[0];
  if (run) live.report = run.report;
  drawNow();
  if (!run || (isBusy() && !live.over)) return;
  const figures = JSON.stringify(run.report);
  if (figures === live.drawn) return;
  live.drawn = figures;
  drawHead(data.runs, run.report);
  redrawParts(run.report);
}

async function askAgain() {
  const begin = performance.now();
  try {
    const answer = await fetch("state.json", {cache: "no-store"});
    if (!answer.ok) throw new Error(answer.statusText);
    const data = await answer.json();
    live.lost = 0;
    showLive(data);
  } catch (error) {
    live.lost += 1;
    drawNow();
  }
  // Drawing takes at most a tenth of the time; what cannot be reached is not asked for ever.
  if (!live.over && live.lost < 5)
    setTimeout(askAgain, Math.max(LIVE_PERIOD, 10 * (performance.now() - begin)));
}

function startLive(data) {
  const hold = element("label", {class: "hint"}, element("input", {type: "checkbox", id: "hold"}),
    " Leave the parts below as they are");
  section("now", "Now", "How the run is at this moment.",
    element("p", {id: "now-text", role: "status"}), element("div", {id: "now-cards"}),
    legend(Object.entries(LIVE_STATES).map(([name, its]) => ({name, colour: its}))), liveSquares(),
    element("details", {class: "behind", open: true}, element("summary", {}, "What each rank is in"),
      element("div", {id: "now-table"})),
    element("p", {class: "controls"}, stopButton(), " ", hold));
  if (!data.runs.length)
    document.getElementById("head").replaceChildren(element("h1", {}, "A run that starts"));
  showLive(data);
  setTimeout(askAgain, LIVE_PERIOD);
}

// SPDX-License-Identifier: LGPL-2.1-or-later
// Puts the page together.

const PARTS = [drawVerdict, drawRanks, drawMatrix, drawSizes, drawCalls, drawNetwork, drawTimeline, drawPath,
  drawEnergy, drawHow];

function titleOf(report) {
  const programs = report.programs || [];
  return programs.length ? programs.join(" : ") : "a run";
}

function drawHead(runs, report) {
  const head = document.getElementById("head");
  const several = runs.length > 1;
  const title = several ? `${runs.length} runs compared` : titleOf(report);
  document.title = several ? `${title} (Umwelt)` : `${title}: ${showTime(report.simulated_ps)} (Umwelt)`;
  head.replaceChildren(element("h1", {}, title), element("p", {}, several
    ? runs.map(run => run.name).join(", ")
    : `${plural(ranksOf(report), "rank")} on ${plural(report.nodes, "node")} of ${report.platform}, model ` +
      `${report.model}: ${report.ending}`));
}

function drawContents() {
  const entries = [...document.querySelectorAll("main section")].map(part => {
    const title = part.querySelector("h2").lastChild.textContent;
    return element("li", {}, element("a", {href: `#${part.id}`}, title));
  });
  document.getElementById("contents").replaceChildren(element("ol", {}, entries));
}

// A part that cannot be drawn, of a report that is not as expected, leaves the others alone.
function drawPart(draw, report) {
  try {
    draw(report);
  } catch (error) {
    console.error(error);
    document.getElementById("main").append(element("section", {}, element("p", {class: "warn"},
      `This part could not be drawn: ${error.message}`)));
  }
}

function drawRun(report) {
  for (const draw of PARTS) drawPart(draw, report);
  drawContents();
}

function start() {
  const data = JSON.parse(document.getElementById("data").textContent);
  const {runs} = data;
  watchTheme();
  if (data.now) {
    startLive(data);
  } else {
    const [{report}] = runs;
    drawHead(runs, report);
    if (runs.length > 1) drawComparison(runs);
    else drawRun(report);
  }
  document.documentElement.dataset.drawn = "yes";
}

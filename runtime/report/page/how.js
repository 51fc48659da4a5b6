// SPDX-License-Identifier: LGPL-2.1-or-later
// How the run was made: all that is needed to repeat it.

// A word as a shell takes it.
function quoted(word) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`;
}

function commandOf(report) {
  const run = report.run || {};
  if (Array.isArray(run.command)) return run.command.map(quoted).join(" ");
  return "";
}

function copyButton(text) {
  const said = element("span", {class: "hint", role: "status"});
  return element("p", {}, element("button", {type: "button", id: "copy", onclick: async () => {
    let done = true;
    try {
      await navigator.clipboard.writeText(text);
    } catch (refusal) { // files opened from disk may not use it
      const area = element("textarea", {}, text);
      document.body.append(area);
      area.select();
      done = document.execCommand("copy");
      area.remove();
    }
    said.textContent = done ? " copied" : " this browser does not allow it: mark the text";
  }}, "Copy the command"), said);
}

function fact(name, value) {
  return value === undefined || value === null || value === "" ? []
    : [element("dt", {}, name), element("dd", {}, value)];
}

function drawHow(report) {
  const run = report.run || {};
  const host = report.host || {};
  const machine = run.host || {};
  const command = commandOf(report);
  const programs = report.programs || [];
  const seed = run.seed ?? report.seed;
  const objects = run.objects || [];
  const line = [machine.name, machine.system, machine.processor, machine.cores && plural(machine.cores, "core"),
    machine.memory_bytes && showBytes(machine.memory_bytes)].filter(Boolean).join(", ");
  const sentence = `Umwelt ${run.umwelt || report.umwelt || "?"} ran ${programs.length === 1 ? "this program"
    : plural(programs.length, "program")} on platform ${run.platform || report.platform} with model ${report.model}, ` +
    `--cpu ${report.cpu}, seed ${seed}` + (run.started ? `, on ${run.started}.` : ".");
  return section("how", "How it was run", sentence,
    command ? [element("pre", {id: "command"}, (run.directory ? `cd ${quoted(run.directory)}\n` : "") + command),
      copyButton((run.directory ? `cd ${quoted(run.directory)} && ` : "") + command)]
      : [element("pre", {id: "command"}, programs.join("\n")), element("p", {class: "missing"},
        "This report has the programs, not the whole command: it was written by an older Umwelt.")],
    element("dl", {class: "facts"}, fact("Programs", element("span", {}, programs.join(" : "))),
      fact("Ended", `${report.ending}, exit code ${report.exit_code}`), fact("Umwelt", run.umwelt || report.umwelt),
      fact("SimGrid", run.simgrid), fact("Platform", run.platform || report.platform), fact("Nodes", report.nodes),
      fact("Model", report.model), fact("--cpu", report.cpu), fact("Seed", String(seed ?? "")),
      fact("Started", run.started), fact("Directory", run.directory), fact("This machine", line),
      fact("Wall clock", host.wall_seconds && showSeconds(host.wall_seconds)),
      fact("CPU time", host.cpu_seconds && showSeconds(host.cpu_seconds)),
      fact("Memory", host.peak_resident_bytes && showBytes(host.peak_resident_bytes)),
      fact("Interruptions", host.interruptions && showCount(host.interruptions))),
    objects.length ? tableBehind("Programs and libraries", "Objects with their build-ids", [{title: "path", text: true},
      {title: "build-id", text: true}], objects.map(one => [one.path, one.build_id])) : "",
    report.repetitions ? tableBehind("Runs of --repeat", "Runs", [{title: "run"}, {title: "simulated time",
      show: showTime}, {title: "seed"}, {title: "ended", text: true}], report.repetitions.runs.map((one, i) =>
      [i + 1, one.simulated_ps, one.seed, one.ending])) : "");
}

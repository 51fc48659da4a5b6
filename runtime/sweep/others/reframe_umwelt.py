# SPDX-License-Identifier: LGPL-2.1-or-later
"""ReFrame: `umwelt run` as a launcher, and a check whose performance is simulated time, so that a reference holds to
the last digit on every machine.

    reframe --config-file reframe_umwelt.py --checkpath reframe_umwelt.py --run \\
        --setvar program=$PWD/ring --setvar ranks=4 --setvar size=1024

$UMWELT is the command, `umwelt` unless it is set.
"""
import os

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.backends import register_launcher
from reframe.core.builtins import performance_function, run_after, sanity_function, variable
from reframe.core.launchers import JobLauncher


@register_launcher("umwelt")
class UmweltLauncher(JobLauncher):
    def command(self, job):
        command = os.environ.get("UMWELT", "umwelt")
        return [command, "run", "--quiet", "--cpu", "none", "-np", str(job.num_tasks), "--report", "report.json"]


site_configuration = {
    "systems": [{
        "name": "simulated",
        "hostnames": [".*"],
        "partitions": [{"name": "default", "scheduler": "local", "launcher": "umwelt", "environs": ["builtin"]}],
    }],
    "environments": [{"name": "builtin"}],
}  # fmt: skip


@rfm.simple_test
class Simulated(rfm.RunOnlyRegressionTest):
    program = variable(str)
    ranks = variable(int, value=2)
    size = variable(int, value=8)
    valid_systems = ["simulated:default"]
    valid_prog_environs = ["builtin"]

    @run_after("init")
    def what_runs(self):
        self.executable = self.program
        self.executable_opts = [str(self.size)]
        self.num_tasks = self.ranks
        self.keep_files = ["report.json"]

    @sanity_function
    def completed(self):
        return sn.assert_found(r'"ending": "completed"', "report.json")

    @performance_function("ps")
    def simulated(self):
        return sn.extractsingle(r'"simulated_ps": (\d+)', "report.json", 1, int)

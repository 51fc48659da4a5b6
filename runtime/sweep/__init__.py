# SPDX-License-Identifier: LGPL-2.1-or-later
"""`umwelt sweep`: many runs of `umwelt run`, planned, carried out here or by Slurm, gathered, looked at, compared."""

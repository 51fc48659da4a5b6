# SPDX-License-Identifier: LGPL-2.1-or-later
"""`python3 DIRECTORY UMWELT ARGUMENTS...`: how tasks of Slurm start it, wherever it lies."""
import pathlib
import sys

sys.dont_write_bytecode = True  # it leaves nothing where it lies
sys.path[0] = str(pathlib.Path(__file__).resolve().parent.parent)

from sweep import interpreter  # noqa: E402

if __name__ == "__main__":
    interpreter.choose()
    from sweep.main import main

    sys.exit(main(sys.argv[1:]))

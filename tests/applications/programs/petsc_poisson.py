# SPDX-License-Identifier: LGPL-2.1-or-later
"""Poisson's equation with PETSc: rank 0 prints how the residual falls, to the last digit."""
import sys

import petsc4py

petsc4py.init(sys.argv)
from petsc4py import PETSc  # noqa: E402

n = 100
grid = PETSc.DMDA().create([n, n], stencil_width=1)
matrix = grid.createMatrix()
(x_begin, x_end), (y_begin, y_end) = grid.getRanges()
row, column = PETSc.Mat.Stencil(), PETSc.Mat.Stencil()
for j in range(y_begin, y_end):
    for i in range(x_begin, x_end):
        row.index = (i, j)
        matrix.setValueStencil(row, row, 4.0)
        for di, dj in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            if 0 <= i + di < n and 0 <= j + dj < n:
                column.index = (i + di, j + dj)
                matrix.setValueStencil(row, column, -1.0)
matrix.assemble()
b, x = matrix.createVecs()
b.set(1.0)
solver = PETSc.KSP().create()
solver.setOperators(matrix)
solver.setType("cg")
solver.getPC().setType("bjacobi")
solver.setTolerances(rtol=1e-8)
solver.setMonitor(lambda ksp, step, norm: PETSc.Sys.Print(f"{step} {norm:.16e}"))
solver.solve(b, x)
PETSc.Sys.Print(f"norm {x.norm():.16e}")

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Eigenvalues of the one-dimensional Laplace operator with SLEPc."""
import sys

import slepc4py

slepc4py.init(sys.argv)
from petsc4py import PETSc  # noqa: E402
from slepc4py import SLEPc  # noqa: E402

n = 2000
matrix = PETSc.Mat().createAIJ([n, n], nnz=3)
begin, end = matrix.getOwnershipRange()
for i in range(begin, end):
    matrix[i, i] = 2.0 + 0.01 * i
    if i > 0:
        matrix[i, i - 1] = -1.0
    if i < n - 1:
        matrix[i, i + 1] = -1.0
matrix.assemble()
solver = SLEPc.EPS().create()
solver.setOperators(matrix)
solver.setProblemType(SLEPc.EPS.ProblemType.HEP)
solver.setDimensions(6, 60)
solver.setWhichEigenpairs(SLEPc.EPS.Which.SMALLEST_REAL)
solver.setTolerances(1e-9, 500)
solver.solve()
for k in range(6):
    PETSc.Sys.Print(f"{solver.getEigenvalue(k).real:.9e}")

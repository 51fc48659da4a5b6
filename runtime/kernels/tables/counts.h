// SPDX-License-Identifier: LGPL-2.1-or-later
// Counts of operations that several rows of the tables share, as texts of expressions: LAPACK Working Note 41
// (Anderson, Dongarra, Ostrouchov: Installation Guide for LAPACK), appendix C, as its timing programs count (DOPLA,
// DOPGB, DOPBL2, DOPBL3 of LAPACK 3.0) and PLASMA's flops.h. $m, $a and $f: table_row.h. Arguments are texts, too;
// those that are sums come in parentheses.
#pragma once

// ---- Conditions ----
// A character of Fortran and LAPACKE: capital and small letter.
#define UMW_IS(name, capital, small) "(" name "=='" capital "'||" name "=='" small "')"
// A applied from the left; 141 is CblasLeft.
#define UMW_LEFT "(SIDE=='L'||SIDE=='l'||SIDE==141)"

// ---- Elements ----
#define UMW_TRIANGLE(n) n "*(" n "+1)/2"
// Of a square band matrix: `lower` diagonals below the main one and `upper` above.
#define UMW_BAND(n, lower, upper) "(" n "*(" lower "+" upper "+1)-" lower "*(" lower "+1)/2-" upper "*(" upper "+1)/2)"

// ---- Triangular matrices: A of order `n`, applied to `r` vectors ----
#define UMW_TRMM(n, r) "($m*" r "*" n "*(" n "+1)/2+$a*" r "*" n "*(" n "-1)/2)"
#define UMW_TBMM(n, k, r) "($m*" r "*" UMW_BAND(n, k, "0") "+$a*" r "*(" UMW_BAND(n, k, "0") "-" n "))"
#define UMW_TRTRI(n) "($m*" n "*(" n "*(" n "/6+1/2)+1/3)+$a*" n "*(" n "*(" n "/6-1/2)+1/3))"
// What POTRI does after TRTRI.
#define UMW_LAUUM(n) "($m*" n "*(" n "*(" n "/6+1/2)+1/3)+$a*" n "*(" n "*" n "-1)/6)"

// ---- General matrices ----
// LU of a matrix of which `a` is the longer side and `b` the shorter.
#define UMW_GETRF(a, b)                                                                                                \
  "($m*(" b "*(" b "*(" a "-" b "/3-1)+" a ")/2+2*" b "/3)+$a*(" b "*(" b "*(" a "-" b "/3)-" a ")/2+" b "/6))"
#define UMW_GETRS(n, r) "($m*" r "*" n "*" n "+$a*" r "*" n "*(" n "-1))"
#define UMW_GETRI(n) "($m*" n "*(5/6+" n "*(2*" n "/3+1/2))+$a*" n "*(5/6+" n "*(2*" n "/3-3/2)))"
// LU of a band matrix of order `n` with row exchanges that fill all of the `u` = KL+KU diagonals above; `l` = KL. Both
// must be less than `n`.
#define UMW_GBTRF_PAIRS(n, l, u)                                                                                       \
  "((" l "-1)*" l "*(2*" l "-1)/6+" l "*(" u "*(" u "-1)-" l "*(" l "-1))/2+(" n "-" u ")*" l "*" u ")"
#define UMW_GBTRF(n, l, u) "($f*" UMW_GBTRF_PAIRS(n, l, u) "+$m*(" l "*" n "-" l "*(" l "+1)/2))"
#define UMW_GBTRS(n, l, u, r)                                                                                          \
  "($m*" r "*(" n "*(" l "+" u "+1)-(" l "*(" l "+1)+" u "*(" u "+1))/2)+$a*" r "*(" n "*(" l "+" u ")-(" l "*(" l     \
  "+1)+" u "*(" u "+1))/2))"
#define UMW_GTTRF(n) "($m*2*(" n "-1)+$a*(" n "-1))"
#define UMW_GTTRS(n, r) "($m*4*" r "*(" n "-1)+$a*3*" r "*(" n "-1))"

// ---- Positive definite matrices ----
#define UMW_POTRF(n) "($m*" n "*((" n "/6+1/2)*" n "+1/3)+$a*" n "*(" n "*" n "-1)/6)"
#define UMW_POTRS(n, r) "($m*" r "*" n "*(" n "+1)+$a*" r "*" n "*(" n "-1))"
#define UMW_POTRI(n) "($m*" n "*(2/3+" n "*(" n "/3+1))+$a*" n "*(1/6+" n "*(" n "/3-1/2)))"
#define UMW_PBTRF(n, k)                                                                                                \
  "($m*(" n "*(1+" k "*(3+" k ")/2)-" k "*(2/3+" k "*(1+" k "/3)))+$a*(" n "*" k "*(1+" k ")/2-" k "*(1/6+" k          \
  "*(1/2+" k "/3))))"
#define UMW_PBTRS(n, k, r) "($m*" r "*(2*" n "-" k ")*(" k "+1)+$a*" r "*" k "*(2*" n "-" k "-1))"
#define UMW_PTTRF(n) "($m*2*(" n "-1)+$a*(" n "-1))"
#define UMW_PTTRS(n, r) "($m*" r "*(3*" n "-2)+$a*" r "*2*(" n "-1))"

// ---- Symmetric indefinite matrices ----
#define UMW_SYTRF(n) "($m*" n "*(10/3+" n "*(1/2+" n "/6))+$a*" n "*(" n "*" n "-1)/6)"
#define UMW_SYTRI(n) "($m*" n "*(2/3+" n "*" n "/3)+$a*" n "*(" n "*" n "-1)/3)"

// ---- Orthogonal factors ----
#define UMW_GEQRF(m, n)                                                                                                \
  "(" m ">" n "?$m*" n "*(" n "*(1/2-" n "/3+" m ")+" m "+23/6)+$a*" n "*(" n "*(1/2-" n "/3+" m ")+5/6):$m*" m "*(" m \
  "*(-1/2-" m "/3+" n ")+2*" n "+23/6)+$a*" m "*(" m "*(-1/2-" m "/3+" n ")+" n "+5/6))"
#define UMW_GERQF(m, n)                                                                                                \
  "(" m ">" n "?$m*" n "*(" n "*(1/2-" n "/3+" m ")+" m "+29/6)+$a*" n "*(" n "*(-1/2-" n "/3+" m ")+" m "+5/6):$m*" m \
  "*(" m "*(-1/2-" m "/3+" n ")+2*" n "+29/6)+$a*" m "*(" m "*(1/2-" m "/3+" n ")+5/6))"
// With column pivoting; `e` is the shorter side.
#define UMW_GEQPF(m, n, e)                                                                                             \
  "($m*(2*" n "*" n "+" e "*(3*" m "+5*" n "+2*" m "*" n "-(" e "+1)*(4+" n "+" m "-(2*" e "+1)/3)))+$a*(" n "*" n     \
  "+" e "*(2*" m "+" n "+2*" m "*" n "-(" e "+1)*(2+" n "+" m "-(2*" e "+1)/3))))"
#define UMW_UNGQR(m, n, k)                                                                                             \
  "($m*" k "*(2*" m "*" n "+2*" n "-5/3+" k "*(2*" k "/3-" m "-" n "-1))+$a*" k "*(2*" m "*" n "+" n "-" m "+1/3+" k   \
  "*(2*" k "/3-" m "-" n ")))"
#define UMW_UNGRQ(m, n, k)                                                                                             \
  "($m*" k "*(2*" m "*" n "+" m "+" n "-2/3+" k "*(2*" k "/3-" m "-" n "-1))+$a*" k "*(2*" m "*" n "+" m "-" n         \
  "+1/3+" k "*(2*" k "/3-" m "-" n ")))"
// `k` reflectors applied to a matrix of `m` rows and `n` columns from the left, and from the right.
#define UMW_UNMQR_LEFT(m, n, k) "$m*" n "*" k "*(2*" m "-" k "+2)+$a*" n "*" k "*(2*" m "-" k "+1)"
#define UMW_UNMQR_RIGHT(m, n, k)                                                                                       \
  "$m*(" m "*" k "*(2*" n "-" k "+1)+" n "*" k "-" k "*(" k "-1)/2)+$a*" m "*" k "*(2*" n "-" k "+1)"
#define UMW_UNMQR(m, n, k) "(" UMW_LEFT "?" UMW_UNMQR_LEFT(m, n, k) ":" UMW_UNMQR_RIGHT(m, n, k) ")"
// Least squares with the factors of a matrix of which `a` is the longer side and `b` the shorter (PLASMA's geqrs).
#define UMW_GEQRS(a, b, r) "($m*" r "*" b "*(2*" a "-" b "/2+5/2)+$a*" r "*" b "*(2*" a "-" b "/2+1/2))"
// Least squares by singular values (lapack_linear.def), whichever way is shorter.
#define UMW_GELSS(a, b, r) "$f/2*(min(4*" a "*" b "^2+8*" b "^3,2*" a "*" b "^2+11*" b "^3)+4*" a "*" b "*" r ")"

// ---- Reductions to condensed form ----
#define UMW_SYTRD(n) "(" n ">2?$m*(" n "*(" n "*(2*" n "/3+5/2)-1/6)-15)+$a*(" n "*(" n "*(2*" n "/3+1)-8/3)-4):0)"
#define UMW_GEHRD(n) "(" n ">2?$m*(" n "*(" n "*(5*" n "/3+1/2)-7/6)-13)+$a*(" n "*(" n "*(5*" n "/3-1)-2/3)-8):0)"
// Of a matrix of which `a` is the longer side and `b` the shorter.
#define UMW_GEBRD(a, b)                                                                                                \
  "($m*" b "*(" b "*(2*" a "-2*" b "/3+2)+20/3)+$a*(" b "*(" b "*(2*" a "-2*" b "/3+1)-" a "+5/3)))"

// ---- Eigenvalues and singular values, behind the reduction (estimates: lapack_eigenvalues.def) ----
#define UMW_VECTORS UMW_IS("JOBZ", "V", "v")
#define UMW_SYEV "(" UMW_VECTORS "?" UMW_UNGQR("(N-1)", "(N-1)", "(N-1)") "+{6|12}*N^3:30*N*N)"
#define UMW_SYEVD "(" UMW_VECTORS "?" UMW_UNMQR_LEFT("(N-1)", "N", "(N-1)") "+4/3*N^3:30*N*N)"
#define UMW_SYEVR                                                                                                      \
  "(" UMW_VECTORS "?" UMW_UNMQR_LEFT("(N-1)", "(" UMW_IS("RANGE", "I", "i") "?IU-IL+1:N)", "(N-1)") ":30*N*N)"
#define UMW_SYGST "$f*N^3/2"
// The way back from the standard problem to the vectors of the generalised one.
#define UMW_SYGV "(" UMW_VECTORS "?" UMW_TRMM("N", "N") ":0)"
#define UMW_UNGBR                                                                                                      \
  "(" UMW_IS("VECT", "Q", "q") "?(M>=K?" UMW_UNGQR("M", "N", "K") ":" UMW_UNGQR(                                       \
      "(M-1)", "(M-1)", "(M-1)") "):(K<N?" UMW_UNGRQ("M", "N", "K") ":" UMW_UNGRQ("(N-1)", "(N-1)", "(N-1)") "))"
// Reflectors of UNMBR: as many as GEBRD left on that side.
#define UMW_FEWER "min(K," UMW_LEFT "?M:N)"
// With vectors, by the QR iteration, whichever way is shorter.
#define UMW_GESVD(a, b) "$f/2*min(14*" a "*" b "^2+8*" b "^3,6*" a "*" b "^2+20*" b "^3)"
#define UMW_GESDD(a, b) UMW_GEBRD(a, b) "+8/3*" b "^3+" UMW_UNMQR_LEFT(a, b, b) "+" UMW_UNMQR_LEFT(b, b, b)

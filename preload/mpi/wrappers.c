/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * MPI_... and PMPI_... of every row. Both go on to the function of the same name behind this library, so that another
 * library between program and MPI gets its calls as ever. Arguments travel as words, which is how both ABIs pass all of
 * them; what a row does not name is not looked at.
 */
#include "preload/mpi/collectives.h"

#define WORDS_0 void
#define WORDS_1 uintptr_t w1
#define WORDS_2 WORDS_1, uintptr_t w2
#define WORDS_3 WORDS_2, uintptr_t w3
#define WORDS_4 WORDS_3, uintptr_t w4
#define WORDS_5 WORDS_4, uintptr_t w5
#define WORDS_6 WORDS_5, uintptr_t w6
#define WORDS_7 WORDS_6, uintptr_t w7
#define WORDS_8 WORDS_7, uintptr_t w8
#define WORDS_9 WORDS_8, uintptr_t w9
#define WORDS_10 WORDS_9, uintptr_t w10
#define WORDS_11 WORDS_10, uintptr_t w11
#define WORDS_12 WORDS_11, uintptr_t w12
#define WORDS_13 WORDS_12, uintptr_t w13
#define PASS_0
#define PASS_1 w1
#define PASS_2 PASS_1, w2
#define PASS_3 PASS_2, w3
#define PASS_4 PASS_3, w4
#define PASS_5 PASS_4, w5
#define PASS_6 PASS_5, w6
#define PASS_7 PASS_6, w7
#define PASS_8 PASS_7, w8
#define PASS_9 PASS_8, w9
#define PASS_10 PASS_9, w10
#define PASS_11 PASS_10, w11
#define PASS_12 PASS_11, w12
#define PASS_13 PASS_12, w13
/* What has been put in their place, for a trace. */
#define WORD_0
#define WORD_1 words[1]
#define WORD_2 WORD_1, words[2]
#define WORD_3 WORD_2, words[3]
#define WORD_4 WORD_3, words[4]
#define WORD_5 WORD_4, words[5]
#define WORD_6 WORD_5, words[6]
#define WORD_7 WORD_6, words[7]
#define WORD_8 WORD_7, words[8]
#define WORD_9 WORD_8, words[9]
#define WORD_10 WORD_9, words[10]
#define WORD_11 WORD_10, words[11]
#define WORD_12 WORD_11, words[12]
#define WORD_13 WORD_12, words[13]

const struct umw_mpi_row umw_mpi_rows[] = {
    {.function = UMW_MPI_NONE},
#define UMW_MPI(name, class, words, ...)                                                                               \
  {.function = UMW_MPI_##name, .class_ = UMW_MPI_##class, .arity = words, ##__VA_ARGS__},
#include "preload/abi/tables/mpi.def"
#undef UMW_MPI
};

/* What stands for the library's function, if anything does. */
#define LIBRARY(result, words, arity) result = real(WORD_##arity)
#define ABOUT_REQUESTS(result, words, arity)                                                                           \
  if (!umw_mpi_about_requests(&frame, words, next, &(result)))                                                         \
  LIBRARY(result, words, arity)
#define COLLECTIVE(result, words, arity)                                                                               \
  if (!umw_mpi_model(&frame, words, &(result))) {                                                                      \
    LIBRARY(result, words, arity);                                                                                     \
    if ((int)(result) == 0)                                                                                            \
      umw_mpi_model_starts(&frame, words);                                                                             \
  }

/* What tells that a call has failed: functions that return something else never do. */
#define WRAPPER(symbol, result_type, succeeded, row, arity, do_it)                                                     \
  result_type symbol(WORDS_##arity);                                                                                   \
  UMW_PUBLIC result_type symbol(WORDS_##arity)                                                                         \
  {                                                                                                                    \
    const void* caller = __builtin_return_address(0);                                                                  \
    void* next = umw_mpi_function((uintptr_t)symbol, #symbol, caller);                                                 \
    result_type (*real)(WORDS_##arity);                                                                                \
    *(void**)&real = next;                                                                                             \
    uintptr_t words[] = {0, PASS_##arity};                                                                             \
    struct umw_mpi_frame frame;                                                                                        \
    umw_mpi_enter(&frame, &umw_mpi_rows[UMW_MPI_##row], words, caller);                                                \
    result_type result;                                                                                                \
    do_it(result, words, arity);                                                                                       \
    umw_mpi_leave(&frame, words, succeeded);                                                                           \
    return result;                                                                                                     \
  }

#define RESULT_management(symbol, row, arity) WRAPPER(symbol, uintptr_t, (int)result == 0, row, arity, ABOUT_REQUESTS)
#define RESULT_point_to_point RESULT_management /* MPI_Start */
#define RESULT_completion RESULT_management
#define RESULT_collective(symbol, row, arity) WRAPPER(symbol, uintptr_t, (int)result == 0, row, arity, COLLECTIVE)
#define RESULT_one_sided(symbol, row, arity) WRAPPER(symbol, uintptr_t, (int)result == 0, row, arity, LIBRARY)
#define RESULT_io RESULT_one_sided
#define RESULT_clock(symbol, row, arity) WRAPPER(symbol, double, result >= 0, row, arity, LIBRARY)

#define UMW_MPI(name, class, arity, ...)                                                                               \
  RESULT_##class(MPI_##name, name, arity) RESULT_##class(PMPI_##name, name, arity)
#include "preload/abi/tables/mpi.def"
#undef UMW_MPI

/* Names that Open MPI 4.1 has for persistent collectives. */
#define UMW_MPIX(name, arity) RESULT_collective(MPIX_##name, name, arity) RESULT_collective(PMPIX_##name, name, arity)
#include "mpi_extensions.def"
#undef UMW_MPIX

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Windows and files in the trace. */
#include "preload/mpi/events.h"

#include <string.h>

struct object {
  uint64_t handle;
  uint32_t number; /* plus 1; 0: it is gone */
  uint32_t size;   /* of a window's communicator */
  uint64_t split;  /* request of a split collective under way */
};
static struct umw_mpi_map windows, files;
static uint32_t windows_made, files_opened;

/* Of the call that frees it, as it was when the call began. */
static _Thread_local struct object freed;

static struct object* window_of(uint64_t handle)
{
  struct object* of = handle ? umw_mpi_entry(&windows, sizeof *of, handle, false) : NULL;
  return of && of->number ? of : NULL;
}

static struct object* file_of(uintptr_t handle)
{
  struct object* of = handle ? umw_mpi_entry(&files, sizeof *of, handle, false) : NULL;
  return of && of->number ? of : NULL;
}

uint32_t umw_mpi_file_number(uintptr_t handle)
{
  const struct object* of = file_of(handle);
  return of ? of->number - 1 : UINT32_MAX;
}

void umw_mpi_trace_object_enter(const struct umw_mpi_row* row, const uintptr_t* words)
{
  struct object* of = row->function == UMW_MPI_Win_free     ? window_of(umw_mpi_handle_at(words[1]))
                      : row->function == UMW_MPI_File_close ? file_of(*(const uintptr_t*)words[1])
                                                            : NULL;
  freed.number = 0;
  if (of) {
    freed = *of;
    of->number = 0;
  }
}

static struct umw_event* about(enum umw_event_kind kind, const struct umw_mpi_row* row, int64_t time_ps,
                               const struct object* of)
{
  struct umw_event* event = umw_mpi_event(kind, row->function, time_ps);
  event->object = of->number - 1;
  return event;
}

static void tell_access(const struct umw_mpi_frame* frame, const uintptr_t* words, const struct object* window,
                        const struct umw_mpi_facts* facts)
{
  const struct umw_mpi_row* row = frame->row;
  const int32_t target = (int32_t)words[row->target];
  if (target < 0 || (uint32_t)target >= window->size)
    return;
  struct umw_event* event = about(UMW_EVENT_RMA, row, frame->time_ps, window);
  event->peer = target;
  event->request = umw_mpi_next_request();
  const uint64_t asked = umw_mpi_asked(row, words);
  event->bytes = row->payload ? facts->bytes : row->fetches == UMW_MPI_fetches_too ? asked : 0;
  event->more = row->fetches ? asked : 0;
}

void umw_mpi_trace_objects_begin(const struct umw_mpi_frame* frame, const uintptr_t* words,
                                 const struct umw_mpi_facts* facts)
{
  const struct umw_mpi_row* row = frame->row;
  if (row->target) {
    const struct object* window = window_of(umw_mpi_handle(words[row->window]));
    if (window && !row->completes)
      tell_access(frame, words, window, facts);
  }
  struct object* file = row->moves && !row->request ? file_of(words[row->file]) : NULL;
  if (!file)
    return;
  if (row->moves & UMW_MPI_ends)
    return;
  file->split = umw_mpi_next_request();
  struct umw_event* event = about(UMW_EVENT_IO_BEGIN, row, frame->time_ps, file);
  event->request = file->split;
  event->tag = row->moves & (UMW_EVENT_IO_READ | UMW_EVENT_IO_WRITE | UMW_EVENT_IO_COLLECTIVE);
  event->bytes = umw_mpi_asked(row, words);
  if (row->status)
    return;
  about(UMW_EVENT_IO_ISSUED, row, facts->time_ps, file)->request = file->split;
}

static void tell_window(const struct umw_mpi_row* row, const uintptr_t* words, const struct umw_mpi_facts* facts)
{
  const uint64_t handle = umw_mpi_handle_at(words[row->window_made]);
  struct object* of = facts->other && handle ? umw_mpi_entry(&windows, sizeof *of, handle, true) : NULL;
  if (!of)
    return;
  *of = (struct object){handle, ++windows_made, (uint32_t)facts->other->size, 0};
  about(UMW_EVENT_WINDOW_MADE, row, facts->time_ps, of)->request = facts->other->traced;
}

static void tell_file(const struct umw_mpi_row* row, const uintptr_t* words, const struct umw_mpi_facts* facts)
{
  const uint64_t handle = *(const uintptr_t*)words[5];
  struct object* of = facts->other && handle ? umw_mpi_entry(&files, sizeof *of, handle, true) : NULL;
  if (!of)
    return;
  *of = (struct object){handle, ++files_opened, 0, 0};
  const char* path = (const char*)words[2];
  struct umw_event* event = about(UMW_EVENT_FILE, row, 0, of);
  event->request = facts->other->traced;
  event->more = strlen(path);
  umw_mpi_event_data(path, strlen(path));
  about(UMW_EVENT_FILE_OPENED, row, facts->time_ps, of)->tag = (int32_t)words[3];
}

void umw_mpi_trace_objects_end(const struct umw_mpi_frame* frame, const uintptr_t* words,
                               const struct umw_mpi_facts* facts)
{
  const struct umw_mpi_row* row = frame->row;
  if (row->window_made)
    tell_window(row, words, facts);
  else if (row->function == UMW_MPI_File_open)
    tell_file(row, words, facts);
  if (freed.number)
    about(row->function == UMW_MPI_Win_free ? UMW_EVENT_WINDOW_FREED : UMW_EVENT_FILE_CLOSED, row, facts->time_ps,
          &freed);
  const struct object* window = row->completes ? window_of(umw_mpi_handle(words[row->window])) : NULL;
  if (window)
    about(UMW_EVENT_RMA_DONE, row, facts->time_ps, window)->peer = row->target ? (int32_t)words[row->target] : -1;
  const struct object* file = row->moves && row->status ? file_of(words[row->file]) : NULL;
  if (!file || umw_mpi_ignores_status(words[row->arity]))
    return;
  struct umw_event* event = about(UMW_EVENT_IO_END, row, facts->time_ps, file);
  event->request = file->split;
  event->bytes = umw_mpi_status_at(words[row->arity], 0).bytes;
}

// SPDX-License-Identifier: Apache-2.0
// Recording of API calls. Entry points are reached through slots: the exported functions of libcuda.so.1 are jumps
// through them (libcuda/exports.cpp), those of libcudart.so.13 as well. Without a recorder a slot holds the function
// itself, so nothing is tested; with one it holds a small piece of code that notes the time before and after
// (call_trace.cpp).
#pragma once
#include "cuda/entry_table.h"
#include "trace/recorder.h"

namespace us::cuda {

// Null unless the person asked for a recording. The file is made by the first call.
trace::Recorder* recorder();
void record_in_child();  // a child that was forked writes a file of its own

// What a slot shall hold: the function, or the code that notes calls of it.
EntryFn noted_runtime(u32 row);
EntryFn noted_driver(u32 row);

}  // namespace us::cuda

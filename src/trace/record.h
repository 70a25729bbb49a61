// SPDX-License-Identifier: Apache-2.0
// What a process writes down about itself. Records follow each other in a file, each a multiple of 8 bytes long; a
// record whose kind is still 0 was being written when the process ended.
#pragma once
#include "base/types.h"

namespace us::trace {

enum class Kind : u16 { Unfinished, Name, Call, Work, Graph, Compile };

struct Head {
  u16 size = 0;  // bytes, with the head
  Kind kind = Kind::Unfinished;
  u32 thread = 0;  // the system's number of the thread that wrote it
};

struct Name {  // the text follows: `length` bytes, then filled up to a multiple of 8
  Head head;
  u32 id = 0, length = 0;
};

struct Call {  // of an API function
  Head head;
  u32 name = 0;
  int result = 0;  // what it returned, cut to 32 bits
  u64 id = 0;      // of the call; work names the call that it comes from
  u64 begin = 0, end = 0;
};

// Where work runs. Stream ids are the runtime's (cudaStreamGetId); graph and node are 0 outside of graphs.
struct Place {
  u32 device = 0, context = 0;
  u64 stream = 0, graph = 0, node = 0;
};

struct Work {  // one kernel, copy, set, host function, batch of memory operations or conditional node
  enum class What : u8 { Kernel, Copy, Set, Host, MemoryOperations, Conditional };
  enum Side : u8 { Unknown, Pageable, Pinned, Device, Array, Managed };  // of a copy, and of what a set writes
  Head head;
  What what = What::Kernel;
  Side from = Unknown, to = Unknown;
  bool failed = false;
  u32 name = 0;  // of a kernel
  u64 call = 0;
  u64 begin = 0, end = 0;
  Place place;
  u64 bytes = 0;  // copied or set
  u32 grid[3] = {0, 0, 0}, block[3] = {0, 0, 0}, cluster[3] = {0, 0, 0};
  u32 registers = 0, static_shared = 0, dynamic_shared = 0;  // per thread; bytes per block
  u32 domain = 0;                                            // memory synchronisation domain
  u32 local = 0;                                             // bytes per thread
};

struct Graph {  // one launch of an executable graph
  Head head;
  u64 call = 0;
  u64 begin = 0, end = 0;
  Place place;
  u64 nodes = 0;
};

struct Compile {  // of a kernel for a launch shape, by the thread that needed it first
  Head head;
  u32 name = 0;
  u32 from_cache = 0;
  u64 call = 0;
  u64 begin = 0, end = 0;
};

}  // namespace us::trace

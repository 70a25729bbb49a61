// SPDX-License-Identifier: Apache-2.0
// Who listens to a process: it is told of memory and of the order of work, and gives each launch its listener. One per
// process, attached by cuda/; calls come from any thread.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "probe/fault.h"
#include "probe/listener.h"

namespace us::sass {
struct Image;
}

namespace us::probe {

// Where an instruction stands in the program.
struct Frame {
  std::string file;  // as the compiler wrote it; empty: unknown
  u32 line = 0, column = 0;
  std::string function;  // demangled; of the innermost frame too
};
struct SiteInfo {
  std::vector<Frame> frames;  // innermost first; the others called it and were inlined
  u32 ptx_line = 0;
  std::string text;  // the instruction's name: "st.shared.f32"
};

struct Symbol {
  std::string name;
  Space space = Space::Global;
  u64 begin = 0, bytes = 0;  // an address as in events; Shared: offset in the CTA's window
};

// What a block takes of a multiprocessor, and how many fit there by each of its limits.
struct Residency {
  std::string device;
  u32 sms = 0, warps_per_sm = 0;
  u32 cluster_sms = 0;  // those on which clusters of this size can stand
  u32 registers = 0;    // of a thread
  std::string origin;   // of that number: "cubin", "ptxas", "estimate"
  u64 shared = 0;       // bytes of a block, with what the system takes
  u64 shared_system = 0;
  u64 shared_per_sm = 0;  // as the multiprocessor is divided for this kernel
  u64 shared_wish = 0;    // as a carveout or a cache configuration wants that, and 1; 0: there is none
  u32 blocks = 0, by_registers = 0, by_shared = 0, by_warps = 0, by_blocks = 0;
};

// Of 4 KiB that a kernel touches.
struct Page {
  bool host = false;          // its own memory
  bool compressible = false;  // device memory that was made as such
};

struct Consequence {
  u32 decides = kNoSite;                    // the instruction that acts on it first: a branch, an address, an atomic
  std::vector<std::pair<u32, u32>> stored;  // before that, sites of stores of what it decides, and their elements
};

struct Carried {                            // where the answer of a shuffle comes to, for lanes that go there
  std::vector<std::pair<u32, u32>> stored;  // sites of stores and atomics of what it decides, and their elements
  std::vector<u32> shuffled;                // of shuffles of it
};

struct LaunchInfo {
  u64 id = 0;  // unique in the process, grows
  u32 device = 0;
  u64 node = 0;        // of the work graph: see Work
  std::string kernel;  // demangled
  u32 grid[3] = {1, 1, 1}, block[3] = {1, 1, 1}, cluster[3] = {1, 1, 1};
  u32 shared_static = 0, shared_dynamic = 0;  // bytes; the static part begins behind the reserved kilobyte
  u32 local_bytes = 0;                        // of a thread
  u32 registers = 0;                          // of a thread, as the program fixes them; 0: it does not
  u32 domain = 0;                             // memory synchronisation domain
  // Threads are ordered by barriers of their whole CTA and of lanes of a warp, by nothing else.
  bool barriers_only = false;
  bool locals_known = true;                     // nothing but accesses that are told writes local memory
  bool cooperative = false, dependent = false;  // dependent: may begin before what it waits for at griddepcontrol.wait
  u32 workers = 1;
  u32 sites = 0;                         // of the module: their numbers are lower
  std::function<Residency()> residency;  // may take a while; only while the observer is told of the launch
  // The module's machine code, as the toolkit's assembler makes it; null: there is none, and `why` says so. It may
  // take a while, the first time; only while the observer is told of the launch.
  std::function<std::shared_ptr<const sass::Image>(std::string& why)> machine_code;
  std::function<Page(u64 address)> page;
  std::function<u32(u64 address)> compression;  // of a line of a compressible page, as it is now: 1, 2 or 4 times
  std::string name;                             // of the kernel, as the module has it
  std::vector<Symbol> symbols;                  // of the module, and the shared ones of the kernel
  std::function<SiteInfo(u32 site)> site;
  // Which of `symbols` the address of an access is made from; ~0: none, several, or not known.
  std::function<u32(u32 site)> made_from;
  std::function<bool(u32 site)> ignored;  // nothing that the program does depends on what the instruction answers
  // What certainly becomes of that element of its answer.
  std::function<Consequence(u32 site, u32 element)> consequence;
  // Where a shuffle's answer comes to.
  std::function<Carried(u32 site)> carried;
  // A load whose answer only compare-and-swaps of the same place expect to find.
  std::function<bool(u32 site)> guesses;
  // Of a return with nothing before it: the branch that goes there, if there is one such; else the return itself.
  std::function<u32(u32 site)> left_by;
  // What every thread comes to behind this instruction, which not every thread executes; or kNoSite.
  std::function<u32(u32 site)> all_come_to;
  // The instruction that certainly reads what this wgmma writes before the wait for it; or kNoSite.
  std::function<u32(u32 site)> read_early;
  // The arrival whose newest answer a test of an mbarrier asks for; or kNoSite.
  std::function<u32(u32 site)> token_of;
  // Addresses in the memory that the kernel's stores are meant for, as its text says, among other numbers. Nothing:
  // some store says nothing of where it goes. What it does say need not be so.
  std::optional<std::vector<u64>> stored_to;
  // The instruction that takes the answer of this activemask for its membermask, whoever is there; or kNoSite.
  std::function<u32(u32 site)> members;
};

// Device memory, or memory that the device may touch.
struct Memory {
  enum class Kind : u8 { Allocated, Freed, Mapped, Unmapped };
  enum class Owner : u8 { Device, Pool, Host, Managed, Variable, Array, Heap };
  Kind kind = Kind::Allocated;
  Owner owner = Owner::Device;
  u64 begin = 0, bytes = 0;
  u32 device = 0;
  u64 node = 0;            // of the work graph, that allocates or frees it in order of a stream; 0: at once
  bool own_pages = false;  // whole pages that the program shares with devices: pinned or managed memory
  u64 physical = 0;  // Mapped: whose memory it is; addresses with the same number are one memory. 0: nobody else's
};

// The work graph: nodes are kernels, copies, sets, host functions and joins of streams.
struct Work {
  enum class Kind : u8 {
    Submitted,  // `node` will run behind all of `after`, complete or not
    Complete,
    Waited,  // the calling thread knows that `node` is complete
    Begins,  // `node`, a function of the host: who runs it knows that all before it is complete
    Tells,   // `node` is about to write `values`, for others to see
    Hears,   // `node` waited for `values`, and has seen them
  };
  Kind kind = Kind::Submitted;
  u64 node = 0;
  u64 stream = 0;
  std::vector<u64> after;
  u64 overlaps = 0;    // a kernel that it may run beside until griddepcontrol.wait; it ends after that one
  bool inner = false;  // started by work that runs (a kernel, a conditional node): what comes before it is not told
  bool polls = false;  // it waits for values besides: Hears says whose, if a stream writes them
  bool graph = false;  // a node of a graph
  bool stamp = false;  // an event that notes the time
  std::vector<Range> reads, writes;     // of copies and sets
  std::vector<Range> written_among;     // of more rows than are told: what they lie in
  std::vector<Range> allocates, frees;  // of a graph's nodes, whose addresses are the graph's
  struct Value {                        // of a word of 4 or 8 bytes
    u64 address = 0, value = 0;
  };
  std::vector<Value> values;  // Tells, Hears
  // Of copies and sets: what is at either end, and how much of it.
  enum class Place : u8 { None, Pageable, Pinned, Device };
  struct End {
    Place place = Place::None;
    u32 device = 0;
  } from, to;
  u64 bytes = 0;
  std::string what;  // "cudaMemcpyAsync"; of kernels, the name
};

class Observer {
 public:
  virtual ~Observer() = default;
  // Of the listeners of a kernel (demangled). Nothing: launch() answers with null.
  virtual Strategy strategy(const std::string& /*kernel*/) const { return Strategy::Events; }
  virtual std::shared_ptr<Listener> launch(const LaunchInfo&) = 0;  // null: nobody listens to this one
  virtual void memory(const Memory&) {}
  virtual void work(const Work&) {}
  // A launch ended with a fault (deadlocks included); `text` is the device's.
  virtual void fault(u64 /*launch*/, const Fault&, const std::string& /*text*/) {}
  // When a node that is complete ended, in nanoseconds of a clock that is not the host's; empty: it is the host's.
  virtual std::optional<double> end_of(u64 /*node*/) { return std::nullopt; }
};

}  // namespace us::probe

// SPDX-License-Identifier: Apache-2.0
// What a launch finds in L2, and what DRAM gives and takes: sectors that the launch touched before are there,
// unless they were displaced since; what it wrote goes back when there is no more room. Before the launch L2
// is empty, as under Nsight Compute, or as launches, copies and sets before it have left it. Costs of DRAM are in
// sectors that follow each other: lone ones take longer. Of compressible memory DRAM moves what the contents
// need; memory of the host is in no L2.
#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "probe/observer.h"
#include "timing/parameters.h"

namespace us::timing {

class Footprint {
 public:
  enum class Between : u8 { Flushed, Kept };  // launches
  // CTAs that follow each other and are on multiprocessors of one GPC (oracle/timing/placement.txt).
  static constexpr u32 kOfGpc = 16;
  explicit Footprint(const Parameters& p, Between b = Between::Flushed)
      : p_(p),
        kept_(b == Between::Kept),
        most_lines_(static_cast<u64>(p.l2_bytes) / 128),
        dirty_room_(p.l2_dirty_kept / 128) {}
  // What is known of memory: probe::LaunchInfo has it.
  struct Memory {
    std::function<probe::Page(u64 address)> page;
    std::function<u32(u64 address)> compression;
  };
  ~Footprint();
  Footprint(const Footprint&) = delete;
  Footprint& operator=(const Footprint&) = delete;
  // A launch, of whose CTAs so many are at work at a time; what follows is of one thread until finish().
  void begin(u64 at_a_time, Memory = {});
  // Kept: what copies and sets touched; from any thread. What came in launches that nobody looked at.
  void touch(u64 begin, u64 bytes, bool write);
  void pass(u64 lines) { lines_ += lines; }
  // Who reads: the CTA, and how far its warp has come.
  struct Reader {
    u32 cta, progress;
  };
  // Lines that follow each other, others, or what an atomic changes.
  enum class As : u8 { Row, Gather, Atomic };
  // Of the sectors of a line (one bit each), DRAM gives those that are not there, in pairs but for atomics. The cost;
  // if it is negative, nothing but waiting: a CTA that was given out so many sooner or later has asked for them.
  float read(u64 line, u32 sectors, Reader = {}, As = As::Row);
  bool behind_a_store() const {
    return behind_;
  }  // the last read lacked sectors of a line with others that were written
  // So many bytes of each sector.
  void write(u64 line, const u8 (&bytes)[4]);

  // Known at the end.
  struct Traffic {
    u64 read = 0, written = 0;   // sectors
    double cost_of_writing = 0;  // and of what must be read to complete it
    u64 lines = 0;               // that were touched, those soon again once
    u64 of_host = 0;             // bytes that were written to its memory
    u64 asked_first = 0,
        asked_apart = 0;        // lines, each time that CTAs came together, and those that two GPCs asked for
    u64 asked = 0, joined = 0;  // CTAs that read a line, once each, and those whose request went with another one's
  };
  Traffic finish();

 private:
  struct Entry {
    u64 line = ~u64{0};
    u32 since = 0;             // lines_ when it was touched, but for touches that soon follow
    u32 dirtied = 0;           // writes_ when it was written, likewise
    u32 open = 0;              // parts_ when the first of its sectors was written in part
    u32 asker = 0, asked = 0;  // the last CTA that read it, and how far the one was that did so first
    // In which launch; of the CTAs that have read it at the same time how many GPCs were passed, and how many CTAs of
    // the last one.
    u32 asked_in : 20 = 0, gpcs : 8 = 0, askers : 4 = 0;
    u32 sectors : 4 = 0, dirty : 4 = 0;  // there entirely, written
    u32 launch : 24 = 0;                 // in which DRAM gave the latest of them
    u8 bytes[4] = {};                    // written of each sector
    Reader reader{};                     // that it gave them for
    u32 parts() const { return dirty & ~sectors; }
  };
  static constexpr u32 kLaunches = 0xffffff, kAskedIn = 0xfffff;
  // Entries of lines that follow each other stay where they are; a table has where those of a group are.
  static constexpr u64 kGroup = 8;
  struct Group {
    u64 number = ~u64{0};  // line / kGroup
    Entry* entries = nullptr;
  };
  Group& group(u64 number);  // or where it would be
  Entry* find(u64 line) {    // null: nothing of its group is there
    if (last_.number == line / kGroup) return last_.entries + line % kGroup;
    return find_group(line);
  }
  Entry* find_group(u64 line);
  Entry& entry_of(u64 line);  // makes its group
  Entry* room_for_a_group();
  static const Entry& neighbour(const Entry& e) { return e.line & 1 ? *(&e - 1) : *(&e + 1); }
  template <class F>
  void for_each_entry(F&& f) {
    for (std::size_t k = 0; k < groups_; ++k)
      for (Entry *e = at(k), *const end = e + kGroup; e < end; ++e) f(*e);
  }
  Entry* at(std::size_t k) const { return pieces_[k / kPiece] + k % kPiece * kGroup; }
  Entry& enter(u64 line, const Reader* = nullptr);
  float on_the_way(Entry&, Reader) const;
  void ask(Entry&, Reader, bool joins);
  // Who brought the line: how many CTAs away, whether at work at the same time, and at the same point of its way.
  static u64 distance(const Entry&, Reader);
  bool beside(const Entry&, Reader) const;
  bool at_once(const Entry&, Reader) const;
  bool lone(const Entry&, u32 brought, Reader);
  const probe::Page& page(u64 line);
  u32 moved(u64 line, u32 sectors);  // of DRAM, for so many of them
  bool lone(const Entry&) const;     // written, without its neighbour
  void put_back(Entry&, u32 sectors);
  void grow();
  void rebuild(std::size_t size);
  // L2 is made of sets: how long a line stays depends on how many others its own has. Half of the lines are gone behind
  // `mean` others.
  double room(u64 line, double mean, double spread) const;
  bool old(const Entry& e) const;
  bool put_back_since(const Entry& e) const;
  void touched(Entry& e) { e.since = static_cast<u32>(lines_++), written_share_ -= written_share_ / kShareOf; }
  void finish_flushed();
  void finish_kept();
  struct Touched {
    u64 begin, bytes;
    bool write;
  };
  void enter_touched(const Touched&);

  const Parameters p_;
  const bool kept_;
  static constexpr std::size_t kPiece = 512;  // groups that are allocated together
  // Those of launches that have ended serve the next ones: most of what a large one would take is for fresh memory.
  class Spare;
  std::vector<Entry*> pieces_;
  std::size_t groups_ = 0;    // that were given out of them
  std::vector<Entry*> free_;  // of those that are old
  std::vector<Group> table_ = std::vector<Group>(1 << 10);
  u64 used_ = 0;  // of table_
  Group last_;    // that was looked up
  const u64 most_lines_;
  static constexpr double kShareOf = 1 << 16;  // touches
  static constexpr u32 kSoon = 16;             // less than that part of the room
  u64 lines_ = 0, writes_ = 0;                 // touches, and those that wrote; soon again is the same
  double written_share_ = 0;                   // of the latest touches
  double dirty_room_;                          // lines
  u64 parts_ = 0;                              // lines with sectors that are written in part
  Traffic so_far_;                             // what was displaced and touched again is in it
  u64 before_ = 0;                             // lines_ when the launch began
  u64 at_a_time_ = 1;
  u32 launch_ = 0;
  bool behind_ = false;
  u64 fresh_ = 0;                          // sectors that the launch wrote first
  std::deque<std::pair<u64, u32>> dirty_;  // Kept: lines in the order in which they were written, and Entry::dirtied
  Memory memory_;
  struct Known {
    u64 number = ~u64{0};
    probe::Page is;
  };
  static constexpr u64 kPages = 4096;
  std::vector<Known> pages_;  // by number modulo kPages
  std::mutex m_;              // guards touched_
  std::vector<Touched> touched_;
};

}  // namespace us::timing

// SPDX-License-Identifier: Apache-2.0
// Listens to one launch. The files beside launch_checker.cpp hold one topic each: accesses.cpp, races.cpp,
// meetings.cpp, mbarriers.cpp, transfers.cpp, clusters.cpp, stuck.cpp, faults.cpp.
#pragma once
#include <unordered_map>
#include <unordered_set>

#include "sanitizer/fetched.h"
#include "sanitizer/judge.h"
#include "sanitizer/process.h"
#include "sanitizer/rows.h"
#include "sanitizer/state.h"

namespace us::sanitizer {

const char* to_text(const probe::Access&);  // what a party did
inline constexpr u64 kReserved = 1024;      // first bytes of a CTA's window

class LaunchChecker final : public probe::Listener {
 public:
  LaunchChecker(Process&, std::shared_ptr<const probe::LaunchInfo>);
  probe::Strategy strategy() const override { return probe::Strategy::Events; }
  void ended() override;
  void cta_begins(const probe::Who&, u32 threads) override;
  void cta_ends(const probe::Who&) override;
  void exits(const probe::Who&) override;
  void access(const probe::Who&, const probe::Access&) override;
  probe::Quick* quick(const probe::Who&) override;
  void quick_all(const probe::Who&, u32 warps, probe::Quick** to) override;
  void fence(const probe::Who&, const probe::Fence&) override;
  void meeting(const probe::Who&, const probe::Meeting&) override;
  bool all_meet(const probe::Who&, u32 generation) override;
  void mbarrier(const probe::Who&, const probe::Mbarrier&) override;
  void transfer(const probe::Who&, const probe::Transfer&) override;
  void copies(const probe::Who&, const probe::Copies&) override;
  void matrix(const probe::Who&, const probe::Matrix&) override;
  void collective(const probe::Who&, const probe::Collective&) override;
  void hint(const probe::Who&, const probe::Hint&) override;
  void image(const probe::Who&, const probe::Image&) override;
  void fault(const probe::Fault&, const std::string& text);  // under the process's lock
  const probe::LaunchInfo& info() const { return *info_; }

 private:
  struct At {  // an event's place
    Cluster* cluster = nullptr;
    Cta* cta = nullptr;
    Warp* warp = nullptr;
  };
  struct Actors {  // parties of a finding that is no conflict of cells
    std::string action;
    u32 site = 0;
    u64 cta = 0;
    u32 warp = 0, lane = 0;
    const HostStack::Addresses* host = nullptr;  // the host did it
  };
  struct Telling {  // whose event it is, while it lasts
    Telling(LaunchChecker& c, const probe::Who& w) : checker(c) { c.who_ = &w; }
    ~Telling() { checker.who_ = nullptr, checker.now_ = nullptr; }
    LaunchChecker& checker;
  };
  Cta& block(const probe::Who&);  // its CTA
  Cluster& cluster_of(const probe::Who&);
  const Cluster* find_cluster(u64 number) const;
  Warp& warp_of(Cta&, u64 cluster, u32 number);
  void renew(Cluster&, const probe::Who&);
  void rename(Cluster&, const probe::Who&);
  At find(const probe::Who&);  // what the warp does next is as before
  At at(const probe::Who&);    // it may not be
  At not_ordinary(const probe::Who&);
  At usual(const probe::Who&);     // ... after something that is no more than a barrier
  void tells_host(bool by_fence);  // that something is done, perhaps
  void is_told(u64 address);       // perhaps, by the host or a stream
  bool of_host(u64 address) const;
  void count_anew();      // segments, if there are many and nobody needs those that were
  bool spent(const At&);  // there are no numbers left for segments
  void begins();
  Cta& cta_of(Cluster&, const probe::Who&, u32 rank);

  u64 key(u64 cta) const { return u64{launch_} << 32 | cta; }
  Actors actor(const probe::Who&, u32 lane, std::string action) const;

  // accesses.cpp
  static void show_memory(Cta& owner, const probe::Access&);
  void touch(const At&, const probe::Who&, const probe::Access&);
  // quick.cpp: on the planes
  struct Span {                                    // what the lanes of an access have in common
    u64 lowest = 0, end = 0, bits = 0, first = 0;  // bits: of all addresses
    bool same = false, row = false;                // one address; one behind the other
  };
  static Span span(u32 lanes, const probe::Access&);
  u32 quick(const At&, const probe::Who&, const probe::Access&);  // lanes that are left
  // ordinary.cpp: by a call from compiled code
  struct Bounds {  // of accesses at a site
    u64 begin = 0, end = 0, changes = ~u64{0};
    bool unwritten = false;
    bool pure = false;           // what only is read in this launch
    ReadMarks* marks = nullptr;  // where that is marked, if all of it has been written
  };
  // only_read.cpp
  void expect_stores();
  bool only_read(const Allocations::Block&) const;
  void stores_to(u64 address);  // it does: that may not have been expected
  RowActor everybody();
  ReadMarks* marks_of(const Allocations::Block&);
  void show(const At&, const probe::Who&, const probe::Access&, const Bounds&);
  void show(Ordinary&, Ordinary::Way);
  void remember(const At&, const probe::Who&, const probe::Access&, const Span&, const RowActor*);
  Bounds bounds_at(const probe::Who&, const probe::Access&, const Span&);
  template <class Place, class Judge>
  u32 ordinary(Ordinary&, u32 lanes, u32 site, probe::QuickAccess, u64 begin, u64 bytes, Place&&, Judge&&);
  static u32 ordinary_row(probe::Quick*, u32 lanes, u32 site, u32 access, u64 address);
  static u32 ordinary_same(probe::Quick*, u32 lanes, u32 site, u32 access, u64 address);
  static u32 ordinary_lanes(probe::Quick*, u32 lanes, u32 site, u32 access, const u64* address);
  // settled.cpp
  bool settles(Cta&, u64 offset, u32 number);
  template <class Place>
  bool words_settled(const Planes&, u32 lanes, u32 bytes, u64 base, Place&&) const;
  bool settled(const At&, const probe::Who&, const probe::Access&);
  void unsettle();
  bool quick_bounds(const probe::Who&, const probe::Access&, const Span&, RowActor&);
  u32 quick_rows(const At&, const Planes&, u32 lanes, const probe::Access&, const Span&, u64 base, RowActor&);
  u32 quick_bytes(const At&, Shadow&, u32 lanes, const probe::Access&, u64 base, RowActor&);
  static u32 quick_parts(const Planes&, u32 lanes, const u64* address, u32 bytes, bool writes, bool global, u64 base,
                         const RowActor&);
  RowActor row_actor(const At&, Ordinary::Way);
  bool prepare(Ordinary&, Ordinary::Way);
  void prepare_all(Cta&, u32 ways);
  void prepare_plain(Cta&);
  probe::QuickRecords global_records() const;
  void prepare_usual(Cta&);
  probe::Quick* open(Cluster&, Cta&, Warp&);
  u32 global_segment(const At&);
  Planes spare_planes();
  std::unique_ptr<Warp> new_warp(u64 cta, u64 cluster, u32 number);
  void copies_met(Cta&);
  void all_met(Cta&);  // every thread of the block has met every other
  // touched.cpp
  std::vector<Touched> touched();
  bool alone() const;
  void touched_page(u64 begin, std::vector<Touched>&);
  void touched_word(u64 at, std::vector<Touched>&);
  bool mine(u32 segment);
  void touch_lane(Judge&, const probe::Access&, u32 lane, u64 address, const Actor&);
  bool written_here(const Cell&) const;
  Actors written_by(const Cell&) const;
  void weak(Judge&, const probe::Access&, u32 lane, u64 address, const Actor&);
  void strong(Judge&, const probe::Access&, u32 lane, u64 address, u32 element, const Actor&);
  static void merge_heads(std::vector<Head>&);
  Judge shared_judge(Cluster&, Cta& owner);
  Judge global_judge(Warp*, u32 lanes);
  bool before(const Segment&, bool waited) const;

  // float_order.cpp
  void sums(Judge&, const probe::Access&, u32 lane, u64 address, const Actor&, Cta* owner);
  void end_sum(FloatSum&, u64 address, Cta* owner);
  void end_sums(FloatSums&, Cta* owner);

  // memory_checks.cpp
  bool in_bounds(const At&, const probe::Who&, const probe::Access&, u32 lane, u64 address, Cta* owner);
  bool shared_in_bounds(const probe::Who&, const probe::Access&, u32 lane, u64 address);
  bool global_in_bounds(const probe::Who&, const probe::Access&, u32 lane, u64 address);
  u64 other_address(const At&, const probe::Who&, const probe::Access&, u32 lane, u64 address, u32 segment);
  const probe::Symbol* made_from(u32 site);
  bool made_well(const probe::Who&, const probe::Access&, u32 lane, u64 address);
  const Allocations::Block* usable(u64 address) const;
  void no_memory(Actors, u64 address, u64 bytes);
  bool local_in_bounds(const probe::Who&, const probe::Access&, u32 lane);

  // unwritten.cpp
  static bool is_written(Shadow&, u64 begin, u32 bytes);
  bool being_written(u64 address) const;
  void unwritten(const At&, Judge&, const probe::Access&, u32 lane, u64 address, Cta* owner);
  void read_unwritten(const At&, const probe::Access&, u32 lane, u32 element, u64 address, Cta* owner,
                      const UnwrittenCopy*);
  bool is_padding(const probe::Access&, u64 address, Cta* owner);
  void stores_unwritten(const At&, const probe::Who&, const probe::Access&);
  static void local_written(Warp&, u32 lane, u64 address, u64 bytes, bool written);
  void local(const At&, const probe::Who&, const probe::Access&);

  void wrong_rank(const probe::Who&, u32 lane, u32 rank);
  void mbarrier_bytes(const probe::Who&, u32 lane, std::string action, u64 address);

  // races.cpp
  void conflict(const Conflict&, probe::Space, const Cta* owner);
  static bool of_collective(const Party&);
  Check check_of(const Conflict&, probe::Space) const;
  bool lanes_agree(const Conflict&) const;
  bool guesses(const Access& load, const Access& atomic) const;
  std::vector<std::string> reasons(const Conflict&, Check) const;
  std::string fix_of(const Conflict&, Check, probe::Space) const;
  Party party(const Access&) const;
  const NearMiss* miss_between(const Conflict&) const;
  const Cta* judged_block() const;
  const Warp* judged_warp() const;
  std::optional<Check> copy_check(const Conflict&) const;
  bool issue_known(const Conflict&) const;

  // texts.cpp
  std::string thread_text(u64 cta_key, u32 warp, u32 lane) const;
  std::string object_text(probe::Space, u64 address, u32 bytes, const Cta* owner) const;
  std::string object_kind(probe::Space, u64 address) const;
  const probe::Symbol* shared_symbol(u64 offset) const;
  probe::SiteInfo site_of(u64 launch, u32 site) const;
  std::string site_text(u32 site) const;
  static bool of_library(const std::vector<probe::Frame>&);  // any in a header of the toolkit
  Party party(const Actors&) const;
  void raise(Check, const std::vector<Actors>&, std::string kind, std::string object, std::vector<std::string> why,
             std::string fix = {});

  // meetings.cpp
  void not_converged(const probe::Who&, const char* instruction);
  void warp_sync(const At&, const probe::Who&, const probe::Meeting&);
  void passed_by(const At&, const probe::Who&, u32 members);
  void divergent_barrier(const At&, const probe::Who&, const NamedBarrier::Phase&, const std::string& object);
  bool whole_arrival(const At&, const probe::Who&, const probe::Meeting&);
  static void in_parts(Cta&, NamedBarrier::Phase&);
  bool meet_whole(Cta&, NamedBarrier::Phase&, u32 agent, u32 generation);
  void meet(Cta&, u32 agent, u32 generation);
  static void tell_phases(Cta&);
  void barrier_arrive(const At&, const probe::Who&, const probe::Meeting&);
  void barrier_leave(const At&, const probe::Who&, const probe::Meeting&);
  void parts_of_warps(Cta&, u32 id, const NamedBarrier::Phase&);
  void barrier_done(Cta&, const probe::Meeting&);
  void cluster_arrive(const At&, const probe::Who&, const probe::Meeting&);
  void cluster_leave(const At&, const probe::Who&, const probe::Meeting&);
  void exited_before(Cta&, u32 id, const NamedBarrier::Arrival& came);
  void grid_wait(const At&, u32 lanes);
  u32 behind_wait(Warp&, u32 lanes);  // which of them are
  void part(Cta&, const NamedBarrier::Phase&, const probe::Who&);
  bool same_place(u32 site, u32 other) const;  // of the program, which may have it several times
  bool went_past(Cta&, u32 id, const NamedBarrier::Arrival& came, const Exit&);
  u32 all_come_to(u32 site);  // probe::LaunchInfo::all_come_to

  // collectives.cpp
  bool unnamed(const probe::Who&, const u64* members);
  bool masks_differ(const probe::Who&, const u64* members);
  void different_masks(const probe::Who&, u32 lane, u32 mask, u32 other, u32 its);
  void went_round(const At&, const probe::Who&);
  void ended_round(const probe::Who&, u32 gone);
  void shuffle(const At&, const probe::Who&, const probe::Collective&);
  void carry(const At&, const probe::Who&, const probe::Collective&, u32 absent);
  const probe::Carried& carried(u32 site);
  void carry_unwritten(const At&, u32 lane, const UnwrittenCopy&);
  void unwritten_used(const probe::Who&, u32 lane, const probe::Access&, const UnwrittenCopy&);
  void uses_undefined(const At&, const probe::Who&, const probe::Access&);
  void undefined_used(const probe::Who&, u32 lane, std::string action, const UnwrittenCopy&);
  void taken_from_nobody(Actors use, Actors shuffle, std::string why, u32 source);
  void membership(const probe::Who&);
  const probe::Consequence& consequence(u32 site, u32 element);
  void register_pool(const At&, const probe::Who&, const probe::Meeting&);
  void registers_at_end(const Cta&);

  // hints.cpp
  void prefetched(const probe::Who&, u64 address);
  void discarded(u64 begin, u64 bytes);
  static Actors freed_by(const Allocations::Thread&);
  void frees(const At&, const probe::Who&, u64 address);
  void freed_in_use(const At&, const probe::Who&, u32 lane, const Allocations::Block&);
  void misaligned_row(const probe::Who&, u32 lane, const probe::Hint&);

  // images.cpp
  void surface(const At&, const probe::Who&, const probe::Image&);

  // mbarriers.cpp
  void mbarrier_init(const At&, const probe::Who&, const probe::Mbarrier&, u32 lane, Cta& owner);
  void mbarrier_inval(const At&, const probe::Who&, u32 lane, Cta& owner, MbarrierObject&, u64 offset);
  void mbarrier_arrive(const At&, const probe::Who&, const probe::Mbarrier&, u32 lane, Cta& owner, MbarrierObject&);
  void mbarrier_test(const At&, const probe::Who&, const probe::Mbarrier&, Cta& owner, MbarrierObject&);
  void mbarrier_publish(const At&, const probe::Who&, const probe::Mbarrier&, u32 lane, MbarrierObject&);
  void mbarrier_tx(const probe::Who&, u32 lane, MbarrierObject&, u64 offset, i64 tx, bool expects);
  void mbarrier_next(MbarrierObject&);
  void may_come_before(const At&, const probe::Who&, u32 lane, const Cta& owner, const MbarrierObject&, u64 offset);
  void mbarriers_at_end(Cta&, bool stuck = false);
  Check no_object(const MbarrierObject*) const;
  void mbarrier_wrong(Check, const probe::Who&, u32 lane, const char* action, u64 offset, const MbarrierObject*,
                      std::string why, std::string fix = {});
  bool ignored(u32 site);
  bool foreign_token(const At&, const probe::Who&, const probe::Mbarrier&, u32 lane, const MbarrierObject&);
  void token(const probe::Who&, u32 lane, u64 offset, const MbarrierObject&, u64 state);
  bool init_known(const At&, u32 lane, const Cta& owner, const MbarrierObject&, bool by_copy) const;
  void copy_reports(const At&, const probe::Who&, u32 lane, const probe::Transfer&);

  // transfers.cpp
  struct Flight {
    Segment by;
    u32 lane = 0;
    Manner manner = Manner::Copy;
    bool reduces = false;
  };
  Flight flight(const At&, const probe::Who&, u32 lane, Manner, bool reduces);
  u32 reporting(const At&, const probe::Who&, const probe::Transfer&, const probe::Range&, const Flight&);
  u32 flying(CopyGroup&, const At&, probe::Space, bool writes, const Flight&);
  void mark(const At&, const probe::Who&, const probe::Range&, bool writes, u32 segment, const Flight&);
  void check_pushed(const At&, const probe::Who&, const probe::Range&, bool writes, u32 lane);
  void not_pushed(Check, const probe::Who&, u32 lane, bool writes, Actors other, probe::Space, u64 address,
                  const Cta* owner);
  void check_tensormap(const At&, const probe::Who&, u32 lane, u64 address);

  bool copies_memory(const probe::Who&, u32 lane, const probe::Range&, bool writes);
  bool repeats(const At&, const probe::Who&, const probe::Transfer&, u32 lane);
  void one_transfer(const At&, const probe::Who&, const probe::Transfer&);
  void fetch_records(std::span<const probe::Range>) const;
  void each_of_row(const probe::Who&, const probe::Transfer&);
  bool copy_row(const At&, const probe::Who&, const probe::Transfer&);
  void mark_row(const At&, const probe::Who&, const RowOfCopies&, const RowActor&);
  u64 inside_variable(const probe::Who&, u32 lane, const probe::Range&, bool writes);

  // copy_rows.cpp
  void split_rows(const At&);
  void split_row(Shadow&, Segments&, const RowOfCopies&, GroupsOfLane* const*, std::size_t group);
  bool row_groups(const At&, const probe::Who&, const probe::Copies&);
  // groups.cpp
  void sums_read_early(const probe::Who&, u32 lane);
  void commits(const At&, const probe::Who&);
  void landed(Segments&, std::vector<u32>&, Warp&, u32 lane);
  void landed(const At&, CopyGroup&, u32 lane, bool writes);
  void copies_at_exit(const At&, const probe::Who&);
  void copies_arrive(const At&, u32 lane, const Cta& owner, const MbarrierObject&);

  // clusters.cpp
  // `awaited`: whoever keeps the block there waits for it by the copy that it belongs to.
  void visit(const At&, const probe::Who&, Cta& owner, u32 lanes, u32 segment, bool awaited = false);
  void visited(const At&, const probe::Who&, Cta& owner, u32 lanes, u32 segment);
  void lent(const At&, const Visit&);
  u32 visit_known(const Cluster&, const Cta& owner, const Visit&) const;
  void leave_cluster(const At&, const probe::Who&);

  // stuck.cpp
  static bool ends_kernels(Check);
  void part_of_warp(const Cta&, const Warp&);
  std::string missing_at_barrier(const Cta&, u32 id, u32 generation) const;
  std::string missing_at_mbarrier(const MbarrierObject&) const;
  std::string waiting_text(const Cta&, const Warp&) const;
  void came_to(const MbarrierObject&, Finding&) const;

  // faults.cpp
  void refused(const probe::Fault&, const std::string& text);
  bool explained(const probe::SiteInfo& place, const Actors& who) const;

  Process& process_;
  std::shared_ptr<const probe::LaunchInfo> info_;
  std::unordered_map<u64, std::unique_ptr<Cluster>> clusters_;
  u64 last_cluster_ = ~u64{0};
  Cluster* cluster_ = nullptr;
  const u32 launch_;           // small number, unique in the process: the upper half of CTA keys
  bool lanes_missed_ = false;  // some warp has lanes that a mask named and that did not come
  bool told_host_ = false, is_told_ = false, fenced_for_host_ = false;
  bool undefined_ = false;           // some warp has undefined values (undefined.h)
  bool asks_atomics_ = false;        // something depends on what an atomic has answered: a lock, a ticket
  std::unordered_set<u32> atomics_;  // sites
  QuickSites sites_;                 // what compiled code knows of places
  std::unordered_set<u32> carries_;  // sites of loads whose answer a shuffle has taken, and nobody wrote
  Floor floor_;                      // segments of global memory below are ordered before the launch
  bool after_all_ = true;            // the floor holds all that was there when it began
  u32 cluster_size_ = 1;
  std::vector<probe::Symbol> shared_symbols_;
  std::vector<Planes> spare_;  // of CTAs that have ended
  std::vector<std::unique_ptr<Warp>> spare_warps_;
  FloatSums sums_;  // of global memory
  SumLimits sum_limits_;
  Part meeting_;  // of a barrier's warps, while they meet
  Pushes meeting_pushed_;
  std::unique_ptr<Cluster> spare_cluster_;  // one that has ended
  // One of one CTA, beside `clusters_`: stays here with all that it has when it ends. Its number, or kNobody.
  static constexpr u64 kNobody = ~u64{0};
  std::unique_ptr<Cluster> solo_;
  u64 solo_number_ = kNobody;
  template <class F>
  void each_cluster(F&& f) const {
    for (const auto& [number, c] : clusters_) f(*c);
    if (solo_number_ != kNobody) f(*solo_);
  }
  // Bit way: in the CTA's n-th phase (of barrier 0) warps had accesses of this kind, to what is not only read.
  std::array<u8, 4096> usual_ways_ = {};
  u32 usual_phases_ = 0;                // behind the last of these
  const probe::Access* now_ = nullptr;  // the access that is judged
  const probe::Who* who_ = nullptr;
  // Of an access to a word whose bytes are judged one by one: what was found for the word, once.
  struct InParts {
    u64 word = kNone;
    std::vector<Collector::Key> found;
    static constexpr u64 kNone = ~u64{0};
    void begin(u64 at, u64 end, bool whole) {
      if (whole)
        word = kNone;
      else if (at % 4 == 0)
        word = end - at >= 4 ? at : kNone, found.clear();
    }
    void end() { word = kNone; }
  } in_parts_;
  bool began_ = false;
  u64 began_as_ = 0;  // of all launches: as the n-th
  u32 asked_ = 0;     // the segment that mine() looked up last
  bool answer_ = false;
  static constexpr u32 kNotAsked = ~0u - 1;
  std::vector<u32> made_from_;                                      // by site: of the launch's symbols
  std::vector<Bounds> bounds_;                                      // by site
  std::unordered_map<u32, bool> ignored_;                           // by site
  mutable std::unordered_map<u32, bool> guesses_;                   // by site of a load
  std::unordered_map<u32, u32> token_of_;                           // by site of a test
  std::unordered_map<u32, u32> read_early_;                         // by site of a wgmma
  std::size_t copies_ = 0;                                          // words of what nobody wrote
  std::map<std::pair<u32, u32>, probe::Consequence> consequences_;  // by site and element of its answer
  std::unordered_map<u32, u32> behind_;                             // by site of an instruction of the warp
  std::unordered_map<u32, probe::Carried> carried_;                 // by site of a shuffle or a load
  std::unordered_set<u32> membership_asked_;                        // sites of activemask
  std::unordered_set<u64> acquired_maps_;                           // addresses
  std::map<u64, u32> used_maps_;                                    // addresses, and who used them
  Fetched fetched_;
  std::set<u64> surface_pages_;  // that lie in arrays
  bool settling_ = true;         // what the text says of a kernel's accesses holds
  bool expects_ = false;         // stores only in these blocks, as they begin
  std::vector<u64> stored_;
  u64 begun_ = 0;       // Process::begun when that was so
  u32 everybody_ = 0;   // the segment of RowActor::everybody, if there is one
  bool fatal_ = false;  // something was found that ends a kernel with a fault
};

}  // namespace us::sanitizer

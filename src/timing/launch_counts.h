// SPDX-License-Identifier: Apache-2.0
// Counts a launch exactly: what each instruction executed, and what its accesses take of the memory system.
#pragma once
#include <functional>
#include <mutex>

#include "timing/accesses.h"
#include "timing/launch_profile.h"
#include "timing/launch_time.h"

namespace us::timing {

// How the model is asked about a launch.
struct ModelChoice {
  std::function<bool()> counts_only;        // when the launch begins: counts are enough; empty: they are not
  std::shared_ptr<Footprint> l2 = nullptr;  // see LaunchTime
  bool what_ifs = true;
  bool detailed = true;  // else LaunchProfile::detailed is false
};

class LaunchCounts final : public probe::Listener {
 public:
  struct Counted {
    u64 hash = 0, warps = 0;  // of what each site executed; instructions of all
    bool only = false;        // there is nothing else in the profile
    u64 l2_lines = 0;         // that came
  };
  using Done = std::function<void(LaunchProfile, const Counted&)>;
  // Without `done` nothing is kept: code that records needs somebody who takes.
  LaunchCounts(const probe::LaunchInfo&, KernelCodes&, Done done, ModelChoice choice = {});
  probe::Strategy strategy() const override { return probe::Strategy::Records; }
  probe::Count* counts(u32 worker) override;
  probe::RecordBuffer* records(u32 worker) override { return recording_.buffer(worker); }
  probe::Unheard* unheard(u32 worker, u32 cta) override;
  void ended() override;
  void fault(const std::string& text) { profile_.fault = text; }

 private:
  struct Site {
    AccessKind kind = AccessKind::None;
    GlobalAccesses global;
    SharedAccesses shared;
    u64 local_requests = 0;
    // What accesses took: the next one of the same form takes the same. By place: loops come back to few of them.
    struct Known {
      u64 times = 0;  // that are not in global and shared yet
      u32 lanes = 0, place = ~0u;
      probe::RecordCode code;
      const u64* pattern = nullptr;
      Sectors sectors;
      Wavefronts wavefronts;
    };
    std::vector<Known> known{};
    Wavefronts unheard{};  // of an access that compiled code counts
    void sum(Known&);
    void sum(probe::Unheard&);
  };
  // The last access of a site, small: most are like it.
  struct Last {
    u64 form = 0;  // lanes, and the record's code; 0: there is none
    const u64* pattern = nullptr;
    u32 place = 0, mask = 0;
    u64* times = nullptr;
    bool same(const u64* words) const {  // of a record that has an address
      constexpr u64 kCode = ~((u64{1} << (32 + probe::RecordCode::kWarpBits)) - 1);
      return form == (words[0] >> 32 | (words[1] & kCode)) && (words[2] & mask) == place &&
             (!pattern || reinterpret_cast<const u64*>(words[3]) == pattern);
    }
  };
  struct Mine {  // of one worker
    std::vector<probe::Count> counts;
    std::vector<Site> sites;
    std::vector<Last> last;
    std::vector<probe::Unheard> unheard;
    bool waits = false;  // warps look whether something has happened: what they do in between is recorded
    void hear_all();
  };
  static void take(void* of, u32 worker, const u64* begin, const u64* end);
  static void add(Mine&, const probe::Record&, const Lines*);
  static Wavefronts cost_of(Mine&, const probe::Record&);
  static bool know(Mine&, const probe::Record&);
  void begin();
  SiteProfile sum_of(u32 site);
  void add_places();
  void add_sums();
  Counted counted(const LaunchTime*) const;

  LaunchProfile profile_;
  const std::function<probe::SiteInfo(u32)> site_;
  const u32 sites_;
  const Done done_;
  const ModelChoice choice_;
  std::shared_ptr<KernelCode> code_;
  Footprint::Memory memory_;
  std::once_flag begun_;
  bool only_ = false;
  std::vector<Mine> of_worker_;
  std::unique_ptr<LaunchTime> time_;  // null: no machine code
  probe::Recording recording_;
};

}  // namespace us::timing

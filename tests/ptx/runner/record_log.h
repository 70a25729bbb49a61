// SPDX-License-Identifier: Apache-2.0
// Records of a launch (probe/records.h) as lines of text, lane by lane.
#pragma once
#include "probe/records.h"
#include "runner/event_log.h"

namespace ptx_test {

class RecordLog final : public us::probe::Listener {
 public:
  RecordLog(us::u32 sites, us::u32 workers, EventLog::Naming naming)
      : counts_(workers, std::vector<us::probe::Count>(sites)),
        bytes_(sites),
        naming_(std::move(naming)),
        recording_(workers, this, take) {}
  us::probe::Strategy strategy() const override { return us::probe::Strategy::Records; }
  us::probe::Count* counts(us::u32 worker) override { return counts_[worker].data(); }
  us::probe::RecordBuffer* records(us::u32 worker) override { return recording_.buffer(worker); }
  void ended() override { recording_.finish(); }

  const std::map<EventLog::Lane, std::vector<std::string>>& lanes() const { return lanes_; }
  const std::vector<us::probe::Count>& bytes() const { return bytes_; }        // by site: as the records tell
  const std::vector<us::probe::Count>& counted() const { return counts_[0]; }  // ... and as one worker counted
  std::function<std::string(us::u32)> place;                                   // of a site

 private:
  static void take(void* log, us::u32 worker, const us::u64* begin, const us::u64* end);
  std::vector<std::vector<us::probe::Count>> counts_;
  std::vector<us::probe::Count> bytes_;
  EventLog::Naming naming_;
  us::probe::Recording recording_;
  std::map<EventLog::Lane, std::vector<std::string>> lanes_;
};

}  // namespace ptx_test

// SPDX-License-Identifier: Apache-2.0
// A sink that writes down what it is told, as records that a reader puts together again (records.h). What was found
// first is written at once, how often it was found when that number has doubled and at the end: what a process wrote
// before it crashed tells all that it found.
#pragma once
#include <bitset>
#include <functional>
#include <map>
#include <mutex>
#include <unordered_map>

#include "sanitizer/sink.h"

namespace us::sanitizer {

using CheckSet = std::bitset<static_cast<std::size_t>(Check::Count)>;

class Journal final : public Sink {
 public:
  using Write = std::function<void(const std::string& record)>;
  Journal(CheckSet wanted, Write write) : wanted_(wanted), write_(std::move(write)) {}
  void begin(u32 process, const std::string& program);
  void found(const Finding&) override;
  void judged(const std::string& kernel) override;
  void not_judged(const std::string& what, const std::string& why) override;
  void end();     // of the process: numbers are written
  void forget();  // in a child that was forked: what was found is its parent's

 private:
  struct Entry {
    u64 id = 0, times = 0, blocks = 0, written = 0;
  };
  void write_counts(Entry&);

  const CheckSet wanted_;
  const Write write_;
  std::mutex m_;
  std::unordered_map<std::string, Entry> found_;
  std::map<std::string, u64> judged_;
  std::map<std::pair<std::string, std::string>, u64> not_judged_;
};

}  // namespace us::sanitizer

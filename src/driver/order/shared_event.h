// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "base/types.h"

namespace us::driver {

// The state of an event that processes share: how often it was recorded, and how many of those are complete.
class SharedEvent {
 public:
  static std::shared_ptr<SharedEvent> make();           // nullptr: no memory
  static std::shared_ptr<SharedEvent> open(int owned);  // nullptr: the descriptor is none of ours
  ~SharedEvent();
  SharedEvent(const SharedEvent&) = delete;
  SharedEvent& operator=(const SharedEvent&) = delete;

  u64 record();  // the number of this record
  void complete(u64 number);
  u64 recorded() const;
  bool complete_up_to(u64 number) const;
  void wait(u64 number) const;
  int descriptor() const { return fd_; }

  static constexpr u64 kMagic = 0x7665645f79647473, kBytes = 4096;  // of the file that holds it

 private:
  struct State;
  SharedEvent(int fd, State* s) : fd_(fd), state_(s) {}
  static std::shared_ptr<SharedEvent> map(int fd);
  int fd_;
  State* state_;
};

}  // namespace us::driver

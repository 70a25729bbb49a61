// SPDX-License-Identifier: Apache-2.0
// Appends records to a file that is mapped into this process: whatever ends the process, what was written is there.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "trace/record.h"

namespace us::trace {

u64 now_ns();  // steady clock

class Recorder {
 public:
  using CurrentCall = u64 (*)();  // id of the call that this thread is in; 0: none
  // Null if the file cannot be made; errno tells why.
  static std::unique_ptr<Recorder> open(const std::string& directory, CurrentCall);
  ~Recorder();
  // In a child that was forked: from now on into a file of its own. What the parent recorded stays the parent's.
  void move_to_child(const std::string& directory);
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  u32 name(std::string_view);  // the same number for the same text
  u64 next_id() { return ids_.fetch_add(1, std::memory_order_relaxed); }
  u64 current_call() const { return current_call_(); }
  template <class Record>
  void write(const Record& r, Kind kind) {
    write_bytes(&r, sizeof r, kind);
  }

 private:
  struct Header;
  Recorder(int file, void* at, CurrentCall);
  void write_bytes(const void*, u32 bytes, Kind);
  bool grow(u64 needed);
  void begin_file();

  int file_;
  u8* const at_;
  Header* const header_;
  const CurrentCall current_call_;
  std::atomic<u64> ids_{1};
  std::mutex m_;  // guards names_
  std::unordered_map<std::string, u32> names_;
};

// A piece of work under way: made when it is submitted, written when it ends.
class Span {
 public:
  Span(Recorder& r, Work w) : recorder_(r), work_(w) { work_.call = r.current_call(); }
  Span(Recorder& r, Graph g) : recorder_(r), graph_(g), is_graph_(true) { graph_.call = r.current_call(); }
  Work& work() { return work_; }
  void begin() {
    if (!is_graph_ || !begin_) begin_ = now_ns();  // a graph begins with its first node
  }
  void end();

 private:
  Recorder& recorder_;
  Work work_;
  Graph graph_;
  bool is_graph_ = false;
  u64 begin_ = 0;
};

}  // namespace us::trace

// SPDX-License-Identifier: Apache-2.0
#include "trace/recorder.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trace/reading.h"

namespace us::trace {
namespace {

constexpr u64 kReserve = u64(16) << 30;  // of addresses; the file takes what is written
constexpr u64 kStep = 1 << 20;           // by which the file grows

u32 thread_number() {
  static thread_local const u32 number = static_cast<u32>(::syscall(SYS_gettid));
  return number;
}

// The file of this process, mapped; where `at` says, if it does. nullptr: errno tells why there is none.
void* map_file(const std::string& directory, void* at, int& file) {
  const std::string path = fmt::format("{}/{}.events", directory, ::getpid());
  file = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return nullptr;
  const int fixed = at ? MAP_FIXED : 0;
  const bool room = ::posix_fallocate(file, 0, kStep) == 0;
  if (room) at = ::mmap(at, kReserve, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | fixed, file, 0);
  if (room && at != MAP_FAILED) return at;
  ::close(std::exchange(file, -1));
  return nullptr;
}

}  // namespace

u64 now_ns() {
  return static_cast<u64>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

struct Recorder::Header : FileHeader {};

std::unique_ptr<Recorder> Recorder::open(const std::string& directory, CurrentCall current) {
  int file = -1;
  void* const at = map_file(directory, nullptr, file);
  return at ? std::unique_ptr<Recorder>(new Recorder(file, at, current)) : nullptr;
}

Recorder::Recorder(int file, void* at, CurrentCall current)
    : file_(file), at_(static_cast<u8*>(at)), header_(static_cast<Header*>(at)), current_call_(current) {
  begin_file();
}

void Recorder::begin_file() {
  header_->process = static_cast<u32>(::getpid());
  header_->next = sizeof(FileHeader);
  header_->available = kStep;
  header_->magic = kMagic;
}

// A thread of the parent may have held the lock. Where no file can be made the records go nowhere.
void Recorder::move_to_child(const std::string& directory) {
  new (&m_) std::mutex;
  names_.clear();
  ::close(file_);
  if (!map_file(directory, at_, file_))
    ::mmap(at_, kReserve, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  begin_file();
}

Recorder::~Recorder() {
  ::munmap(at_, kReserve);
  ::close(file_);
}

// Pages are claimed before they are touched: a full disk drops records instead of ending the program.
bool Recorder::grow(u64 needed) {
  std::lock_guard l(m_);
  const u64 have = std::atomic_ref(header_->available).load();
  if (needed <= have) return true;
  const u64 size = (needed + kStep - 1) / kStep * kStep;
  if (size > kReserve || ::posix_fallocate(file_, 0, static_cast<off_t>(size)) != 0) return false;
  std::atomic_ref(header_->available).store(size);
  return true;
}

void Recorder::write_bytes(const void* record, u32 bytes, Kind kind) {
  const u64 at = std::atomic_ref(header_->next).fetch_add(bytes);
  if (at + bytes > std::atomic_ref(header_->available).load() && !grow(at + bytes)) {
    std::atomic_ref(header_->dropped).fetch_add(1);
    return;
  }
  Head* const to = reinterpret_cast<Head*>(at_ + at);
  std::atomic_ref(to->size).store(static_cast<u16>(bytes), std::memory_order_release);
  std::memcpy(to + 1, static_cast<const Head*>(record) + 1, bytes - sizeof(Head));
  to->thread = thread_number();
  std::atomic_ref(to->kind).store(kind, std::memory_order_release);
}

u32 Recorder::name(std::string_view text) {
  text = text.substr(0, kLongestName);
  u32 id = 0;
  {
    std::lock_guard l(m_);
    const auto [it, fresh] = names_.try_emplace(std::string(text), static_cast<u32>(names_.size() + 1));
    if (!fresh) return it->second;
    id = it->second;
  }
  std::vector<u8> bytes((sizeof(Name) + text.size() + 7) / 8 * 8);
  Name n;
  n.id = id;
  n.length = static_cast<u32>(text.size());
  std::memcpy(bytes.data(), &n, sizeof n);
  std::memcpy(bytes.data() + sizeof n, text.data(), text.size());
  write_bytes(bytes.data(), static_cast<u32>(bytes.size()), Kind::Name);
  return id;
}

void Span::end() {
  const u64 now = now_ns();
  if (is_graph_) {
    graph_.begin = begin_ ? begin_ : now;
    graph_.end = now;
    recorder_.write(graph_, Kind::Graph);
    return;
  }
  work_.begin = begin_ ? begin_ : now;
  work_.end = now;
  recorder_.write(work_, Kind::Work);
}

}  // namespace us::trace

// SPDX-License-Identifier: Apache-2.0
#include "driver/order/shared_event.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <ctime>

namespace us::driver {

struct SharedEvent::State {
  u64 magic;
  std::atomic<u64> recorded, completed;
  std::atomic<u32> changes;  // what waiters sleep on
};

namespace {
void wake_all(std::atomic<u32>& word) {
  syscall(SYS_futex, reinterpret_cast<u32*>(&word), FUTEX_WAKE, 0x7fffffff, nullptr, nullptr, 0);
}
void sleep_on(std::atomic<u32>& word, u32 seen) {
  const timespec limit{0, 50'000'000};  // the other process may have died between its store and its wake-up
  syscall(SYS_futex, reinterpret_cast<u32*>(&word), FUTEX_WAIT, seen, &limit, nullptr, 0);
}
}  // namespace

std::shared_ptr<SharedEvent> SharedEvent::map(int fd) {
  void* at = fd < 0 ? MAP_FAILED : mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) {
    if (fd >= 0) ::close(fd);
    return nullptr;
  }
  return std::shared_ptr<SharedEvent>(new SharedEvent(fd, static_cast<State*>(at)));
}

std::shared_ptr<SharedEvent> SharedEvent::make() {
  const int fd = memfd_create("understudy-event", MFD_CLOEXEC);
  if (fd >= 0 && ftruncate(fd, kBytes) != 0) return ::close(fd), nullptr;
  auto e = map(fd);
  if (e) e->state_->magic = kMagic;
  return e;
}

std::shared_ptr<SharedEvent> SharedEvent::open(int owned) {
  auto e = map(owned);
  return e && e->state_->magic == kMagic ? e : nullptr;
}

SharedEvent::~SharedEvent() {
  munmap(state_, kBytes);
  ::close(fd_);
}

u64 SharedEvent::record() { return state_->recorded.fetch_add(1) + 1; }
u64 SharedEvent::recorded() const { return state_->recorded.load(); }
bool SharedEvent::complete_up_to(u64 number) const { return state_->completed.load() >= number; }

void SharedEvent::complete(u64 number) {
  u64 now = state_->completed.load();
  while (now < number && !state_->completed.compare_exchange_weak(now, number)) {
  }
  state_->changes.fetch_add(1);
  wake_all(state_->changes);
}

void SharedEvent::wait(u64 number) const {
  while (true) {
    const u32 seen = state_->changes.load();
    if (complete_up_to(number)) return;
    sleep_on(state_->changes, seen);
  }
}

}  // namespace us::driver

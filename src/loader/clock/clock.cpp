// SPDX-License-Identifier: Apache-2.0
// Loaded before the program's libraries by `understudy profile --virtual-host-clock`: the host's clocks go on from
// where they were when the program first used CUDA, by what libcuda says. Clocks of processor time are as they are.
#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>

#define US_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using Clock = unsigned long long (*)();  // ns; ~0: the host's
constexpr clockid_t kClocks = 12;
constexpr long long kSecond = 1'000'000'000;

Clock clock_of_program = nullptr;
long long bases[kClocks];  // what each clock was then

using Get = int (*)(clockid_t, timespec*);
int get(clockid_t id, timespec* t) {
  static Get real = nullptr;
  if (!real) real = reinterpret_cast<Get>(dlsym(RTLD_NEXT, "clock_gettime"));
  return real(id, t);
}

bool told(clockid_t id, timespec* t) {
  const Clock c = __atomic_load_n(&clock_of_program, __ATOMIC_ACQUIRE);
  if (!c || id < 0 || id >= kClocks || id == CLOCK_PROCESS_CPUTIME_ID || id == CLOCK_THREAD_CPUTIME_ID) return false;
  const unsigned long long passed = c();
  if (passed == ~0ull) return false;
  const long long now = bases[id] + static_cast<long long>(passed);
  t->tv_sec = now / kSecond, t->tv_nsec = now % kSecond;
  return true;
}

}  // namespace

US_EXPORT void understudy_set_clock(Clock c) {
  for (clockid_t id = 0; c && id < kClocks; ++id) {
    timespec t{};
    if (get(id, &t) == 0) bases[id] = t.tv_sec * kSecond + t.tv_nsec;
  }
  __atomic_store_n(&clock_of_program, c, __ATOMIC_RELEASE);
}

US_EXPORT int clock_gettime(clockid_t id, timespec* t) noexcept { return told(id, t) ? 0 : get(id, t); }

US_EXPORT int gettimeofday(timeval* __restrict t, void* __restrict zone) noexcept {
  timespec now{};
  if (!told(CLOCK_REALTIME, &now)) get(CLOCK_REALTIME, &now);
  t->tv_sec = now.tv_sec, t->tv_usec = now.tv_nsec / 1000;
  if (zone) *static_cast<struct timezone*>(zone) = {};
  return 0;
}

US_EXPORT int timespec_get(timespec* t, int base) noexcept {
  if (base != TIME_UTC) return 0;
  clock_gettime(CLOCK_REALTIME, t);
  return base;
}

US_EXPORT time_t time(time_t* t) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (t) *t = now.tv_sec;
  return now.tv_sec;
}

// SPDX-License-Identifier: Apache-2.0
// Arguments for any entry point, made from the types of its parameters: handles that some call returned, valid or long
// destroyed, numbers at the edges, structures full of them, memory for results.
#pragma once
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstring>
#include <map>
#include <string>
#include <type_traits>
#include <typeindex>
#include <vector>

#include "random.h"

namespace fuzz {

using us::u32;
using us::u64;
using us::u8;

enum class Pointers { Any, Host, Small };

constexpr std::size_t kMiB = 1 << 20, kHostBytes = 8 * kMiB, kSlotBytes = 4096, kSlots = 16;

template <class T>
concept Complete = requires {
  sizeof(T);
};

class World {
 public:
  explicit World(u64 seed) : r(seed), host_(kHostBytes), slots_(kSlotBytes * kSlots) {}
  Random r;

  // Where a call may write results of up to kSlotBytes, filled with numbers.
  void* slot() {
    u8* s = slots_.data() + kSlotBytes * (next_slot_++ % kSlots);
    u32* words = reinterpret_cast<u32*>(s);
    const bool quiet = r.chance(30);
    for (u32 k = 0; k < kSlotBytes / 4; ++k) words[k] = k >= 64 || quiet ? 0 : field();
    return s;
  }
  u8* host() { return host_.data(); }

  // Number of any integral type.
  u64 number(bool small) {
    static constexpr u64 at_edges[] = {
        0,          1,          2,          3,          4,           5,     7,     8,      16,         31,
        32,         64,         100,        128,        255,         256,   512,   1024,   1025,       4096,
        65535,      65536,      262144,     kMiB - 1,   kMiB,        ~0ull, ~1ull, ~99ull, 1ull << 31, (1ull << 31) - 1,
        0xffffffff, 1ull << 32, 1ull << 40, 1ull << 63, ~0ull - 4095};
    if (small) return r.below(9);
    return r.chance(55) ? r.below(9) : at_edges[r.below(sizeof at_edges / sizeof at_edges[0])];
  }
  u32 field() { return static_cast<u32>(r.chance(70) ? r.below(5) : number(false)); }

  // Handles and addresses, by type. They stay after they were destroyed.
  template <class T>
  void remember(T handle) {
    auto& pool = pools_[typeid(T)];
    const u64 v = to_word(handle);
    if (!v) return;
    if (pool.size() < 24)
      pool.push_back(v);
    else
      pool[r.below(24)] = v;
  }
  template <class T>
  T handle() {
    auto& pool = pools_[typeid(T)];
    if (pool.empty() || r.chance(10)) return from_word<T>(0);
    return from_word<T>(pool[r.below(static_cast<u32>(pool.size()))]);
  }
  template <class T>
  std::vector<u64>& pool() {
    return pools_[typeid(T)];
  }
  void forget() { pools_.clear(); }

  template <class T>
  static u64 to_word(T v) {
    if constexpr (std::is_pointer_v<T>)
      return reinterpret_cast<u64>(v);
    else
      return static_cast<u64>(v);
  }
  template <class T>
  static T from_word(u64 v) {
    if constexpr (std::is_pointer_v<T>)
      return reinterpret_cast<T>(v);
    else
      return static_cast<T>(v);
  }

 private:
  std::map<std::type_index, std::vector<u64>> pools_;
  std::vector<u8> host_, slots_;
  u32 next_slot_ = 0;
};

// A function pointer's callee: does nothing.
template <class R, class... A>
auto nothing(R (*)(A...)) {
  return static_cast<R (*)(A...)>([](A...) { return R(); });
}

const char* some_name(World&);
void* some_pointer(World&, Pointers);

template <class T>
T make(World& w, Pointers kind) {
  using Plain = std::remove_const_t<T>;
  if constexpr (std::is_enum_v<Plain> || std::is_integral_v<Plain>) {
    if constexpr (sizeof(Plain) == 8)  // sizes, and device addresses and objects of the driver API
      if (kind != Pointers::Small && w.r.chance(std::is_same_v<Plain, unsigned long long> ? 70 : 5))
        return static_cast<Plain>(w.handle<unsigned long long>() + (w.r.chance(20) ? w.number(true) : 0));
    return static_cast<Plain>(w.number(kind == Pointers::Small));
  } else if constexpr (std::is_floating_point_v<Plain>) {
    return static_cast<Plain>(w.r.below(5));
  } else if constexpr (std::is_pointer_v<Plain>) {
    using To = std::remove_pointer_t<Plain>;
    using Bare = std::remove_const_t<To>;
    if constexpr (std::is_function_v<To>) {
      return w.r.chance(10) ? nullptr : nothing(static_cast<Plain>(nullptr));
    } else if constexpr (std::is_void_v<To>) {
      return some_pointer(w, kind);
    } else if constexpr (std::is_same_v<To, const char>) {
      return some_name(w);
    } else if constexpr (Complete<Bare>) {
      return w.r.chance(10) ? nullptr : static_cast<Plain>(w.slot());
    } else {
      return w.handle<Plain>();
    }
  } else {  // a structure
    Plain v;
    std::memcpy(&v, w.slot(), sizeof v);
    return v;
  }
}

// What came back becomes an argument of later calls.
template <class T>
void harvest(World& w, T argument) {
  if constexpr (std::is_pointer_v<T>) {
    using To = std::remove_pointer_t<T>;
    if constexpr (!std::is_const_v<To> && Complete<To>) {
      if (!argument) return;
      if constexpr (std::is_pointer_v<To>) {
        if constexpr (!std::is_same_v<To, const char*> && !std::is_function_v<std::remove_pointer_t<To>>)
          w.remember(*argument);
      } else if constexpr (std::is_same_v<To, unsigned long long>) {
        w.remember(*argument);
      }
    }
  }
}

}  // namespace fuzz

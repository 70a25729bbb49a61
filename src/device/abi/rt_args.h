// SPDX-License-Identifier: Apache-2.0
// Arguments and results of the runtime functions by name: each row of rt_functions.inc is a struct of arguments, XArgs,
// and one of results, XResults, whose fields have 32 lanes.
//
//   US_RT(CpBulkWait, (n, read), (), "")    struct CpBulkWaitArgs { PerLane n; PerLane read; };
//                                           struct CpBulkWaitResults {};
#pragma once
#include <type_traits>

#include "device/abi/abi.h"

namespace us::device {

inline constexpr u32 kMaxRtArgs = 24, kMaxRtResults = 8;  // of one runtime function

struct PerLane {
  u64 lane[kWarpSize];
  u64 operator[](u32 l) const { return lane[l]; }
  u64& operator[](u32 l) { return lane[l]; }
};

// US_RT_FIELDS(a, b[2]) is `PerLane a; PerLane b[2];`.
#define US_RT_NOW(...) US_RT_NOW3(US_RT_NOW3(US_RT_NOW3(__VA_ARGS__)))
#define US_RT_NOW3(...) US_RT_NOW9(US_RT_NOW9(US_RT_NOW9(__VA_ARGS__)))
#define US_RT_NOW9(...) __VA_ARGS__
#define US_RT_PARENTHESES ()
#define US_RT_FIELDS(...) __VA_OPT__(US_RT_NOW(US_RT_FIELD(__VA_ARGS__)))
#define US_RT_FIELD(name, ...) \
  PerLane name;                \
  __VA_OPT__(US_RT_FIELD_AGAIN US_RT_PARENTHESES(__VA_ARGS__))
#define US_RT_FIELD_AGAIN() US_RT_FIELD
#define US_RT(id, arguments, outcomes, note) \
  struct id##Args {                          \
    US_RT_FIELDS arguments                   \
  };                                         \
  struct id##Results {                       \
    US_RT_FIELDS outcomes                    \
  };
#define US_RT_MANY US_RT
#include "device/abi/rt_functions.inc"
#undef US_RT_MANY
#undef US_RT
#undef US_RT_FIELDS
#undef US_RT_FIELD
#undef US_RT_FIELD_AGAIN
#undef US_RT_PARENTHESES
#undef US_RT_NOW
#undef US_RT_NOW3
#undef US_RT_NOW9

// How many rows of 32 lanes a call passes and gets.
struct RtShape {
  u32 args, results;
  bool many;  // or fewer arguments
};
template <class T>
constexpr u32 kRowsOf = std::is_empty_v<T> ? 0 : sizeof(T) / sizeof(PerLane);

constexpr RtShape shape_of(RtFn fn) {
  constexpr RtShape shapes[] = {
#define US_RT(id, arguments, outcomes, note) {kRowsOf<id##Args>, kRowsOf<id##Results>, false},
#define US_RT_MANY(id, arguments, outcomes, note) {kRowsOf<id##Args>, kRowsOf<id##Results>, true},
#include "device/abi/rt_functions.inc"
#undef US_RT_MANY
#undef US_RT
  };
  return shapes[static_cast<u32>(fn)];
}
// May a call of this function pass that many arguments, and ask for that many results (the first ones)?
constexpr bool takes(RtFn fn, std::size_t args) {
  const RtShape s = shape_of(fn);
  return s.many ? args >= 1 && args <= s.args : args == s.args;
}
constexpr bool gives(RtFn fn, std::size_t results) { return results <= shape_of(fn).results; }

}  // namespace us::device

// SPDX-License-Identifier: Apache-2.0
// Short integer names, the two blames (user error, internal check) and Result.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace us {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i8 = std::int8_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

inline constexpr u32 kWarpSize = 32;
inline constexpr u32 kFullMask = 0xffffffffu;

// Where something stands in a PTX text (file == 0) or in CUDA source (file = .file index). Lines count from 1.
struct SrcLoc {
  u32 file = 0, line = 0, col = 0;
  u32 inlined = 0;  // index in ir::Module::inlined: the call that brought this line to where it is; 0: none
  bool operator==(const SrcLoc&) const = default;
};

// A message about the user's input: what was found, and what was expected.
struct Diag {
  enum class Kind : u8 { Error, Warning, Note };
  Kind kind = Kind::Error;
  SrcLoc loc;
  std::string message;
};

// Either a value or the diagnostics that say why there is none.
template <class T>
class Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Diag d) { diags_.push_back(std::move(d)); }
  Result(std::vector<Diag> d) : diags_(std::move(d)) {}
  explicit operator bool() const { return value_.has_value(); }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }
  const std::vector<Diag>& diags() const { return diags_; }

 private:
  std::optional<T> value_;
  std::vector<Diag> diags_;
};

// Our own bug: says where, then aborts. Never for anything a user or a guest program can cause.
[[noreturn]] inline void internal_error(const char* file, int line, const char* what) {
  std::fprintf(stderr, "understudy: internal error at %s:%d: %s\n", file, line, what);
  std::abort();
}
#define US_CHECK(cond)                                            \
  do {                                                            \
    if (!(cond)) ::us::internal_error(__FILE__, __LINE__, #cond); \
  } while (0)
#define US_UNREACHABLE() ::us::internal_error(__FILE__, __LINE__, "unreachable")

}  // namespace us

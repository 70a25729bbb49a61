// SPDX-License-Identifier: Apache-2.0
// Records of numbers and texts in a file: a length, a kind, and what its writer put in. A record that was cut off ends
// the reading, and a reader that asks for more than there is gets zeros and empty texts.
#pragma once
#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "base/types.h"

namespace us {

class PackedRecord {
 public:
  explicit PackedRecord(u8 kind) { bytes_.push_back(static_cast<char>(kind)); }
  PackedRecord& number(u64 v) {
    for (; v >= 128; v >>= 7) bytes_.push_back(static_cast<char>(v | 128));
    bytes_.push_back(static_cast<char>(v));
    return *this;
  }
  PackedRecord& text(std::string_view t) {
    number(t.size());
    bytes_ += t;
    return *this;
  }
  std::string record() const {
    const u32 n = static_cast<u32>(bytes_.size());
    std::string out(sizeof n, 0);
    std::memcpy(out.data(), &n, sizeof n);
    return out + bytes_;
  }

 private:
  std::string bytes_;
};

class PackedReader {
 public:
  explicit PackedReader(std::string_view bytes) : rest_(bytes) {}
  u64 number() {
    u64 v = 0;
    for (u32 shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const u8 c = static_cast<u8>(rest_.front());
      rest_.remove_prefix(1);
      v |= u64{c & 127u} << shift;
      if (c < 128) break;
    }
    return v;
  }
  std::string text() {
    const u64 n = std::min<u64>(number(), rest_.size());
    std::string t(rest_.substr(0, n));
    rest_.remove_prefix(n);
    return t;
  }
  u64 count() { return std::min<u64>(number(), rest_.size()); }  // of things that take a byte at least

 private:
  std::string_view rest_;
};

// f(kind, reader) for each record.
template <class F>
void for_each_record(std::string_view bytes, F&& f) {
  u32 size = 0;
  while (bytes.size() > sizeof size) {
    std::memcpy(&size, bytes.data(), sizeof size);
    bytes.remove_prefix(sizeof size);
    if (size == 0 || size > bytes.size()) break;
    PackedReader in(bytes.substr(1, size - 1));
    f(static_cast<u8>(bytes.front()), in);
    bytes.remove_prefix(size);
  }
}

}  // namespace us

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>

namespace us::loader {

// Code that may be written to while this object lives, and is code again afterwards. Its pages belong to this process
// alone from then on: neither the file nor other processes see what is written.
class WritableCode {
 public:
  WritableCode(unsigned char* code, size_t bytes, int protection);  // what the pages have, and get back
  ~WritableCode();
  WritableCode(const WritableCode&) = delete;
  WritableCode& operator=(const WritableCode&) = delete;
  explicit operator bool() const { return begin_ != nullptr; }

 private:
  unsigned char* begin_ = nullptr;  // null: it was not possible, and nothing has changed
  size_t bytes_ = 0;
  int protection_ = 0;
};

}  // namespace us::loader

// SPDX-License-Identifier: Apache-2.0
// The buffers that a program gives in the options of cuModuleLoadDataEx and cuLinkCreate for the text of messages.
#pragma once
#include <cuda.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace us::cuda {

class ErrorLog {
 public:
  ErrorLog() = default;
  ErrorLog(unsigned count, const CUjit_option* options, void** values) {
    for (unsigned i = 0; i < count; ++i) {
      if (options[i] == CU_JIT_ERROR_LOG_BUFFER) buffer_ = static_cast<char*>(values[i]);
      if (options[i] == CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES) values[i] = nullptr;  // there is never any information
      if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) {
        used_ = &values[i];
        bytes_ = static_cast<unsigned>(reinterpret_cast<size_t>(values[i]));
      }
    }
  }
  void write(const std::string& text) {
    const size_t n = buffer_ && bytes_ ? std::min(bytes_ - 1, text.size()) : 0;
    if (buffer_ && bytes_) {
      std::memcpy(buffer_, text.data(), n);
      buffer_[n] = 0;
    }
    if (used_) *used_ = reinterpret_cast<void*>(n);
  }

 private:
  char* buffer_ = nullptr;
  size_t bytes_ = 0;
  void** used_ = nullptr;
};

}  // namespace us::cuda

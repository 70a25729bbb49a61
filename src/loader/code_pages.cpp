// SPDX-License-Identifier: Apache-2.0
#include "loader/code_pages.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

namespace us::loader {
namespace {

// Where pages of a file must not become writable (a policy of the system, say) a copy takes their place.
bool replace_by_copy(unsigned char* begin, size_t bytes) {
  void* const copy = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (copy == MAP_FAILED) return false;
  memcpy(copy, begin, bytes);
  if (mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, begin) != MAP_FAILED) return true;
  munmap(copy, bytes);
  return false;
}

}  // namespace

WritableCode::WritableCode(unsigned char* code, size_t bytes, int protection) : protection_(protection) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t at = reinterpret_cast<uintptr_t>(code);
  const uintptr_t begin = at & ~(page - 1), end = (at + bytes + page - 1) & ~(page - 1);
  auto* const first = reinterpret_cast<unsigned char*>(begin);
  bytes_ = end - begin;
  const bool open = mprotect(first, bytes_, PROT_READ | PROT_WRITE) == 0;
  if (open || (errno == EACCES && replace_by_copy(first, bytes_))) begin_ = first;
}

WritableCode::~WritableCode() {
  if (begin_) mprotect(begin_, bytes_, protection_);
}

}  // namespace us::loader

// SPDX-License-Identifier: Apache-2.0
// Compiled once for each library: US_STUB_TABLE is its table, US_STUB_NAME what it is called, US_STUB_CODE its code for
// NOT_SUPPORTED.
#include "cuda/stubs/stubs.h"

#include <cstdio>

#ifndef US_STUB_HAS
#define US_STUB_HAS "the names only"
#endif

namespace us::stubs {

namespace {
thread_local int last_failure = 0;
}

int fail(int code) { return last_failure = code; }
int take_failure() {
  const int code = last_failure;
  last_failure = 0;
  return code;
}

int refuse(bool& said, const char* function) {
  if (!__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
    std::fprintf(stderr,
                 "understudy: %s is refused: of " US_STUB_NAME " Understudy has " US_STUB_HAS
                 " (docs/clients.md says what a program can do without it)\n",
                 function);
  return fail(US_STUB_CODE);
}

}  // namespace us::stubs

#define US_OWN(name)
#define US_STOCK(name)
#define US_STUB(name)                      \
  US_STUB_API int name() {                 \
    static bool said = false;              \
    return us::stubs::refuse(said, #name); \
  }
#include US_STUB_TABLE

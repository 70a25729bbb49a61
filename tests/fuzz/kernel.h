// SPDX-License-Identifier: Apache-2.0
// Random kernels made from the instruction table. A kernel is a tree of statements, so that a failing one can be shrunk
// by leaving statements out; what is left is always valid.
//
//   parameters     p0 input words, p1 columns of results, a word per thread, p2 words for atomics,
//                  p3 a row of scratch per thread
//   registers      %r0-11 %q0-7 %h0-7 %p0-5 hold data; those that a kernel names are stored at the end
//   size           nearly always one or two statements, one in 200 like a small function: time goes into compiling
//   control flow   branches on any predicate; loops with a count of 0 to 7, the same for all or of each thread
//   warp and CTA   collectives and barriers only where all threads come along
#pragma once
#include <string>
#include <vector>

#include "random.h"

namespace fuzz {

struct Statement {
  std::vector<std::string> head, tail;  // lines before and after the body
  std::vector<Statement> body;
};
struct Kernel {
  std::vector<Statement> statements, function;  // `function`: the body of the device function that it calls
};

constexpr us::u32 kThreads = 96, kBlocks = 2;  // a full and a half-empty variant differ in the last warp
constexpr us::u32 kInputWords = 4096, kColumns = 37, kAtomicWords = 64;

Kernel make_kernel(us::u64 seed);
std::string text_of(const std::vector<Kernel>&);  // one module, entries k0, k1, ...

// All ways to leave something out, biggest pieces first: calls keep(candidate) until it says no more.
template <class F>
void shrink(Kernel& k, F&& still_fails);

namespace detail {
// Tries to drop each statement of the list, or to put its body in its place.
template <class F>
bool shrink_list(Kernel& whole, std::vector<Statement>& list, F&& still_fails) {
  bool any = false;
  for (std::size_t i = list.size(); i-- > 0;) {
    const std::vector<Statement> before = list;
    list.erase(list.begin() + static_cast<long>(i));
    if (still_fails(whole)) {
      any = true;
      continue;
    }
    list = before;
    if (list[i].body.empty()) continue;
    const std::vector<Statement> body = list[i].body;
    list.erase(list.begin() + static_cast<long>(i));
    list.insert(list.begin() + static_cast<long>(i), body.begin(), body.end());
    if (still_fails(whole)) {
      any = true;
      continue;
    }
    list = before;
    any = shrink_list(whole, list[i].body, still_fails) || any;
  }
  return any;
}
}  // namespace detail

template <class F>
void shrink(Kernel& k, F&& still_fails) {
  for (int round = 0; round < 8; ++round) {
    const bool a = detail::shrink_list(k, k.statements, still_fails);
    const bool b = detail::shrink_list(k, k.function, still_fails);
    if (!a && !b) return;
  }
}

}  // namespace fuzz

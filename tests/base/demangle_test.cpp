// SPDX-License-Identifier: Apache-2.0
#include "base/demangle.h"

#include <gtest/gtest.h>

namespace us {
namespace {

TEST(Demangle, NamesThatAreNotMangledStay) {
  EXPECT_EQ(demangled("_Z3addPfi"), "add(float*, int)");
  EXPECT_EQ(demangled("add"), "add");
  EXPECT_EQ(demangled("a"), "a");
}

TEST(Demangle, AFunctionHasANameWithoutWhatItReturnsAndTakes) {
  for (const auto& [text, name] :
       {std::pair("add(float*, int)", "add"),
        {"plain_c", "plain_c"},
        {"void half<int>(int*)", "half<int>"},
        {"void a::b<std::pair<int, char>, 3>(int (*)(float))", "a::b<std::pair<int, char>, 3>"},
        {"(anonymous namespace)::f(int)", "(anonymous namespace)::f"},
        {"void (anonymous namespace)::f<(int)1>(int)", "(anonymous namespace)::f<(int)1>"},
        {"void f<a (*)(int)>(int)", "f<a (*)(int)>"},
        {"", ""}})
    EXPECT_EQ(function_name(text), name) << text;
}

}  // namespace
}  // namespace us

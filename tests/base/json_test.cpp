// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <gtest/gtest.h>

namespace us {
namespace {

TEST(Json, NestsObjectsAndArrays) {
  JsonWriter j;
  j.object().field("a", 1).key("b").array().value("x").value(true).object().end().end().field("c", 0.5).end();
  EXPECT_EQ(j.text(), "{\n  \"a\": 1,\n  \"b\": [\n    \"x\",\n    true,\n    {}\n  ],\n  \"c\": 0.5\n}\n");
}

TEST(Json, EscapesWhatTheFormatForbids) {
  JsonWriter j;
  j.value("a\"b\\c\n\x01");
  EXPECT_EQ(j.text(), "\"a\\\"b\\\\c\\u000a\\u0001\"");
}

TEST(Json, NumbersThatJsonLacksBecomeNull) {
  JsonWriter j;
  j.value(1.0 / 0.0);
  EXPECT_EQ(j.text(), "null");
}

}  // namespace
}  // namespace us

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "ptx/ptx.h"

namespace us::ptx {
namespace {

constexpr const char* kHead = ".version 9.0\n.target sm_90\n.address_size 64\n";

std::unique_ptr<ir::Module> module(const std::string& body) {
  auto r = parse(kHead + body, "m");
  for (const Diag& d : r.diags()) ADD_FAILURE() << d.loc.line << ": " << d.message;
  return r ? std::move(*r) : nullptr;
}

Result<std::unique_ptr<ir::Module>> link_texts(const std::vector<std::string>& bodies) {
  std::vector<std::unique_ptr<ir::Module>> v;
  for (const std::string& b : bodies) v.push_back(module(b));
  return link(std::move(v), "linked");
}

const char* kUse = R"(
.extern .func (.param .b32 r) helper(.param .b32 a);
.extern .global .align 4 .u32 shared_var;
.extern .shared .align 16 .b8 dyn[];
.global .u32 hidden = 1;
.visible .entry k() {
  .local .b32 l;
  .shared .b32 s;
  .reg .b32 %r<4>; .reg .b64 %d;
  ld.global.u32 %r1, [shared_var];
  ld.global.u32 %r2, [hidden];
  mov.u32 %r2, dyn;
  mov.u32 %r2, s;
  { .param .b32 a; .param .b32 r; st.param.b32 [a], %r1; call (r), helper, (a); ld.param.b32 %r3, [r]; }
  ret;
})";
const char* kDefine = R"(
.visible .global .align 4 .u32 shared_var = 42;
.global .u32 hidden = 2;
.global .u64 address = helper;
.extern .shared .align 64 .b8 dyn[];
.visible .func (.param .b32 r) helper(.param .b32 a) {
  .local .b8 l[20];
  .shared .b32 in_helper;
  .reg .b32 %r<3>;
  mov.u32 %r1, dyn;
  mov.u32 %r1, in_helper;
  ld.param.b32 %r1, [a];
  st.param.b32 [r], %r1;
  ret;
})";

TEST(Link, ResolvesBothWays) {
  for (const bool define_first : {false, true}) {
    const auto r = define_first ? link_texts({kDefine, kUse}) : link_texts({kUse, kDefine});
    ASSERT_TRUE(r);
    ir::Module& m = **r;
    const ir::Symbol* v = m.find_symbol("shared_var");
    ASSERT_NE(v, nullptr);
    EXPECT_EQ(v->linkage, ir::Symbol::Linkage::Visible);
    ASSERT_EQ(v->init.size(), 4u);
    EXPECT_EQ(v->init[0], 42);
    ir::Function* helper = m.find("helper");
    ASSERT_NE(helper, nullptr);
    EXPECT_TRUE(helper->defined);
    EXPECT_EQ(helper->local_bytes, 20u);
    ir::Function* k = m.find("k");
    ASSERT_NE(k, nullptr);
    EXPECT_EQ(k->local_bytes, 4u);
    int calls = 0;
    for (const auto& b : k->blocks)
      for (const auto& i : b.insts)
        for (const auto& c : i.call) {
          ++calls;
          EXPECT_EQ(m.symbols[c.callee.v].func.v, static_cast<u32>(helper - m.functions.data()));
        }
    EXPECT_EQ(calls, 1);
    for (const ir::Symbol& s : m.symbols)
      if (s.kind == ir::Symbol::Kind::Variable && s.func.valid()) {
        EXPECT_LT(s.func.v, m.functions.size());
      }
    // Static variables of the kernel and of what it calls, then the dynamic ones at the larger alignment.
    EXPECT_EQ(m.find_symbol("dyn")->align, 64u);
    EXPECT_EQ(m.find_symbol("dyn")->offset % 64, 0u);
    EXPECT_GE(m.find_symbol("dyn")->offset, kSharedBase + 8);
    EXPECT_NE(m.find_symbol("hidden$2"), nullptr);
  }
}

TEST(Link, WeakAndCommonMerge) {
  const std::string weak =
      ".weak .func w() { .local .b32 x; ret; }\n.weak .global .u32 g = 1;\n.common .global .u32 c;\n";
  const auto r = link_texts({weak + ".visible .entry a() { call w; ret; }",
                             weak + ".visible .entry b() { call w; ret; }", ".common .global .u64 c;"});
  ASSERT_TRUE(r);
  int w = 0;
  for (const ir::Function& f : (*r)->functions) w += f.name == "w" && f.defined;
  EXPECT_EQ(w, 1);
  EXPECT_EQ((*r)->find("w")->local_bytes, 4u);
  EXPECT_EQ((*r)->find_symbol("c")->size, 8u);
}

TEST(Link, StrongReplacesWeak) {
  const std::string weak = ".weak .global .u32 g = 1;", strong = ".visible .global .u32 g = 2;";
  for (const auto& order : {std::vector{weak, strong}, std::vector{strong, weak}}) {
    const auto r = link_texts(order);
    ASSERT_TRUE(r);
    EXPECT_EQ((*r)->find_symbol("g")->init[0], 2);
  }
}

TEST(Link, TwoDefinitionsAreAnError) {
  const std::string body = ".visible .func f() { ret; }\n.visible .global .u32 v;";
  const auto r = link_texts({body, body});
  ASSERT_FALSE(r);
  ASSERT_EQ(r.diags().size(), 2u);
  EXPECT_NE(r.diags()[0].message.find("'f' is defined in two modules"), std::string::npos);
}

TEST(Link, UnresolvedNamesStayExtern) {
  const auto r =
      link_texts({".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);", ".global .u32 x;"});
  ASSERT_TRUE(r);
  EXPECT_FALSE((*r)->find("vprintf")->defined);
}

TEST(Link, InlinedCallsKeepTheirFunctions) {
  const auto body = [](const std::string& kernel, const std::string& function) {
    return ".file 1 \"a.cu\"\n.visible .entry " + kernel +
           "() {\n.loc 1 7 1\n.loc 1 3 1, function_name $f, inlined_at 1 7 1\nret;\n}\n.section .debug_str "
           "{\n$f:\n.b8 " +
           function + ",0\n}\n";
  };
  const auto linked = link_texts({body("k", "97"), body("l", "98")});
  ASSERT_TRUE(linked);
  const ir::Module& m = **linked;
  for (const auto& [kernel, function] : {std::pair{"k", "a"}, std::pair{"l", "b"}}) {
    const ir::Function* f = nullptr;
    for (const ir::Function& x : m.functions)
      if (x.name == kernel) f = &x;
    ASSERT_NE(f, nullptr);
    const SrcLoc at = f->blocks[0].term.loc;
    ASSERT_LT(at.inlined, m.inlined.size());
    EXPECT_EQ(m.inlined[at.inlined].function, function);
    EXPECT_EQ(m.inlined[at.inlined].at.line, 7u);
    EXPECT_EQ(m.inlined[at.inlined].at.file, at.file);
  }
}

// As LLVM writes it (Triton): one statement of the source, on its line 45.
TEST(Lines, StatementsOfInlineAssemblyAreOfOneLine) {
  const auto m = module(R"(
.file 1 "a.py"
.visible .entry k(.param .u64 p) { .reg .b64 a; .reg .b32 r; .reg .pred q;
.loc 1 44 2
ld.param.u64 a, [p];
.loc 1 45 9
// begin inline asm
.loc 1 45 9
mov.u32 r, 0;
.loc 1 46 9
ld.global.b32 r, [a];
// end inline asm
setp.ne.u32 q, r, 0;
.loc 1 48 3
ret; })");
  ASSERT_TRUE(m);
  const ir::Block& block = m->functions[0].blocks[0];
  std::vector<u32> lines;
  for (const ir::Inst& i : block.insts) lines.push_back(i.loc.line);
  EXPECT_EQ(lines, (std::vector<u32>{44, 45, 45, 45}));
  EXPECT_EQ(block.term.loc.line, 48u);
}

TEST(Layout, VariablesOfSeveralKernelsDoNotPushEachOther) {
  const auto m = module(R"(
.shared .align 4 .b8 all[100];
.extern .shared .align 16 .b8 dyn[];
.visible .entry a() { .shared .b8 own[1000]; .reg .b32 r; mov.u32 r, own; mov.u32 r, all; mov.u32 r, dyn; ret; }
.visible .entry b() { .reg .b32 r; mov.u32 r, all; mov.u32 r, dyn; ret; }
.visible .entry c() { .reg .b32 r; mov.u32 r, dyn; ret; }
.visible .entry d() { ret; })");
  ASSERT_TRUE(m);
  EXPECT_EQ(m->find("a")->shared_bytes, 1104u);
  EXPECT_EQ(m->find("b")->shared_bytes, 112u);
  EXPECT_EQ(m->find("c")->shared_bytes, 0u);
  EXPECT_EQ(m->find("d")->shared_bytes, 0u);
  const std::string before = ir::to_text(*m);
  EXPECT_TRUE(assign_layout(*m).empty());
  EXPECT_EQ(ir::to_text(*m), before);
}

}  // namespace
}  // namespace us::ptx

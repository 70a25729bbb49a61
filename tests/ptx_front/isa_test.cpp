// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "isa/isa.h"
#include "isa/operands.h"

namespace us::isa {
namespace {

bool has(const Match& m, Tok t) { return m.toks[static_cast<std::size_t>(t)]; }

TEST(Isa, TypesTokensAndRegisters) {
  EXPECT_EQ(bits_of(Type::f16x2), 32u);
  EXPECT_EQ(class_of(Type::s8), TypeClass::Signed);
  EXPECT_EQ(type_from("bf16"), Type::bf16);
  EXPECT_EQ(type_from("rn"), Type::None);
  EXPECT_EQ(tok_from("shared::cta"), Tok::shared_cta);
  EXPECT_EQ(tok_from("u32"), Tok::None);
  EXPECT_EQ(name_of(Tok::L2_cache_hint), "L2::cache_hint");
  EXPECT_EQ(sreg_from("tid"), SReg::tid);
  EXPECT_EQ(info(SReg::tid).components, 4);
  EXPECT_EQ(info(SReg::clock64).type, Type::u64);
  EXPECT_EQ(sreg_from("nothing"), SReg::None);
}

TEST(Isa, MatchTakesTypesInOrder) {
  const Match m = match("cvt.rni.sat.s32.f64");
  EXPECT_EQ(m.form, Form::cvt_int_float);
  ASSERT_EQ(m.type_count, 2);
  EXPECT_EQ(m.types[0], Type::s32);
  EXPECT_EQ(m.types[1], Type::f64);
  EXPECT_TRUE(has(m, Tok::rni));
  EXPECT_TRUE(has(m, Tok::sat));
  EXPECT_EQ(match("cvt.rni.sat.f64.s32").form, Form::Unknown);
}

TEST(Isa, FormsOfOneMnemonic) {
  EXPECT_EQ(match("add.s32").form, Form::add_int);
  EXPECT_EQ(match("add.sat.s32").form, Form::add_sat_s32);
  EXPECT_EQ(match("add.rz.ftz.f32").form, Form::add_f32);
  EXPECT_EQ(match("add.f16x2").form, Form::add_f16);
  EXPECT_EQ(match("add.cc.u32").form, Form::add_cc);
  EXPECT_EQ(match("setp.lt.s32").form, Form::setp_int);
  EXPECT_EQ(match("setp.lt.and.s32").form, Form::setp_int_bool);
  EXPECT_EQ(match("setp.ltu.ftz.f32").form, Form::setp_float);
  EXPECT_EQ(match("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32").form, Form::mma_rc);
}

TEST(Isa, WordsInOtherOrders) {
  EXPECT_EQ(match("vote.ballot.sync.b32").form, Form::vote_sync_ballot);
  EXPECT_EQ(match("ld.global.acquire.gpu.b32").form, Form::ld_sem);
  EXPECT_EQ(match("atom.add.acq_rel.cta.u64").form, Form::atom_add);
  // Directions are rows, not orders.
  EXPECT_EQ(match("cp.async.bulk.global.shared::cta.bulk_group").form, Form::cp_async_bulk_s2g);
  EXPECT_EQ(match("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes").form, Form::cp_async_bulk_g2s);
  EXPECT_EQ(match("cp.async.bulk.shared::cta.global.bulk_group").form, Form::Unknown);
  EXPECT_EQ(match("wmma.mma.sync.aligned.col.row.m16n16k16.f32.f32").form, Form::wmma_mma_cr);
}

TEST(Isa, FailuresSayWhatIsNear) {
  std::string why;
  EXPECT_EQ(match("add.rn.f31", &why).form, Form::Unknown);
  EXPECT_NE(why.find("does not take '.f31' here"), std::string::npos) << why;
  EXPECT_EQ(match("nonsense.u32", &why).form, Form::Unknown);
  EXPECT_NE(why.find("no instruction is called 'nonsense'"), std::string::npos) << why;
  EXPECT_EQ(match("", &why).form, Form::Unknown);
  EXPECT_EQ(match("add.", &why).form, Form::Unknown);
  std::string endless = "add";
  for (int k = 0; k < 1000; ++k) endless += ".rn";
  EXPECT_EQ(match(endless, &why).form, Form::Unknown);
}

TEST(Isa, OperandsOfEveryRow) {
  for (int k = 1; k < static_cast<int>(Form::Count); ++k) {
    const Form f = static_cast<Form>(k);
    const OperandList& l = operands_of(f);
    int dests = 0;
    for (const OperandSpec& s : l.specs) dests += s.dest;
    EXPECT_EQ(dests, info(f).dests) << info(f).id;
  }
  const auto& tensor = operands_of(Form::cp_async_bulk_tensor_g2c).specs;
  ASSERT_EQ(tensor.size(), 7u);
  EXPECT_TRUE(tensor[1].address && tensor[2].in_bracket && tensor[2].vector && tensor[3].address);
  EXPECT_FALSE(operands_of(Form::addc_cc).specs[4].written());
}

}  // namespace
}  // namespace us::isa

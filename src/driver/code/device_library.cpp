// SPDX-License-Identifier: Apache-2.0
#include "driver/code/device_library.h"

#include <algorithm>

#include "ptx/ptx.h"

namespace us::driver {
namespace {

// Grids that synchronise (cuda_device_runtime_api.h). A handle is the address of a cooperative launch's workspace: its
// size, then the word at which blocks meet, as cooperative_groups uses it. All blocks but the first add 1 to it, the
// first so much that the sum of all is 2^31: they go on when its top bit has changed. 0 is the handle of a grid that is
// not cooperative, and 999 (cudaErrorUnknown) the answer to it.
constexpr const char* kGrids = R"(
.version 8.0
.target sm_90
.address_size 64

.visible .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<2>;
  .reg .pred %p<2>;
  ld.param.u32 %r1, [scope];
  mov.u32 %r2, %envreg2;
  mov.u32 %r3, %envreg1;
  mov.b64 %rd1, {%r2, %r3};
  setp.eq.u32 %p1, %r1, 1;
  selp.b64 %rd1, %rd1, 0, %p1;
  st.param.b64 [handle], %rd1;
  ret;
}

.visible .func (.param .b32 error) cudaCGSynchronizeGrid(.param .b64 handle, .param .b32 flags)
{
  .reg .b32 %r<16>;
  .reg .b64 %rd<3>;
  .reg .pred %p<4>;
  ld.param.u64 %rd1, [handle];
  setp.eq.u64 %p1, %rd1, 0;
  mov.u32 %r15, 999;
  @%p1 bra done;
  barrier.sync 0;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %tid.y;
  mov.u32 %r3, %tid.z;
  or.b32 %r1, %r1, %r2;
  or.b32 %r1, %r1, %r3;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra together;
  mov.u32 %r4, %ctaid.x;
  mov.u32 %r5, %ctaid.y;
  mov.u32 %r6, %ctaid.z;
  or.b32 %r4, %r4, %r5;
  or.b32 %r4, %r4, %r6;
  setp.eq.u32 %p2, %r4, 0;
  mov.u32 %r7, %nctaid.x;
  mov.u32 %r8, %nctaid.y;
  mul.lo.u32 %r7, %r7, %r8;
  mov.u32 %r8, %nctaid.z;
  mul.lo.u32 %r7, %r7, %r8;
  sub.u32 %r7, 0x80000001, %r7;
  selp.b32 %r7, %r7, 1, %p2;
  fence.acq_rel.gpu;
  atom.add.relaxed.gpu.u32 %r9, [%rd1+4], %r7;
wait:
  ld.acquire.gpu.u32 %r10, [%rd1+4];
  xor.b32 %r11, %r9, %r10;
  setp.ge.s32 %p3, %r11, 0;
  @%p3 bra wait;
  fence.acq_rel.gpu;
together:
  barrier.sync 0;
  mov.u32 %r15, 0;
done:
  st.param.b32 [error], %r15;
  ret;
}

.visible .func (.param .b32 error) cudaCGSynchronize(.param .b64 handle, .param .b32 flags)
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [handle];
  ld.param.u32 %r1, [flags];
  .param .b64 a;
  .param .b32 b;
  .param .b32 e;
  st.param.b64 [a], %rd1;
  st.param.b32 [b], %r1;
  call (e), cudaCGSynchronizeGrid, (a, b);
  ld.param.b32 %r2, [e];
  st.param.b32 [error], %r2;
  ret;
}

.visible .func (.param .b32 error) cudaCGGetSize(.param .b64 threads, .param .b64 grids, .param .b64 handle)
{
  .reg .b32 %r<8>;
  .reg .b64 %rd<4>;
  .reg .pred %p<2>;
  ld.param.u64 %rd1, [threads];
  ld.param.u64 %rd2, [grids];
  ld.param.u64 %rd3, [handle];
  setp.eq.u64 %p1, %rd3, 0;
  mov.u32 %r7, 999;
  @%p1 bra done;
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %ntid.y;
  mul.lo.u32 %r1, %r1, %r2;
  mov.u32 %r2, %ntid.z;
  mul.lo.u32 %r1, %r1, %r2;
  mov.u32 %r2, %nctaid.x;
  mul.lo.u32 %r1, %r1, %r2;
  mov.u32 %r2, %nctaid.y;
  mul.lo.u32 %r1, %r1, %r2;
  mov.u32 %r2, %nctaid.z;
  mul.lo.u32 %r1, %r1, %r2;
  st.u32 [%rd1], %r1;
  mov.u32 %r3, 1;
  st.u32 [%rd2], %r3;
  mov.u32 %r7, 0;
done:
  st.param.b32 [error], %r7;
  ret;
}

.visible .func (.param .b32 error) cudaCGGetRank(.param .b64 thread, .param .b64 grid, .param .b64 handle)
{
  .reg .b32 %r<16>;
  .reg .b64 %rd<4>;
  .reg .pred %p<2>;
  ld.param.u64 %rd1, [thread];
  ld.param.u64 %rd2, [grid];
  ld.param.u64 %rd3, [handle];
  setp.eq.u64 %p1, %rd3, 0;
  mov.u32 %r15, 999;
  @%p1 bra done;
  mov.u32 %r1, %nctaid.x;
  mov.u32 %r2, %nctaid.y;
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ctaid.y;
  mov.u32 %r5, %ctaid.z;
  mad.lo.u32 %r4, %r5, %r2, %r4;
  mad.lo.u32 %r3, %r4, %r1, %r3;
  mov.u32 %r6, %ntid.x;
  mov.u32 %r7, %ntid.y;
  mov.u32 %r8, %ntid.z;
  mul.lo.u32 %r9, %r6, %r7;
  mul.lo.u32 %r8, %r9, %r8;
  mov.u32 %r10, %tid.x;
  mov.u32 %r11, %tid.y;
  mov.u32 %r12, %tid.z;
  mad.lo.u32 %r11, %r12, %r7, %r11;
  mad.lo.u32 %r10, %r11, %r6, %r10;
  mad.lo.u32 %r10, %r3, %r8, %r10;
  st.u32 [%rd1], %r10;
  mov.u32 %r13, 1;
  st.u32 [%rd2], %r13;
  mov.u32 %r15, 0;
done:
  st.param.b32 [error], %r15;
  ret;
}
)";

bool called_and_missing(const ir::Module& m, const ir::Symbol& s) {
  const bool defined = s.func.valid() && m.functions[s.func.v].defined;
  return s.kind == ir::Symbol::Kind::Function && s.name.starts_with("cudaCG") && !defined && !s.alias.valid();
}

}  // namespace

Result<std::unique_ptr<ir::Module>> add_device_library(std::unique_ptr<ir::Module> m) {
  if (std::ranges::none_of(m->symbols, [&](const ir::Symbol& s) { return called_and_missing(*m, s); })) return m;
  auto grids = ptx::parse(kGrids, "device runtime");
  if (!grids) return grids;
  const std::string name = m->name;
  std::vector<std::unique_ptr<ir::Module>> both;
  both.push_back(std::move(m));
  both.push_back(std::move(*grids));
  return ptx::link(std::move(both), name);
}

}  // namespace us::driver

// SPDX-License-Identifier: Apache-2.0
// wgmma.mma_async writes registers when wgmma.wait_group says so, but names them where it is issued. This gives every
// product keys for the registers it will write, and puts behind every wgmma.wait_group an instruction that may write
// any of them:
//
//     wgmma.mma_async {%f1, %f2}, ..            wgmma.mma_async {%f1, %f2}, ..          keys 1, 2
//     wgmma.commit_group                  ─►    wgmma.commit_group                      late
//     wgmma.wait_group 0                        wgmma.wait_group 0                      late
//                                               {%f1, %f2} = results({%f1, %f2}, {1, 2})
//
// The compiler in front moves such registers before they are there; what comes late then goes to the copy, too
// (`moved`). Calls and returns wait for everything. For late and random delivery only. Register form.
#pragma once
#include "ir/ir.h"

namespace us::codegen {

void name_late_results(ir::Function&);

}  // namespace us::codegen

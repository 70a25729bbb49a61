// SPDX-License-Identifier: Apache-2.0
// flags: -lcuda
// PTX that a device of compute capability 9.0 does not run: instructions of its successors, and its own instructions in
// modules for older targets.
#include <string>

#include "cu.h"

static void load(const char* what, const char* version, const char* target, const char* body) {
  const std::string ptx = std::string(".version ") + version + "\n.target " + target +
                          "\n.address_size 64\n.visible .entry k() {\n.reg .b64 r<4>;\n.reg .pred p;\n.shared .align 16 .b8 s[64];\n" + body +
                          "\nret;\n}\n";
  CUmodule module = nullptr;
  const CUresult result = cuModuleLoadData(&module, ptx.c_str());
  api::show_cu(what, result);
  if (result == CUDA_SUCCESS) cuModuleUnload(module);
}

int main() {
  MUST(cudaFree(nullptr));
  const char* cancel = "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [s], [s+16];";
  load("clusterlaunchcontrol.try_cancel, sm_90", "8.6", "sm_90", cancel);
  load("clusterlaunchcontrol.try_cancel, sm_90a", "8.6", "sm_90a", cancel);
  load("clusterlaunchcontrol.try_cancel, sm_100", "8.6", "sm_100", cancel);
  load("clusterlaunchcontrol.query_cancel, sm_90", "8.6", "sm_90",
       "{.reg .b128 q; mov.b128 q, {r1, r2}; clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, q;}");
  load("griddepcontrol, sm_90", "8.6", "sm_90", "griddepcontrol.wait;\ngriddepcontrol.launch_dependents;");
  load("griddepcontrol, sm_80", "8.6", "sm_80", "griddepcontrol.wait;");
  load("nothing special, sm_100", "8.6", "sm_100", "");
  load("nothing special, sm_90a", "8.6", "sm_90a", "");
  load("nothing special, sm_80", "7.0", "sm_80", "");
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// cu/cudaGraphAddNode and its family: all but kernels and copies has one layout in both APIs.
#pragma once
#include "cuda/graph/graphs.h"

namespace us::cuda {

bool well_formed(const CUgraphNodeParams*);  // what is reserved is zero
// Kernel and copy nodes are the caller's.
driver::Error add_generic(driver::Context&, const NodePosition&, CUgraphNodeParams&);
driver::Error generic_params(driver::Context&, const CUgraphNodeParams&,
                             driver::NodeParams& out);  // those that can be set
CUDA_MEM_ALLOC_NODE_PARAMS alloc_params(const driver::AllocParams&);
CUDA_MEMSET_NODE_PARAMS memset_params(const driver::FillOp&);

}  // namespace us::cuda

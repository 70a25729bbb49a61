// SPDX-License-Identifier: Apache-2.0
// Handles and what they stand for, the rules by which plans are refused, and the way a transform gets into its stream.
#pragma once
#include <map>

#include "cuda/libcufft/transform.h"

namespace us::cufft {

struct Plan {
  std::shared_ptr<Transform> transform;  // null until it is made
  cudaStream_t stream = nullptr;
  bool auto_allocation = true;
  std::map<int, long long> properties;  // wishes about planning, to be read back
};

cufftResult create(cufftHandle* out);
std::shared_ptr<Plan> find(cufftHandle);  // null: no such plan
cufftResult destroy(cufftHandle);

// The layout parameters as a program gives them; null embeddings: packed.
struct Advanced {
  const long long* embed = nullptr;
  long long stride = 1, dist = 0;
};
// Null dimensions, sizes below 1, unknown types: refused.
cufftResult describe(int rank, const long long* n, const Advanced& in, const Advanced& out, cufftType, long long batch,
                     Shape&);
// Numbers in 16 bits: sizes are powers of two.
cufftResult describe_narrow(numerics::Format, Shape&);
cufftResult make(cufftHandle, const Shape&, size_t* work_bytes);

// Submits the transform to the plan's stream: it runs in stream order, and a capturing stream's graph gets a node.
// Whatever function is called does what the plan is for, if it goes in a direction of the plan's: INVALID_VALUE
// otherwise (oracle/programs/api_fft_half.txt).
cufftResult execute(cufftHandle, void* in, void* out, int direction);

}  // namespace us::cufft

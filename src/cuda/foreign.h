// SPDX-License-Identifier: Apache-2.0
// Files that carry a CUDA runtime of their own and ask this driver for what only the vendor's has: told to the person,
// once each, and never part of an exact run.
#pragma once

namespace us::cuda {
void note_foreign_caller(const void* return_address);
// A library that asks our runtime for private functions of the vendor's.
void note_private_table(const void* return_address);
}  // namespace us::cuda

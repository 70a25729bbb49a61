// SPDX-License-Identifier: Apache-2.0
// From what the program calls a kernel to the function in a context.
#pragma once
#include "cuda/code/launch_attributes.h"
#include "cuda/state.h"
#include "driver/code/function.h"
#include "driver/code/launch.h"

namespace us::cuda {

// A host stub or a cudaKernel_t. InvalidHandle if it is neither, InvalidDeviceFunction if it is null or if no image of
// the program has the kernel.
driver::Error find_kernel(const void* symbol, driver::Kernel*& out);
driver::Error find_function(driver::Context&, const void* symbol, driver::Function*& out);

// A CUfunction, or a CUkernel. InvalidHandle if it is neither.
driver::Error find_loaded(driver::Context&, const void* handle, driver::Function*& out);

// cudaLibraryLoadData, cuLibraryLoadData: what is wrong with the image is told to the person.
driver::Error load_library(const void* image, driver::Library*& out);

// cudaFuncSetAttribute, cuFuncSetAttribute, by their common numbers.
driver::Error set_attribute(driver::Context&, driver::Function&, int attribute, int value);
driver::Error get_attribute(const driver::Function&, int attribute, int& value);

// The launch attributes of both APIs: their structs have one layout.
driver::Error read_attributes(const void* attributes, u32 count, driver::LaunchConfig&,
                              std::vector<LaunchEvent>& events);
// The array of names and values that may stand for the arguments of a launch.
driver::Error read_extra(void* const* extra, driver::LaunchArgs&);
// cudaOccupancyMaxActiveClusters; the configuration without its attributes
driver::Error count_clusters(driver::Context&, const driver::Function&, driver::LaunchConfig, const void* attributes,
                             u32 count, u32& out);

}  // namespace us::cuda

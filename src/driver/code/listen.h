// SPDX-License-Identifier: Apache-2.0
// What an observer is told of a launch, and who listens to it.
#pragma once
#include "driver/code/launch.h"
#include "probe/observer.h"

namespace us::driver {

void listen(probe::Observer&, const Function&, const LaunchConfig&, u64 node, device::Launch&);
// Where a site of the module stands: it, and the calls that were inlined there.
probe::SiteInfo site_info(const ir::Module&, u32 site);

}  // namespace us::driver

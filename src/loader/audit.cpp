// SPDX-License-Identifier: Apache-2.0
// What the dynamic loader calls (rtld-audit(7)). This library lives in a namespace of its own, with a C library of
// its own.
#include <link.h>
#include <string.h>

#include "loader/exec_hook.h"
#include "loader/libraries.h"
#include "loader/static_runtime.h"

#define US_AUDIT extern "C" __attribute__((visibility("default")))

US_AUDIT unsigned la_version(unsigned offered) {
  us::loader::find_own_directory();
  return offered < LAV_CURRENT ? offered : LAV_CURRENT;
}

// The cookie of an object is its link_map, unless somebody changed it.
US_AUDIT char* la_objsearch(const char* name, uintptr_t* asking, unsigned flag) {
  if (flag == LA_SER_ORIG)
    name = us::loader::choose_library(name, asking ? reinterpret_cast<link_map*>(*asking) : nullptr);
  if (flag == LA_SER_ORIG || flag == LA_SER_DEFAULT) name = us::loader::choose_last_resort(name);
  return const_cast<char*>(name);
}

US_AUDIT unsigned la_objopen(link_map* object, Lmid_t space, uintptr_t*) {
  us::loader::watch_exec(*object, space);
  if (!us::loader::is_own(object->l_name)) us::loader::send_static_runtime_to_ours(*object);
  return 0;  // no calls are followed
}

// SPDX-License-Identifier: Apache-2.0
#include "sanitizer/locations.h"

namespace us::sanitizer {

bool includes(probe::Scope s, const Place& mine, const Place& other) {
  switch (s) {
    case probe::Scope::Cta:
      return mine.cta == other.cta;
    case probe::Scope::Cluster:
      return mine.cta >> 32 == other.cta >> 32 && mine.cluster == other.cluster;
    case probe::Scope::Gpu:
      return mine.device == other.device && mine.domain == other.domain;
    case probe::Scope::Sys:
      return true;
  }
  return true;
}

bool Location::alike(const Strong& s) const {
  return wide && !s.is_volatile && s.async == sample.async && s.scope >= probe::Scope::Gpu && s.begin == sample.begin &&
         s.bytes == sample.bytes && s.place.cta >> 32 == sample.place.cta >> 32;
}

void Location::note(const Strong& s) {
  if (writes.empty() && reads.empty()) wide = true, sample = s;
  wide = wide && s.scope >= probe::Scope::Gpu && alike(s);
}

bool morally_strong(const Strong& a, const Strong& b) {
  return a.begin == b.begin && a.bytes == b.bytes && a.async == b.async && includes(a.scope, a.place, b.place) &&
         includes(b.scope, b.place, a.place);
}

}  // namespace us::sanitizer

// SPDX-License-Identifier: Apache-2.0
#include "ir/loc.h"

namespace tosaic {

Location resolve(Loc loc) {
  if (loc == nullptr) return {};
  if (loc->decode != nullptr) return loc->decode(*loc);
  Location location;
  location.file = loc->file;
  location.line = loc->line;
  location.source = loc->source;
  location.scope = loc->scope;
  return location;
}

}  // namespace tosaic

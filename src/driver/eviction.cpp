// SPDX-License-Identifier: Apache-2.0
#include "driver/eviction.h"

namespace tosaic {
namespace {

class Bisection {
 public:
  Bisection(const TakesNodes& takes, size_t most) : takes_(takes), most_(most) {}

  /// `nodes` are known to be refused together.
  Status search(std::span<Node* const> nodes) {
    if (found_.size() > most_) return ok();
    if (nodes.size() == 1) {
      found_.push_back(nodes[0]);
      return ok();
    }
    const size_t half = nodes.size() / 2;
    TOSAIC_TRY(const bool takes_first, takes_(nodes.first(half)));
    TOSAIC_TRY(const bool takes_second, takes_(nodes.subspan(half)));
    if (takes_first && takes_second) {
      found_.push_back(nodes[half]);
      return ok();
    }
    if (!takes_first) TOSAIC_CHECK_OK(search(nodes.first(half)));
    if (!takes_second) TOSAIC_CHECK_OK(search(nodes.subspan(half)));
    return ok();
  }

  std::vector<Node*> take() { return std::move(found_); }

 private:
  const TakesNodes& takes_;
  size_t most_;
  std::vector<Node*> found_;
};

}  // namespace

Expected<std::vector<Node*>> find_refused(std::span<Node* const> nodes, const TakesNodes& takes,
                                          size_t most) {
  Bisection bisection(takes, most);
  TOSAIC_CHECK_OK(bisection.search(nodes));
  std::vector<Node*> found = bisection.take();
  if (found.size() > most) found.clear();
  return found;
}

}  // namespace tosaic

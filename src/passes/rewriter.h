// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/pass.h"
#include "tosa/builder.h"

namespace tosaic {

/// What passes over TOSA graphs share: a builder that works before a node, and the replacement of
/// results.
class Rewriter {
 public:
  Rewriter(Graph& graph, PassContext& context);

  /// Makes new nodes go before `node`, with its location, and forgets an earlier failure.
  tosa::Builder& before(Node& node);
  tosa::Builder& builder() { return builder_; }

  /// Makes all users of node's only result use `to`, and erases the node. Does nothing, and gives
  /// false, when the builder failed since before(node), or when `to` is nullptr or has another
  /// type.
  ///
  /// The graph's outputs stay distinct values that nodes compute, with their names and quantisation
  /// parameters: where `to` is an input, say, the output becomes IDENTITY of it.
  bool replace(Node& node, Value* to);

 private:
  bool may_be_output(const Value& from, const Value& to) const;

  Graph& graph_;
  PassContext& context_;
  tosa::Builder builder_;
};

bool is_output(const Value& value);

}  // namespace tosaic

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/graph.h"

/// Writes through views, as calls without memory that is shared:
///
///   v = y[1:3]; v.mul_(x)     =>     %v = slice(%y); %w = mul(%v, %x); %y2 = slice_scatter(%y, %w)
namespace tosaic::aten::pt2 {

/// The content of the tensor that `view` was made of, `base` before, once the view's content is
/// `written`; new nodes stand at the graph's end. nullptr for a view that is not known to be one in
/// PyTorch (reshape copies at times) or whose elements lie in no simple way.
Value* write_through(const Node& view, Value& base, Value& written);

/// Whether replay_view can make the view of another content of its tensor.
bool can_replay(const Node& view);
/// The same view of `base`; results as the view has them.
Node& replay_view(const Node& view, Value& base);

}  // namespace tosaic::aten::pt2

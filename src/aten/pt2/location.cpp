// SPDX-License-Identifier: Apache-2.0
#include "aten/pt2/location.h"

#include <cctype>
#include <charconv>

namespace tosaic::aten::pt2 {
namespace {

constexpr std::string_view kFrame = "File \"";

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) {
    text.remove_prefix(1);
  }
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) {
    text.remove_suffix(1);
  }
  return text;
}

bool is_library_file(std::string_view file) {
  for (const std::string_view part :
       {"-packages/torch/", "-packages/torchao/", "-packages/executorch/", "torch/nn/modules/",
        "torch/_export/", "torch/fx/"}) {
    if (file.find(part) != std::string_view::npos) return true;
  }
  return file.starts_with("<");  // "<eval_with_key>.3"
}

struct Frame {
  std::string_view file;
  uint32_t line = 0;
  std::string_view source;
};

/// The frame that begins at `text`, which ends where the next one begins.
Frame parse_frame(std::string_view text) {
  Frame frame;
  text.remove_prefix(kFrame.size());
  const size_t quote = text.find('"');
  frame.file = text.substr(0, quote);
  const size_t end = text.find('\n');
  const std::string_view head = text.substr(0, end);
  constexpr std::string_view kLine = ", line ";
  if (const size_t at = head.find(kLine, frame.file.size()); at != std::string_view::npos) {
    std::from_chars(head.data() + at + kLine.size(), head.data() + head.size(), frame.line);
  }
  if (end != std::string_view::npos) {
    const std::string_view rest = text.substr(end + 1);
    frame.source = trimmed(rest.substr(0, rest.find('\n')));
  }
  return frame;
}

Location decode(const LocInfo& info) {
  Location location;
  decode_stack(info.raw_stack, location);
  location.scope = decode_modules(info.raw_modules);
  return location;
}

}  // namespace

void decode_stack(std::string_view stack, Location& to) {
  Frame best;
  // From the last frame to the first.
  for (size_t end = stack.size(); end > 0;) {
    const size_t begin = stack.rfind(kFrame, end - 1);
    if (begin == std::string_view::npos) break;
    const Frame frame = parse_frame(stack.substr(begin, end - begin));
    const bool is_users = !is_library_file(frame.file);
    if (is_users || best.file.empty()) best = frame;
    if (is_users) break;
    end = begin;
  }
  to.file = best.file;
  to.line = best.line;
  to.source = best.source;
}

std::string decode_modules(std::string_view modules) {
  const auto field = [](std::string_view entry, int index) {
    for (; index > 0; --index) {
      const size_t comma = entry.find(',');
      if (comma == std::string_view::npos) return std::string_view();
      entry.remove_prefix(comma + 1);
    }
    return entry;
  };
  const std::string_view first = modules.substr(0, modules.find(';'));
  const std::string_view last = modules.substr(modules.rfind(';') + 1);
  // The type of the outermost module, unless it is a wrapper that the export made.
  std::string_view root = field(first, 2);
  if (root.find("<locals>") != std::string_view::npos) root = {};
  root = root.substr(root.rfind('.') + 1);
  std::string scope(root);
  std::string_view path = field(last, 1);
  path = path.substr(0, path.find(','));
  constexpr std::string_view kSelf = "L['self']";
  if (path.starts_with(kSelf)) path.remove_prefix(kSelf.size());
  // "blocks[0]" is "blocks.0", as module paths are written.
  bool separate = !scope.empty();
  for (const char c : path) {
    if (c == '.' || c == '[') {
      separate = !scope.empty();
    } else if (c != ']' && c != '\'' && c != '"') {
      if (separate) scope += '.';
      separate = false;
      scope += c;
    }
  }
  return scope;
}

Loc make_loc(const Json& node, Arena& arena) {
  const auto metadata = member(node, "metadata");
  if (!metadata) return nullptr;
  LocInfo info;
  info.raw_stack = string_at(*metadata, "stack_trace").value_or(std::string_view());
  info.raw_modules = string_at(*metadata, "nn_module_stack").value_or(std::string_view());
  // Nodes that a transformation added have no stack, and often no module of the user's either.
  if (info.raw_stack.empty() && decode_modules(info.raw_modules).empty()) return nullptr;
  info.decode = decode;
  return arena.make<LocInfo>(info);
}

}  // namespace tosaic::aten::pt2

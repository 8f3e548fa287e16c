// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <optional>
#include <string_view>

/// Questions to parsed JSON that answer "not there, or of another kind" instead of throwing.
namespace tosaic::aten::pt2 {

using Json = simdjson::dom::element;
using JsonObject = simdjson::dom::object;
using JsonArray = simdjson::dom::array;

/// The member `key` of an object.
inline std::optional<Json> member(const Json& object, std::string_view key) {
  JsonObject o;
  Json value;
  if (object.get(o) != simdjson::SUCCESS || o.at_key(key).get(value) != simdjson::SUCCESS) {
    return std::nullopt;
  }
  return value;
}
inline std::optional<Json> member(const std::optional<Json>& object, std::string_view key) {
  return object ? member(*object, key) : std::nullopt;
}

template <typename T>
std::optional<T> value_as(const Json& json) {
  T value;
  if (json.get(value) != simdjson::SUCCESS) return std::nullopt;
  return value;
}
template <typename T>
std::optional<T> value_as(const std::optional<Json>& json) {
  return json ? value_as<T>(*json) : std::nullopt;
}
template <typename T>
std::optional<T> member_as(const Json& object, std::string_view key) {
  return value_as<T>(member(object, key));
}
inline std::optional<std::string_view> string_at(const Json& object, std::string_view key) {
  return member_as<std::string_view>(object, key);
}

/// A union of the schema: an object whose one key is the kind of its value, {"as_int": 3}.
struct Union {
  std::string_view kind;
  Json value;
};
inline std::optional<Union> union_of(const Json& json) {
  JsonObject o;
  if (json.get(o) != simdjson::SUCCESS || o.begin() == o.end()) return std::nullopt;
  const auto first = o.begin();
  return Union{first.key(), first.value()};
}
inline std::optional<Union> union_of(const std::optional<Json>& json) {
  return json ? union_of(*json) : std::nullopt;
}

}  // namespace tosaic::aten::pt2

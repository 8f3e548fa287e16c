// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ir/attr.h"
#include "ir/constant.h"
#include "ir/loc.h"
#include "ir/op_def.h"
#include "ir/type.h"
#include "support/arena.h"

namespace tosaic {

class Graph;
class Module;
class Node;
class Value;

/// One operand slot of a node; an element of its value's list of uses.
class Use {
 public:
  Use() = default;
  Value* value() const { return value_; }
  Node& user() const { return *user_; }
  int index() const { return static_cast<int>(index_); }  ///< which operand of the user
  Use* next() const { return next_; }

 private:
  friend class Graph;
  friend class Value;
  Value* value_ = nullptr;
  Node* user_ = nullptr;
  uint32_t index_ = 0;
  Use* next_ = nullptr;
  Use** link_ = nullptr;  // what points to this use
};

/// A tensor in a graph: an input, a constant, or a result of a node.
class Value {
 public:
  Value() = default;
  const TensorType& type() const { return type_; }
  void set_type(const TensorType& type) { type_ = type; }
  DType dtype() const { return type_.dtype; }
  const Shape& shape() const { return type_.shape; }
  const Quant* quant() const { return type_.quant; }
  /// As written in the source program; may be empty, and need not be unique.
  std::string_view name() const { return name_; }
  void set_name(std::string_view name) { name_ = name; }  ///< name must outlive the module

  Node* def() const { return def_; }  ///< nullptr for inputs and constants
  int result_index() const { return static_cast<int>(index_); }  ///< of an input: which
  const Constant* constant() const { return constant_; }         ///< nullptr when not a constant
  bool is_constant() const { return constant_ != nullptr; }
  bool is_input() const { return def_ == nullptr && constant_ == nullptr; }
  Graph& graph() const { return *graph_; }

  Use* first_use() const { return first_use_; }
  bool has_uses() const { return first_use_ != nullptr; }
  bool has_one_use() const { return first_use_ != nullptr && first_use_->next_ == nullptr; }
  size_t num_uses() const;

 private:
  friend class Graph;
  TensorType type_;
  std::string_view name_;
  Node* def_ = nullptr;
  const Constant* constant_ = nullptr;
  Graph* graph_ = nullptr;
  Use* first_use_ = nullptr;
  uint32_t index_ = 0;
};

/// An operation. Lives in its module's arena and in its graph's list, which is in execution order:
/// each operand is defined before its users.
class Node {
 public:
  Node() = default;
  const OpDef& op() const { return *op_; }
  bool is(const OpDef& op) const { return op_ == &op; }
  int variant() const { return variant_; }
  std::string_view full_name() const { return op_->hooks->variant_name(*op_, variant_); }
  Graph& graph() const { return *graph_; }
  Loc loc() const { return loc_; }
  void set_loc(Loc loc) { loc_ = loc; }

  int num_operands() const { return static_cast<int>(operands_.size()); }
  /// nullptr where an optional operand is absent.
  Value* operand(int i) const { return operands_[static_cast<size_t>(i)].value(); }
  std::span<const Use> operands() const { return operands_; }
  /// Sizes of operand groups: -1 a single operand, n >= 0 a list of n ([%a, %b] in text). Empty:
  /// all single.
  std::span<const int16_t> segments() const { return segments_; }

  int num_results() const { return static_cast<int>(results_.size()); }
  Value& result(int i = 0) const { return results_[static_cast<size_t>(i)]; }
  std::span<Value> results() const { return results_; }

  AttrList attrs() const { return attrs_; }
  void set_attrs(AttrList attrs) { attrs_ = attrs; }  ///< must live as long as the module
  /// nullptr when there is no attribute of that name.
  const Attr* attr(std::string_view name) const { return find_attr(attrs_, name); }

  Node* next() const { return next_; }
  Node* prev() const { return prev_; }
  /// Increases along the list at all times, with gaps; inserting may change it for other nodes.
  uint32_t order() const { return order_; }
  /// Taken out of its graph; nothing else may be asked of such a node.
  bool is_erased() const { return graph_ == nullptr; }

 private:
  friend class Graph;
  const OpDef* op_ = nullptr;
  Graph* graph_ = nullptr;
  Loc loc_ = nullptr;
  std::span<Use> operands_;
  std::span<const int16_t> segments_;
  std::span<Value> results_;
  AttrList attrs_;
  Node* prev_ = nullptr;
  Node* next_ = nullptr;
  uint32_t order_ = 0;
  int variant_ = 0;
};

/// Everything a new node is made of. Spans are copied into the arena, attributes included.
struct NodeSpec {
  const OpDef* op = nullptr;
  int variant = 0;
  std::span<Value* const> operands;
  std::span<const int16_t> segments;
  std::span<const TensorType> results;
  AttrList attrs;
  Loc loc = nullptr;
};

/// A named list of nodes with inputs and outputs.
class Graph {
 public:
  Graph(Module& module, std::string_view name, Dialect dialect);
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  Module& module() const { return *module_; }
  std::string_view name() const { return name_; }
  Dialect dialect() const { return dialect_; }
  void set_dialect(Dialect dialect) { dialect_ = dialect; }

  Value& add_input(const TensorType& type, std::string_view name);
  /// A value for constant data. The type may carry quantisation; dtype and shape must be the
  /// constant's. Values are not shared: each call makes one.
  Value& add_constant(const Constant& constant, const TensorType& type, std::string_view name = {});
  Value& add_constant(const Constant& constant);

  std::span<Value* const> inputs() const { return inputs_; }
  void erase_input(int index);  ///< which must have no uses
  /// All constants ever added that still have uses, in order of creation.
  std::vector<Value*> constants() const;

  /// Outputs are the operands of the return node, so rewriting uses rewrites outputs too.
  Node& return_node() const { return *return_; }
  int num_outputs() const { return return_->num_operands(); }
  Value* output(int i) const { return return_->operand(i); }
  void set_outputs(std::span<Value* const> outputs);
  std::vector<Value*> outputs() const;

  /// First node, and the end of a walk is nullptr: the return node is not part of the walk.
  Node* first() const { return head_ == return_ ? nullptr : head_; }
  Node* last() const { return return_->prev_; }
  /// Next node of the walk, or nullptr.
  Node* after(const Node& node) const { return node.next_ == return_ ? nullptr : node.next_; }
  size_t num_nodes() const { return num_nodes_; }

  /// Range for `for (Node& n : graph.nodes())`. Any node may be erased while walking; nodes
  /// inserted right after the current one are not visited.
  class Range;
  Range nodes() const;

  /// Inserts before `before` (nullptr: at the end).
  Node& insert(const NodeSpec& spec, Node* before = nullptr);
  /// Takes a node out; none of its results may have uses.
  void erase(Node& node);
  void move_before(Node& node, Node* before);

  void replace_all_uses(Value& from, Value& to);
  /// Points one operand elsewhere; nullptr makes it absent.
  void set_operand(Node& node, int index, Value* value);
  /// Erases nodes without uses that write no state, from the end to the front. Returns how many.
  size_t erase_dead_nodes();
  /// Spaces the orders of all nodes evenly. Linear; never needed for correctness.
  void renumber();

 private:
  friend class Module;
  void link(Use& use, Value* value);
  static void unlink(Use& use);
  void fill_operands(Node& node, std::span<Value* const> operands);
  void link_before(Node& node, Node& before);
  void unlink_node(Node& node);
  void make_room(Node& node);

  Module* module_;
  std::string_view name_;
  Dialect dialect_;
  std::vector<Value*> inputs_;
  std::vector<Value*> constants_;
  Node* head_ = nullptr;
  Node* return_ = nullptr;
  size_t num_nodes_ = 0;
};

class Graph::Range {
 public:
  class Iterator {
   public:
    Iterator(const Graph* graph, Node* node) : graph_(graph), node_(node) { step(); }
    Node& operator*() const { return *node_; }
    Iterator& operator++() {
      node_ = next_;
      // An erased node still knows what followed it.
      while (node_ != nullptr && node_->is_erased())
        node_ = graph_->after(*node_);
      step();
      return *this;
    }
    bool operator!=(const Iterator& other) const { return node_ != other.node_; }

   private:
    void step() { next_ = node_ == nullptr ? nullptr : graph_->after(*node_); }
    const Graph* graph_;
    Node* node_;
    Node* next_ = nullptr;
  };
  explicit Range(const Graph* graph) : graph_(graph) {}
  Iterator begin() const { return {graph_, graph_->first()}; }
  Iterator end() const { return {graph_, nullptr}; }

 private:
  const Graph* graph_;
};
inline Graph::Range Graph::nodes() const {
  return Range(this);
}

/// The program: named graphs and everything they point to. Graph "main" is the entry.
class Module {
 public:
  Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  Arena& arena() { return arena_; }
  Graph& add_graph(std::string_view name, Dialect dialect);  ///< the name must be new
  Graph* find_graph(std::string_view name) const;
  void erase_graph(std::string_view name);
  void rename_graph(Graph& graph, std::string_view name);  ///< the name must be free
  std::span<const std::unique_ptr<Graph>> graphs() const { return graphs_; }
  Graph* main() const { return find_graph("main"); }
  /// `stem`, or `stem` with the first number that makes it new.
  std::string_view unique_graph_name(std::string_view stem);

  /// Copies a string into the module, once per distinct content.
  std::string_view intern(std::string_view text);
  Attr intern(const Attr& attr) { return attr.copy_to(arena_); }
  AttrList copy_attrs(AttrList attrs);

  /// Interned quantisation parameters: equal parameters give the same address.
  const Quant* quant(std::span<const double> scales, std::span<const int32_t> zero_points, int axis,
                     int64_t qmin, int64_t qmax);
  const Quant* quant(double scale, int32_t zero_point, int64_t qmin, int64_t qmax);
  /// The same parameters along another axis.
  const Quant* with_axis(const Quant& quant, int axis);

  /// Constants over an owned copy of the bytes / over bytes that outlive the module (keep_alive).
  const Constant& constant(DType dtype, const Shape& shape, std::span<const std::byte> content);
  const Constant& constant_view(DType dtype, const Shape& shape, std::span<const int64_t> strides,
                                const std::byte* data);
  /// Over values, converted to the dtype's storage: for small constants (shifts, zero points).
  const Constant& constant_ints(DType dtype, const Shape& shape, std::span<const int64_t> values);
  const Constant& constant_floats(DType dtype, const Shape& shape, std::span<const double> values);
  /// The same bytes with axes permuted: result axis i is source axis perm[i].
  const Constant& permuted(const Constant& source, std::span<const int64_t> perm);
  /// Elements [first, first + count) along an axis: a view of the same bytes.
  const Constant& sliced(const Constant& source, int axis, int64_t first, int64_t count);
  /// The same bytes under other sizes; materialised first when no strides (or no axis for the
  /// stage) say the same.
  const Constant& reshaped(const Constant& source, const Shape& shape);
  /// `source` (f32 or f64) with a stage. A pending scale and a new quantisation become one stage;
  /// otherwise a source with a stage is materialised first.
  const Constant& staged(const Constant& source, const ConstantStage& stage, DType dtype);
  /// Over an owned copy of the content, with nothing pending.
  const Constant& materialised(const Constant& source);

  void keep_alive(std::shared_ptr<const void> owner) { owners_.push_back(std::move(owner)); }

 private:
  /// The view with its stage's axes renumbered: axis a becomes axis_of[a].
  void renumber_stage(Constant& view, std::span<const int> axis_of);

  Arena arena_;
  std::vector<std::unique_ptr<Graph>> graphs_;
  std::vector<std::shared_ptr<const void>> owners_;
  std::unordered_map<std::string_view, Graph*> by_name_;
  std::unordered_set<std::string_view> strings_;
  std::unordered_map<std::string_view, int> next_suffix_;  // of unique_graph_name, by stem
  std::unordered_multimap<uint64_t, const Quant*> quants_;
};

/// Values of a constant as int64 or double, materialised. For small constants; any integer (float)
/// dtype.
std::vector<int64_t> int_values(const Constant& constant);
std::vector<double> float_values(const Constant& constant);

}  // namespace tosaic

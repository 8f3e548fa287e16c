// SPDX-License-Identifier: Apache-2.0
#include "pte/reader.h"

#include <flatbuffers/flatbuffers.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "pte/check.h"
#include "pte/program_generated.h"
#include "support/little_endian.h"

namespace tosaic {
namespace {

namespace fb = pte_fb;

template <typename... Args>
Diagnostic bad(fmt::format_string<Args...> format, Args&&... args) {
  return error(Code::kFlatbuffer, "program: {}", fmt::format(format, std::forward<Args>(args)...));
}

/// The file cut into the flatbuffer and what follows it.
struct File {
  std::span<const std::byte> program;
  std::span<const std::byte> segments;
};

Expected<File> split(std::span<const std::byte> bytes) {
  auto text = [&](size_t at) {
    return std::string_view(reinterpret_cast<const char*>(bytes.data()) + at, 4);
  };
  if (bytes.size() < 8 || text(4) != kPteIdentifier) {
    return error(Code::kFileKind, "this is no ExecuTorch program: the identifier '{}' is missing",
                 kPteIdentifier);
  }
  if (auto misaligned = reinterpret_cast<uintptr_t>(bytes.data()) % kPteDataAlignment;
      misaligned != 0) {
    return bad("it needs 16-byte alignment in memory, got {} mod 16", misaligned);
  }
  if (bytes.size() < 8 + kPteExtendedHeaderBytes || text(8) != kPteExtendedHeader)
    return File{bytes, {}};
  uint32_t header_bytes = load_le<uint32_t>(bytes.data() + 12);
  uint64_t program_bytes = load_le<uint64_t>(bytes.data() + 16);
  uint64_t base = load_le<uint64_t>(bytes.data() + 24);
  uint64_t segment_bytes = load_le<uint64_t>(bytes.data() + 32);
  if (header_bytes < kPteExtendedHeaderBytes)
    return bad("its extended header has {} bytes", header_bytes);
  if (program_bytes > bytes.size() || program_bytes < 8 + kPteExtendedHeaderBytes) {
    return bad("it says that its flatbuffer has {} bytes, but the file has {}", program_bytes,
               bytes.size());
  }
  // Without segments the base is 0.
  if ((base != 0 || segment_bytes != 0) &&
      (base < program_bytes || base > bytes.size() || segment_bytes > bytes.size() - base)) {
    return bad("its segments, {} bytes from {} on, are not within the file of {} bytes",
               segment_bytes, base, bytes.size());
  }
  return File{bytes.first(program_bytes), bytes.subspan(base, segment_bytes)};
}

class Reader {
 public:
  Reader(const fb::Program& root, const File& file)
      : root_(root), segments_(file.segments), budget_(4 * file.program.size() + 4096) {}

  Expected<PteProgram> read() {
    if (root_.plans() == nullptr) return bad("it has no list of methods");
    if (root_.constants() != nullptr && root_.constants()->size() > 1) {
      TOSAIC_CHECK_OK(inline_constants());
    } else {
      TOSAIC_CHECK_OK(segment_constants());
    }
    for (const fb::Plan* source : *root_.plans()) {
      PtePlan plan;
      TOSAIC_CHECK_OK(read_plan(*source, plan));
      out_.plans.push_back(std::move(plan));
    }
    if (root_.named_data() != nullptr) {
      for (const fb::NamedData* data : *root_.named_data()) {
        TOSAIC_CHECK_OK(spend(16));
        PteNamedData named;
        if (data->key() == nullptr) return bad("named data has no key");
        TOSAIC_CHECK_OK(spend(data->key()->size()));
        named.key = data->key()->str();
        TOSAIC_TRY(named.bytes, segment(data->segment()));
        out_.named_data.push_back(std::move(named));
      }
    }
    trim_constants();
    TOSAIC_CHECK_OK(check_pte(out_));
    return std::move(out_);
  }

 private:
  /// Tables of a flatbuffer may be shared, so a small file can describe a huge tree: what is taken
  /// out of it is counted against the file's size.
  Status spend(uint64_t num_bytes) {
    if (num_bytes > budget_)
      return bad("its parts are shared so often that they do not fit its size");
    budget_ -= num_bytes;
    return ok();
  }

  template <typename To, typename From>
  Status copy(const flatbuffers::Vector<From>* from, std::vector<To>& to, std::string_view what) {
    if (from == nullptr) return bad("{} is missing", what);
    TOSAIC_CHECK_OK(spend(uint64_t{from->size()} * sizeof(From)));
    to.clear();
    // The verifier does not check that elements of 8 bytes are aligned, so none is read in place.
    for (uint32_t i = 0; i < from->size(); i++) {
      From element;
      std::memcpy(&element, from->Data() + i * sizeof(From), sizeof(From));
      to.push_back(static_cast<To>(flatbuffers::EndianScalar(element)));
    }
    return ok();
  }

  Status copy(const flatbuffers::String* from, std::string& to, std::string_view what) {
    if (from == nullptr) return bad("{} is missing", what);
    TOSAIC_CHECK_OK(spend(from->size()));
    to = from->str();
    return ok();
  }

  Expected<std::span<const std::byte>> segment(uint64_t index) const {
    if (root_.segments() == nullptr || index >= root_.segments()->size()) {
      return bad("segment {} does not exist", index);
    }
    const fb::DataSegment* s = root_.segments()->Get(static_cast<uint32_t>(index));
    if (s->offset() > segments_.size() || s->size() > segments_.size() - s->offset()) {
      return bad("segment {}, {} bytes at {}, is not within the {} bytes of segments", index,
                 s->size(), s->offset(), segments_.size());
    }
    return segments_.subspan(s->offset(), s->size());
  }

  Status inline_constants() {
    for (uint32_t i = 1; i < root_.constants()->size(); i++) {
      TOSAIC_CHECK_OK(spend(16));
      const flatbuffers::Vector<uint8_t>* bytes = root_.constants()->Get(i)->bytes();
      if (bytes == nullptr) return bad("constant {} has no bytes", i - 1);
      out_.constants.push_back(std::as_bytes(std::span(bytes->data(), bytes->size())));
    }
    return ok();
  }

  /// A file has the offsets of constants but not their sizes: each ends where the next begins.
  Status segment_constants() {
    const fb::Subsegments* from = root_.constant_segment();
    if (from == nullptr || from->offsets() == nullptr || from->offsets()->size() <= 1) return ok();
    TOSAIC_TRY(std::span<const std::byte> all, segment(from->segment()));
    std::vector<uint64_t> offsets;
    TOSAIC_CHECK_OK(copy(from->offsets(), offsets, "the list of constants"));
    std::vector<uint64_t> ends = offsets;
    ends.push_back(all.size());
    std::sort(ends.begin(), ends.end());
    if (ends.back() != all.size())
      return bad("a constant begins behind its segment of {} bytes", all.size());
    for (size_t i = 1; i < offsets.size(); i++) {
      auto end = std::upper_bound(ends.begin(), ends.end(), offsets[i]);
      uint64_t stop = end == ends.end() ? all.size() : *end;
      out_.constants.push_back(all.subspan(offsets[i], stop - offsets[i]));
    }
    return ok();
  }

  /// Cuts off the padding behind constants, as far as tensors tell their size.
  void trim_constants() {
    std::vector<uint64_t> sizes(out_.constants.size(), 0);
    for (const PtePlan& plan : out_.plans) {
      for (const PteValue& value : plan.values) {
        const auto* t = std::get_if<PteTensor>(&value);
        if (t == nullptr || t->storage != PteStorage::kConstant || t->constant >= sizes.size())
          continue;
        if (check_pte_tensor(*t)) sizes[t->constant] = std::max(sizes[t->constant], t->num_bytes());
      }
    }
    for (size_t i = 0; i < sizes.size(); i++) {
      std::span<const std::byte>& constant = out_.constants[i];
      if (sizes[i] != 0 && sizes[i] < constant.size()) constant = constant.first(sizes[i]);
    }
  }

  Status read_tensor(const fb::Tensor& from, PteTensor& to) {
    to.dtype = static_cast<PteDtype>(from.scalar_type());
    TOSAIC_CHECK_OK(copy(from.sizes(), to.sizes, "the list of sizes of a tensor"));
    TOSAIC_CHECK_OK(copy(from.dim_order(), to.dim_order, "the dim_order of a tensor"));
    if (to.dim_order.size() != to.sizes.size()) {
      return bad("a tensor has {} sizes but a dim_order of {}", to.sizes.size(),
                 to.dim_order.size());
    }
    if (from.storage_offset() != 0 || from.layout() != 0) {
      return error(Code::kUnsupportedFeature,
                   "program: a tensor has a storage offset or is sparse");
    }
    if (from.dynamism() != fb::Dynamism::Static && from.dynamism() != fb::Dynamism::Bounded) {
      return error(Code::kUnsupportedFeature, "program: a tensor has sizes without bounds");
    }
    to.dynamism = static_cast<PteDynamism>(from.dynamism());
    if (const fb::Allocation* a = from.allocation()) {
      to.storage = from.data_index() == 0 ? PteStorage::kPlanned : PteStorage::kState;
      to.memory_id = a->memory_id();
      to.offset = uint64_t{a->offset_high()} << 32 | a->offset_low();
      return ok();
    }
    if (const fb::TensorExtra* extra = from.extra();
        extra != nullptr && extra->place() == fb::TensorPlace::External) {
      to.storage = PteStorage::kExternal;
      return copy(extra->name(), to.name, "the name of an external tensor");
    }
    to.storage = from.data_index() == 0 ? PteStorage::kUnplanned : PteStorage::kConstant;
    to.constant = from.data_index() == 0 ? 0 : from.data_index() - 1;
    return ok();
  }

  template <typename List, typename From>
  Status read_list(const From* from, PteValue& to) {
    return copy(from->items(), to.emplace<List>().items, "the list of a value");
  }

  Status read_value(const fb::Value& from, PteValue& to) {
    TOSAIC_CHECK_OK(spend(32));
    if (from.kind_type() != fb::Kind::NONE && from.kind() == nullptr)
      return bad("a value has no content");
    switch (from.kind_type()) {
      case fb::Kind::Null:
        return ok();
      case fb::Kind::Int:
        to = from.kind_as_Int()->value();
        return ok();
      case fb::Kind::Bool:
        to = from.kind_as_Bool()->value();
        return ok();
      case fb::Kind::Double:
        to = from.kind_as_Double()->value();
        return ok();
      case fb::Kind::Tensor:
        return read_tensor(*from.kind_as_Tensor(), to.emplace<PteTensor>());
      case fb::Kind::String:
        return copy(from.kind_as_String()->value(), to.emplace<std::string>(), "a text");
      case fb::Kind::IntList:
        return read_list<PteIntList>(from.kind_as_IntList(), to);
      case fb::Kind::DoubleList:
        return read_list<PteDoubleList>(from.kind_as_DoubleList(), to);
      case fb::Kind::BoolList:
        return read_list<PteBoolList>(from.kind_as_BoolList(), to);
      case fb::Kind::TensorList:
        return read_list<PteTensorList>(from.kind_as_TensorList(), to);
      case fb::Kind::OptionalTensorList:
        return read_list<PteOptionalTensorList>(from.kind_as_OptionalTensorList(), to);
      case fb::Kind::NONE:
        break;
    }
    return bad("a value is of the unknown kind {}", static_cast<int>(from.kind_type()));
  }

  Status read_instruction(const fb::Instruction& from, PteInstruction& to) {
    TOSAIC_CHECK_OK(spend(16));
    if (from.action_type() != fb::Action::NONE && from.action() == nullptr) {
      return bad("an instruction has no content");
    }
    switch (from.action_type()) {
      case fb::Action::KernelCall: {
        auto& call = to.emplace<PteKernelCall>();
        call.op = from.action_as_KernelCall()->op_index();
        return copy(from.action_as_KernelCall()->args(), call.args, "the arguments of a call");
      }
      case fb::Action::DelegateCall: {
        auto& call = to.emplace<PteDelegateCall>();
        call.delegate = from.action_as_DelegateCall()->delegate_index();
        return copy(from.action_as_DelegateCall()->args(), call.args, "the arguments of a call");
      }
      case fb::Action::MoveCall:
        to = PteMoveCall{from.action_as_MoveCall()->from(), from.action_as_MoveCall()->to()};
        return ok();
      case fb::Action::JumpFalseCall:
        to = PteJumpFalseCall{from.action_as_JumpFalseCall()->condition(),
                              from.action_as_JumpFalseCall()->destination()};
        return ok();
      case fb::Action::FreeCall:
        to = PteFreeCall{from.action_as_FreeCall()->value()};
        return ok();
      case fb::Action::NONE:
        break;
    }
    return bad("an instruction is of the unknown kind {}", static_cast<int>(from.action_type()));
  }

  Status read_delegate(const fb::Delegate& from, PteDelegate& to) {
    TOSAIC_CHECK_OK(spend(32));
    TOSAIC_CHECK_OK(copy(from.id(), to.id, "the name of a delegate"));
    if (from.data() == nullptr) return bad("delegate '{:.60}' has no payload", to.id);
    if (from.data()->place() == fb::DataPlace::Segment) {
      TOSAIC_TRY(to.payload, segment(from.data()->index()));
    } else {
      const auto* all = root_.delegate_data();
      uint32_t index = from.data()->index();
      if (all == nullptr || index >= all->size() || all->Get(index)->bytes() == nullptr) {
        return bad("payload {} of delegate '{:.60}' does not exist", index, to.id);
      }
      const flatbuffers::Vector<uint8_t>* bytes = all->Get(index)->bytes();
      to.payload = std::as_bytes(std::span(bytes->data(), bytes->size()));
    }
    if (from.specs() == nullptr) return ok();
    for (const fb::CompileSpec* spec : *from.specs()) {
      TOSAIC_CHECK_OK(spend(16));
      PteCompileSpec& out = to.specs.emplace_back();
      TOSAIC_CHECK_OK(copy(spec->key(), out.key, "the key of a compile spec"));
      if (spec->value() == nullptr) continue;
      TOSAIC_CHECK_OK(spend(spec->value()->size()));
      auto bytes = std::as_bytes(std::span(spec->value()->data(), spec->value()->size()));
      out.value.assign(bytes.begin(), bytes.end());
    }
    return ok();
  }

  Status read_plan(const fb::Plan& from, PtePlan& to) {
    TOSAIC_CHECK_OK(spend(32));
    TOSAIC_CHECK_OK(copy(from.name(), to.name, "the name of a method"));
    if (from.values() == nullptr || from.chains() == nullptr || from.delegates() == nullptr) {
      return bad("method '{:.60}' lacks its values, chains or delegates", to.name);
    }
    for (const fb::Value* value : *from.values()) {
      TOSAIC_CHECK_OK(read_value(*value, to.values.emplace_back()));
    }
    TOSAIC_CHECK_OK(copy(from.inputs(), to.inputs, "the list of inputs"));
    TOSAIC_CHECK_OK(copy(from.outputs(), to.outputs, "the list of outputs"));
    TOSAIC_CHECK_OK(copy(from.buffer_sizes(), to.buffer_sizes, "the list of memory sizes"));
    if (from.operators() != nullptr) {
      for (const fb::Operator* op : *from.operators()) {
        TOSAIC_CHECK_OK(spend(16));
        PteOperator& out = to.operators.emplace_back();
        TOSAIC_CHECK_OK(copy(op->name(), out.name, "the name of an operator"));
        if (op->overload() != nullptr)
          TOSAIC_CHECK_OK(copy(op->overload(), out.overload, "an overload"));
      }
    }
    for (const fb::Delegate* delegate : *from.delegates()) {
      TOSAIC_CHECK_OK(read_delegate(*delegate, to.delegates.emplace_back()));
    }
    if (from.chains()->size() != 1) {
      return error(Code::kUnsupportedFeature,
                   "program: method '{:.60}' has {} chains instead of one", to.name,
                   from.chains()->size());
    }
    const fb::Chain* chain = from.chains()->Get(0);
    if (chain->instructions() == nullptr)
      return bad("method '{:.60}' has no instructions", to.name);
    for (const fb::Instruction* instruction : *chain->instructions()) {
      PteInstruction out;
      TOSAIC_CHECK_OK(read_instruction(*instruction, out));
      to.instructions.push_back(std::move(out));
    }
    return ok();
  }

  const fb::Program& root_;
  std::span<const std::byte> segments_;
  uint64_t budget_;
  PteProgram out_;
};

}  // namespace

Expected<PteProgram> read_pte(std::span<const std::byte> bytes) {
  TOSAIC_TRY(File file, split(bytes));
  if (file.program.size() > FLATBUFFERS_MAX_BUFFER_SIZE)
    return bad("its flatbuffer is larger than 2 GB");
  const auto* data = reinterpret_cast<const uint8_t*>(file.program.data());
  flatbuffers::Verifier verifier(data, file.program.size());
  if (!fb::VerifyProgramBuffer(verifier)) return bad("the flatbuffer is damaged");
  return Reader(*fb::GetProgram(data), file).read();
}

}  // namespace tosaic

// SPDX-License-Identifier: Apache-2.0
#include "support/mapped_file.h"

#include <sys/mman.h>

#include <cerrno>

#include "support/regular_file.h"
#include "support/signal_cleanup.h"

namespace tosaic {

Expected<std::shared_ptr<const MappedFile>> MappedFile::open(const std::string& path) {
  TOSAIC_TRY(const RegularFile file, open_regular_file(path));
  std::shared_ptr<MappedFile> mapped(new MappedFile);
  mapped->path_ = path;
  if (file.num_bytes > 0) {  // nothing of length 0 can be mapped
    void* data = ::mmap(nullptr, file.num_bytes, PROT_READ, MAP_PRIVATE, file.descriptor.number(),
                        /*offset=*/0);
    if (data == MAP_FAILED) {
      return error(Code::kFileOpen, "cannot map the file: {}", system_message(errno)).at({path});
    }
    mapped->data_ = static_cast<const std::byte*>(data);
    mapped->num_bytes_ = file.num_bytes;
    mapped->record_ = std::make_unique<MappingRecord>(data, file.num_bytes, mapped->path_.c_str());
  }
  return std::shared_ptr<const MappedFile>(std::move(mapped));
}

MappedFile::MappedFile() = default;

MappedFile::~MappedFile() {
  record_.reset();
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), num_bytes_);
}

}  // namespace tosaic

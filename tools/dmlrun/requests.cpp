// SPDX-License-Identifier: MIT
#include "requests.h"

#include <algorithm>

#include "files.h"
#include "resource_reader.h"
#include "text/format.h"
#include "value_words.h"

namespace anydml::dmlrun {
namespace {

class Applier {
 public:
  Applier(const Requests& requests, Model& model, Problems& problems)
      : requests_(requests), model_(model), problems_(problems) {}

  void apply() {
    for (const std::string& text : requests_.inputs) {
      replace(text);
    }
    for (const std::string& text : requests_.expected) {
      expect(text);
    }
    for (const std::string& text : requests_.outputs) {
      write(text);
    }
  }

 private:
  struct Named {
    std::string option;  // "--input A", for messages
    std::size_t resource;
    std::string text;
  };

  std::optional<Named> find(std::string_view option, const std::string& text) {
    const auto split = split_name(text);
    if (!split) {
      problems_.add(std::string(option), format_text("is {}; expected the name of a resource, = and {}",
                                                     in_quotes(text), option == "--output" ? "a file" : "values"));
      return std::nullopt;
    }
    const auto found = std::ranges::find(model_.resources, split->name, &Resource::name);
    if (found == model_.resources.end()) {
      std::vector<std::string_view> names;
      for (const Resource& resource : model_.resources) {
        names.push_back(resource.name);
      }
      problems_.add(std::string(option), format_text("{} is not a resource of this model{}", in_quotes(split->name),
                                                     suggestion(split->name, names)));
      return std::nullopt;
    }
    if (found->bytes == 0) {
      return std::nullopt;  // it could not be read
    }
    return Named{format_text("{} {}", option, split->name), static_cast<std::size_t>(found - model_.resources.begin()),
                 split->text};
  }

  // Reads values that have the type and length of a resource.
  std::optional<Resource> read_like(const Named& named) {
    const Resource& like = model_.resources[named.resource];
    const auto fail = [&](std::string reason) {
      problems_.add(named.option, std::move(reason));
      return std::nullopt;
    };
    // Each resource gets different random values.
    const auto values = initial_values(named.text, like.shown_elements(), requests_.seed + named.resource);
    if (!values) {
      return fail(values.error().message);
    }
    const auto document = JsonDocument::parse(format_text(
        "{{\"initialValuesDataType\": \"{}\", \"initialValues\": {}}}", type_name(like.shown_type()), values.value()));
    if (!document) {
      return fail(document.error().message);
    }
    Problems found;
    Resource resource = read_resource(Cursor(document.value().root(), found), like.name, kAnywhere);
    if (!found.none()) {
      return fail(found.list().front().reason);
    }
    if (resource.value_bytes != like.value_bytes) {
      return fail(format_text("{} has {} elements; expected {}, which {} has", in_quotes(named.text),
                              resource.shown_elements(), like.shown_elements(), in_quotes(like.name)));
    }
    const auto* list = std::get_if<std::vector<std::byte>>(&resource.values);
    take(named.option, MemoryBudget::For::values, list == nullptr ? 0 : list->size());
    return resource;
  }

  void take(const std::string& path, MemoryBudget::For what, std::uint64_t bytes) {
    (void)model_.memory.take(what, bytes, [&](std::string sentence) { problems_.add(path, std::move(sentence)); });
  }

  void replace(const std::string& text) {
    const auto named = find("--input", text);
    auto read = named ? read_like(*named) : std::nullopt;
    if (read) {
      model_.resources[named->resource].values = std::move(read->values);
    }
  }

  void expect(const std::string& text) {
    const auto named = find("--expect", text);
    auto read = named ? read_like(*named) : std::nullopt;
    if (!read) {
      return;
    }
    read->bytes = model_.resources[named->resource].bytes;
    read->name = format_text("expected {}", read->name);
    take(named->option, MemoryBudget::For::buffers, MemoryBudget::of_buffer(read->bytes));
    take(named->option, MemoryBudget::For::model, MemoryBudget::kPerResource + MemoryBudget::kPerCommand);
    model_.commands.push_back(
        {named->option, CompareCommand{named->resource, model_.resources.size(), requests_.tolerance}});
    model_.resources.push_back(std::move(*read));
  }

  // The sizes of the tensor that a dispatch writes to the resource; empty if the tensor does not cover the whole
  // resource.
  [[nodiscard]] std::vector<std::uint64_t> sizes_of(std::size_t resource) const {
    for (const Command& command : model_.commands) {
      const auto* dispatch = std::get_if<DispatchCommand>(&command.what);
      for (const Binding& binding : dispatch == nullptr ? std::vector<Binding>() : dispatch->bindings) {
        const Port& port = model_.dispatchables[dispatch->dispatchable].ports[binding.port];
        for (std::size_t i = 0; port.is_output && i < binding.sources.size() && i < port.tensors.size(); ++i) {
          const auto& sizes = port.tensors[i].sizes;
          std::uint64_t elements = 1;
          for (const std::uint32_t size : sizes) {
            elements *= size;
          }
          if (binding.sources[i].resource == resource && elements == model_.resources[resource].shown_elements()) {
            return {sizes.begin(), sizes.end()};
          }
        }
      }
    }
    return {};
  }

  void write(const std::string& text) {
    const auto named = find("--output", text);
    if (!named) {
      return;
    }
    const auto path = find_output(kAnywhere, named->text);
    if (!path) {
      problems_.add(named->option, path.error().message);
      return;
    }
    if (has_image_extension(named->text)) {
      problems_.add(named->option, format_text("{} is an image, which is not supported; expected .npy or raw bytes",
                                               in_quotes(named->text)));
      return;
    }
    take(named->option, MemoryBudget::For::model, MemoryBudget::kPerCommand);
    model_.commands.push_back(
        {named->option, WriteFileCommand{named->resource, path.value(), named->text, sizes_of(named->resource)}});
  }

  const Requests& requests_;
  Model& model_;
  Problems& problems_;
};

}  // namespace

void apply_requests(const Requests& requests, Model& model, Problems& problems) {
  Applier(requests, model, problems).apply();
}

}  // namespace anydml::dmlrun

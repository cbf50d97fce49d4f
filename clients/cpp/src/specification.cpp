#include "vidscore/specification.h"

#include "checks.h"
#include "decoding.h"
#include "encoding.h"
#include "failing.h"

namespace vidscore::detail {
namespace {

/// A text that a message can hold.
const std::string& valid(const char* name, const std::string& text) {
  check_text(name, text);
  return text;
}

struct SetValue {
  wire::Parameter* parameter;

  void operator()(bool value) const { parameter->set_boolean(value); }
  void operator()(std::int64_t value) const { parameter->set_integer(value); }
  void operator()(double value) const { parameter->set_number(value); }
  void operator()(const std::string& value) const {
    parameter->set_text(valid("parameter", value));
  }
  void operator()(const std::vector<double>& values) const {
    *parameter->mutable_numbers()->mutable_values() = {values.begin(), values.end()};
  }
  void operator()(const std::vector<std::string>& values) const {
    for (const std::string& value : values) {
      parameter->mutable_texts()->add_values(valid("parameter", value));
    }
  }
};

template <typename Ranges>
void encode_ranges(const std::vector<FrameRange>& ranges, Ranges* messages) {
  for (const FrameRange& range : ranges) {
    wire::FrameRange* message = messages->Add();
    message->set_first(range.first);
    message->set_last(range.last);
  }
}

template <typename Ranges>
std::vector<FrameRange> decode_ranges(const Ranges& messages) {
  std::vector<FrameRange> ranges;
  for (const wire::FrameRange& message : messages) {
    ranges.push_back({message.first(), message.last()});
  }
  return ranges;
}

void encode_evaluator(const Evaluator& evaluator, wire::EvaluatorSpec* message) {
  message->set_name(valid("evaluator", evaluator.name));
  for (const auto& [name, value] : evaluator.parameters) {
    wire::Parameter* parameter = message->add_parameters();
    parameter->set_name(valid("parameter", name));
    std::visit(SetValue{parameter}, value);
  }
}

using Classes = std::optional<std::vector<std::string>>;

/// Sets the classes of a domain or a specification.
template <typename Message>
void encode_classes(const Classes& names, Message* message) {
  if (!names) return;
  wire::ClassList* classes = message->mutable_classes();  // an empty list is one, too
  for (const std::string& name : *names) classes->add_names(valid("classes", name));
}

template <typename Message>
Classes decode_classes(const Message& message) {
  if (!message.has_classes()) return std::nullopt;
  const auto& names = message.classes().names();
  return std::vector<std::string>(names.begin(), names.end());
}

void encode_domain(const Domain& domain, wire::DomainSpec* message) {
  message->set_name(valid("domain", domain.name));
  encode_classes(domain.classes, message);
}

void encode_sequence(const Sequence& sequence, wire::SequenceSpec* message) {
  message->set_domain(valid("domain", sequence.domain));
  message->set_name(valid("sequence", sequence.name));
  if (sequence.frame_count) message->set_frame_count(*sequence.frame_count);
  message->set_first_frame(sequence.first_frame);
  if (sequence.frames) encode_ranges(*sequence.frames, message->mutable_frames()->mutable_ranges());
  encode_ranges(sequence.dont_care_frames, message->mutable_dont_care_frames());
  if (sequence.image_width) message->set_image_width(*sequence.image_width);
  if (sequence.image_height) message->set_image_height(*sequence.image_height);
}

Domain decode_domain(const wire::DomainSpec& message) {
  return {message.name(), decode_classes(message)};
}

Sequence decode_sequence(const wire::SequenceSpec& message) {
  Sequence sequence;
  sequence.domain = message.domain();
  sequence.name = message.name();
  if (message.has_frame_count()) sequence.frame_count = message.frame_count();
  sequence.first_frame = message.first_frame();
  if (message.has_frames()) sequence.frames = decode_ranges(message.frames().ranges());
  sequence.dont_care_frames = decode_ranges(message.dont_care_frames());
  if (message.has_image_width()) sequence.image_width = message.image_width();
  if (message.has_image_height()) sequence.image_height = message.image_height();
  return sequence;
}

/// The value of a parameter; nullopt for one of a type that this client does not know.
std::optional<ParameterValue> decode_value(const wire::Parameter& message) {
  switch (message.value_case()) {
    case wire::Parameter::kBoolean:
      return message.boolean();
    case wire::Parameter::kInteger:
      return static_cast<std::int64_t>(message.integer());
    case wire::Parameter::kNumber:
      return message.number();
    case wire::Parameter::kText:
      return message.text();
    case wire::Parameter::kNumbers: {
      const auto& values = message.numbers().values();
      return std::vector<double>(values.begin(), values.end());
    }
    case wire::Parameter::kTexts: {
      const auto& values = message.texts().values();
      return std::vector<std::string>(values.begin(), values.end());
    }
    case wire::Parameter::VALUE_NOT_SET:
      break;
  }
  return std::nullopt;
}

}  // namespace

void encode_specification(const Specification& specification, const std::vector<Evaluator>& chosen,
                          wire::BenchmarkSpec* message) {
  const std::vector<Evaluator>& evaluators = chosen.empty() ? specification.evaluators : chosen;
  if (evaluators.empty()) refuse("evaluators", "none", "at least one name");
  message->set_title(valid("title", specification.title));
  for (const Evaluator& evaluator : evaluators) {
    encode_evaluator(evaluator, message->add_evaluators());
  }
  for (const Domain& domain : specification.domains) encode_domain(domain, message->add_domains());
  for (const Sequence& sequence : specification.sequences) {
    encode_sequence(sequence, message->add_sequences());
  }
  encode_classes(specification.classes, message);
}

Specification decode_specification(const wire::BenchmarkSpec& message) {
  Specification specification;
  specification.title = message.title();
  for (const wire::EvaluatorSpec& evaluator : message.evaluators()) {
    specification.evaluators.emplace_back(evaluator.name(),
                                          decode_parameters(evaluator.parameters()));
  }
  for (const wire::DomainSpec& domain : message.domains()) {
    specification.domains.push_back(decode_domain(domain));
  }
  for (const wire::SequenceSpec& sequence : message.sequences()) {
    specification.sequences.push_back(decode_sequence(sequence));
  }
  specification.classes = decode_classes(message);
  return specification;
}

Parameters decode_parameters(const google::protobuf::RepeatedPtrField<wire::Parameter>& messages) {
  Parameters parameters;
  for (const wire::Parameter& message : messages) {
    if (auto value = decode_value(message))
      parameters.emplace_back(message.name(), *std::move(value));
  }
  return parameters;
}

}  // namespace vidscore::detail

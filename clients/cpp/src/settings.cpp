#include "vidscore/settings.h"

#include <array>
#include <cstdio>
#include <string>

#include "checks.h"
#include "clock.h"
#include "failing.h"

namespace vidscore::detail {
namespace {

void check_at_least_1(const char* name, std::size_t value) {
  if (value < 1) refuse(name, std::to_string(value), "at least 1");
}

void check_not_negative(const char* name, Duration time) {
  if (time < Duration::zero()) refuse(name, show(time), "0 or more");
}

/// Bytes of the character that a byte of UTF-8 begins; 0 if it begins none.
std::size_t character_length(unsigned char first) {
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  return first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

/// Whether the second byte of a character is valid: overlong forms, halves of surrogate pairs and
/// code points beyond U+10FFFF are not UTF-8.
bool may_follow(unsigned char first, unsigned char second) {
  if (first == 0xE0) return second >= 0xA0;
  if (first == 0xED) return second < 0xA0;
  if (first == 0xF0) return second >= 0x90;
  if (first == 0xF4) return second < 0x90;
  return true;
}

bool is_utf8(const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = [&](std::size_t index) { return static_cast<unsigned char>(text[index]); };
    const std::size_t length = character_length(byte(at));
    if (length == 0 || length > text.size() - at) return false;
    for (std::size_t next = at + 1; next < at + length; ++next) {
      if (byte(next) < 0x80 || byte(next) > 0xBF) return false;
    }
    if (length > 1 && !may_follow(byte(at), byte(at + 1))) return false;
    at += length;
  }
  return true;
}

/// Any bytes as ASCII text in quotes, cut if it is long.
std::string escaped(const std::string& text) {
  std::string shown;
  for (const char sign : text.substr(0, 80)) {
    const auto byte = static_cast<unsigned char>(sign);
    if (byte >= ' ' && byte <= '~') {
      shown += sign;
    } else {
      std::array<char, 5> code{};
      std::snprintf(code.data(), code.size(), "\\x%02x", byte);
      shown += code.data();
    }
  }
  return quoted(shown);
}

}  // namespace

void check(const Batching& batching) {
  check_at_least_1("batch_frames", batching.batch_frames);
  check_at_least_1("batch_bytes", batching.batch_bytes);
  check_at_least_1("queue_frames", batching.queue_frames);
  check_at_least_1("queue_bytes", batching.queue_bytes);
  check_not_negative("batch_interval", batching.batch_interval);
  if (batching.block_timeout) check_not_negative("block_timeout", *batching.block_timeout);
}

void check(const Live& live) {
  if (live.every_frames < 0) {
    refuse("every_frames", std::to_string(live.every_frames), "0 or more");
  }
  if (live.every) check_not_negative("every", *live.every);
  if (live.every_frames == 0 && !live.every) {
    refuse("live", "no interval", "every_frames or every");
  }
  check_at_least_1("keep_reports", live.keep_reports);
}

void check(const Keepalive& keepalive) {
  if (keepalive.interval < std::chrono::seconds(10)) {
    refuse("interval", show(keepalive.interval), "at least 10 s");
  }
  check_positive("timeout", keepalive.timeout);
}

void check(const Retry& retry) {
  check_positive("initial", retry.initial);
  if (retry.maximum < retry.initial) refuse("maximum", show(retry.maximum), "initial or more");
  if (retry.give_up_after) check_not_negative("give_up_after", *retry.give_up_after);
}

void check(const Delivery& delivery) {
  check_at_least_1("window_frames", delivery.window_frames);
  check_at_least_1("window_bytes", delivery.window_bytes);
  check_positive("acknowledge_timeout", delivery.acknowledge_timeout);
  check_not_negative("close_timeout", delivery.close_timeout);
  check(delivery.retry);
}

void check_positive(const char* name, Duration time) {
  if (time <= Duration::zero()) refuse(name, show(time), "more than 0 s");
}

void check_text(const char* name, const std::string& text) {
  if (!is_utf8(text)) refuse(name, escaped(text), "UTF-8 text");
}

void check(const Frame& frame, Geometry geometry) {
  check_text("domain", frame.domain);
  check_text("sequence", frame.sequence);
  for (const Object& object : frame.objects) {
    check_text("label", object.label);
    if (object.coordinate_count != arity(geometry)) {
      refuse("coordinates", counted(object.coordinate_count, "coordinate") + " per object",
             std::to_string(arity(geometry)) + ", because the stream has objects of shape " +
                 to_string(geometry));
    }
  }
}

}  // namespace vidscore::detail

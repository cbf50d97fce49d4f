#include "vidscore/settings.h"

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

void check(const Frame& frame, Geometry geometry) {
  for (const Object& object : frame.objects) {
    if (object.coordinate_count != arity(geometry)) {
      refuse("coordinates", std::to_string(object.coordinate_count) + " coordinates an object",
             std::to_string(arity(geometry)) + ", as the stream has objects of shape " +
                 to_string(geometry));
    }
  }
}

}  // namespace vidscore::detail

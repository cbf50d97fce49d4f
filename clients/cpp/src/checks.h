// Checks of settings before anything is sent.

#pragma once

#include <string>

#include "vidscore/frames.h"
#include "vidscore/settings.h"

namespace vidscore::detail {

/// Refuse numbers with which nothing could ever be sent.
void check(const Batching& batching);

/// Refuse settings without any reports.
void check(const Live& live);

/// Refuse pings that a server takes for an attack, and invalid times.
void check(const Keepalive& keepalive);

/// Refuse invalid times.
void check(const Retry& retry);

/// Refuse numbers with which nothing could ever be delivered.
void check(const Delivery& delivery);

/// Refuse an invalid time.
void check_positive(const char* name, Duration time);

/// Refuse a text that is not UTF-8, which no message can hold.
void check_text(const char* name, const std::string& text);

/// Refuse objects whose shape differs from that of the stream, and invalid names.
void check(const Frame& frame, Geometry geometry);

}  // namespace vidscore::detail

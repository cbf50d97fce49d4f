// What of settings is refused before anything is sent.

#pragma once

#include <string>

#include "vidscore/frames.h"
#include "vidscore/settings.h"

namespace vidscore::detail {

/// Refuse numbers with which nothing would ever be sent.
void check(const Batching& batching);

/// Refuse settings with which no report would ever come.
void check(const Live& live);

/// Refuse questions that a server takes for an attack, and times that are none.
void check(const Keepalive& keepalive);

/// Refuse times that are none.
void check(const Retry& retry);

/// Refuse numbers with which nothing would ever be delivered.
void check(const Delivery& delivery);

/// Refuse a time that is none.
void check_positive(const char* name, Duration time);

/// Refuse a text that is not UTF-8, which no message can hold.
void check_text(const char* name, const std::string& text);

/// Refuse objects of another shape than a stream was opened for, and names that are no text.
void check(const Frame& frame, Geometry geometry);

}  // namespace vidscore::detail

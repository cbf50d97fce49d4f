// How errors are made and thrown.

#pragma once

#include <cstdint>
#include <string>

#include "vidscore/errors.h"

namespace vidscore::detail {

/// Throw an error as the exception of its kind.
[[noreturn]] void raise(const Error& error);

/// An error that was found on this side.
Error local_error(ErrorKind kind, std::string message, std::string reason = "");

/// An error of this client instead of a status of the server, by the name of its code.
Error coded_error(ErrorKind kind, std::string code, std::string message, std::string reason = "");

/// Throw InputError.
[[noreturn]] void refuse(const std::string& argument, const std::string& found,
                         const std::string& expected);

/// A number with its noun: 1 frame, 2 frames.
std::string counted(std::uint64_t count, const char* noun);

/// A text in quotes, cut if it is long.
std::string quoted(const std::string& text);

}  // namespace vidscore::detail

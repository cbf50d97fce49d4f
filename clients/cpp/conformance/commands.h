// The commands: each does one thing through the client, and returns the result.

#pragma once

#include "arguments.h"
#include "documents.h"

/// Run the command of the command line.
Json run(const Arguments& arguments);

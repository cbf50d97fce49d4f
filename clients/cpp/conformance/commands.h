// The commands: each does one thing through the client, and says what came of it.

#pragma once

#include "arguments.h"
#include "documents.h"

/// Do what the command line says.
Json run(const Arguments& arguments);

/* What tells one state of the sources from another; the build gives the number. */

#include <stdint.h>

int64_t sources_digest(void) { return SOURCES_DIGEST; }

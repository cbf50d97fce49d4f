// The conformance runner of the C++ client: runs one command, and prints the result as the last
// line of standard output.

#include <iostream>

#include "commands.h"

namespace {

/// Exit code of a wrong command line.
constexpr int kMisused = 2;
/// Exit code if the client failed with its own error.
constexpr int kRefused = 3;

}  // namespace

int main(int count, char** words) {
  try {
    std::cout << run(Arguments(count, words)).dump() << std::endl;
    return 0;
  } catch (const vidscore::Error& error) {
    std::cout << document_of(error).dump() << std::endl;
    return kRefused;
  } catch (const Misuse& misuse) {
    std::cerr << "runner: " << misuse.what() << std::endl;
    return kMisused;
  }
}

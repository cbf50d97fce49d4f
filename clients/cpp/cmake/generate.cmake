# Messages and calls of the wire, generated from protos/ when the library is built.
#
# One long-running call of BenchmarkService answers with a message of Google's that the client never
# uses. A program may have code of its own for that message, and protobuf ends a process in which a
# file is registered twice; so what is generated leaves that call out.

set(VIDSCORE_WARNINGS -Wall -Wextra -Wpedantic -Wshadow)
set(VIDSCORE_WIRE_DIRECTORY ${PROJECT_BINARY_DIR}/wire)
set(proto_directory ${PROJECT_BINARY_DIR}/protos)

set(messages annotations report specification)
set(services benchmark_service evaluator_service scoring_service submission_service)

foreach(name IN LISTS messages services)
  set(source ${PROJECT_SOURCE_DIR}/protos/vidscore/v1/${name}.proto)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
  file(READ ${source} text)
  string(REPLACE "import \"google/longrunning/operations.proto\";\n" "" text "${text}")
  string(REGEX REPLACE "\n  rpc [A-Za-z]+\\([A-Za-z]+\\) returns \\(google\\.longrunning\\.Operation\\) {[^}]*}[^}]*}" ""
    text "${text}")
  file(CONFIGURE OUTPUT ${proto_directory}/vidscore/v1/${name}.proto CONTENT "${text}" @ONLY)
endforeach()

set(generated)
foreach(name IN LISTS messages services)
  set(outputs ${VIDSCORE_WIRE_DIRECTORY}/vidscore/v1/${name}.pb.cc)
  set(arguments --cpp_out=${VIDSCORE_WIRE_DIRECTORY})
  if(name IN_LIST services)
    list(APPEND outputs ${VIDSCORE_WIRE_DIRECTORY}/vidscore/v1/${name}.grpc.pb.cc)
    list(APPEND arguments
      --grpc_out=${VIDSCORE_WIRE_DIRECTORY}
      --plugin=protoc-gen-grpc=$<TARGET_FILE:gRPC::grpc_cpp_plugin>)
  endif()
  add_custom_command(
    OUTPUT ${outputs}
    COMMAND protobuf::protoc --proto_path=${proto_directory} ${arguments} vidscore/v1/${name}.proto
    DEPENDS ${proto_directory}/vidscore/v1/${name}.proto
    VERBATIM)
  list(APPEND generated ${outputs})
endforeach()
file(MAKE_DIRECTORY ${VIDSCORE_WIRE_DIRECTORY})

add_library(vidscore_wire OBJECT ${generated})
target_compile_features(vidscore_wire PUBLIC cxx_std_17)
target_include_directories(vidscore_wire SYSTEM PUBLIC ${VIDSCORE_WIRE_DIRECTORY})
target_link_libraries(vidscore_wire PUBLIC gRPC::grpc++ protobuf::libprotobuf)
# Most of the time goes into the optimiser, and none of it pays off here.
target_compile_options(vidscore_wire PRIVATE -O1 -g0)
set_target_properties(vidscore_wire PROPERTIES POSITION_INDEPENDENT_CODE ON)

# The code of messages and calls, generated from the repository's protos when the library is built.

set(VIDSCORE_WARNINGS -Wall -Wextra -Wpedantic -Wshadow)
set(VIDSCORE_WIRE_DIRECTORY ${PROJECT_BINARY_DIR}/wire)
set(VIDSCORE_PROTOS ${PROJECT_SOURCE_DIR}/../../protos CACHE PATH "The protos of vidscore")

# The services that the client calls, and the protos that they import.
set(services benchmark_service evaluator_service scoring_service server_service
  submission_service)
set(messages annotations backup benchmark organiser outcomes report specification token)
set(sources ${services} ${messages})
list(TRANSFORM sources PREPEND ${VIDSCORE_PROTOS}/vidscore/v1/)
list(TRANSFORM sources APPEND .proto)

set(generated)
foreach(name IN LISTS services messages)
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
    COMMAND protobuf::protoc --proto_path=${VIDSCORE_PROTOS} ${arguments} vidscore/v1/${name}.proto
    DEPENDS ${sources}
    VERBATIM)
  list(APPEND generated ${outputs})
endforeach()
file(MAKE_DIRECTORY ${VIDSCORE_WIRE_DIRECTORY})

add_library(vidscore_wire OBJECT ${generated})
target_compile_features(vidscore_wire PUBLIC cxx_std_17)
target_include_directories(vidscore_wire SYSTEM PUBLIC ${VIDSCORE_WIRE_DIRECTORY})
target_link_libraries(vidscore_wire PUBLIC gRPC::grpc++ protobuf::libprotobuf)
# Optimisation would take most of the build time without a benefit.
target_compile_options(vidscore_wire PRIVATE -O1 -g0)
set_target_properties(vidscore_wire PROPERTIES POSITION_INDEPENDENT_CODE ON)

# Messages and calls of the wire, generated when the library is built from the protos of the
# repository around it.
#
# Some long-running calls answer with a message of Google's that the client never uses. A program may
# have code of its own for that message, and protobuf ends a process in which a file is registered
# twice; so what is generated leaves those calls out.

set(VIDSCORE_WARNINGS -Wall -Wextra -Wpedantic -Wshadow)
set(VIDSCORE_WIRE_DIRECTORY ${PROJECT_BINARY_DIR}/wire)
set(VIDSCORE_PROTOS ${PROJECT_SOURCE_DIR}/../../protos CACHE PATH "The protos of vidscore")
set(proto_directory ${PROJECT_BINARY_DIR}/protos)

# Services that the client calls.
set(services benchmark_service evaluator_service scoring_service server_service
  submission_service)

set(long_running_call
  "\n  rpc [A-Za-z]+\\([A-Za-z]+\\) returns \\(google\\.longrunning\\.Operation\\) {[^}]*}[^}]*}")
file(GLOB sources CONFIGURE_DEPENDS ${VIDSCORE_PROTOS}/vidscore/v1/*.proto)
set(copies)
set(names)
foreach(source IN LISTS sources)
  get_filename_component(name ${source} NAME_WE)
  set(copy ${proto_directory}/vidscore/v1/${name}.proto)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
  file(READ ${source} text)
  string(REPLACE "import \"google/longrunning/operations.proto\";\n" "" text "${text}")
  string(REGEX REPLACE "${long_running_call}" "" text "${text}")
  file(CONFIGURE OUTPUT ${copy} CONTENT "${text}" @ONLY)
  list(APPEND copies ${copy})
  list(APPEND names ${name})
endforeach()

set(generated)
foreach(name IN LISTS names)
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
    DEPENDS ${copies}
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

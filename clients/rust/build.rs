//! Generates the messages and calls of the wire from `protos/`, without any system tool.

use std::path::PathBuf;

use protox::file::{
    ChainFileResolver, File, FileResolver, GoogleFileResolver, IncludeFileResolver,
};
use protox::Compiler;

const PROTOS: &str = "protos";
const SERVICES: [&str; 5] = [
    "vidscore/v1/benchmark_service.proto",
    "vidscore/v1/evaluator_service.proto",
    "vidscore/v1/scoring_service.proto",
    "vidscore/v1/server_service.proto",
    "vidscore/v1/submission_service.proto",
];

/// Name under which `benchmark_service.proto` imports what its one long-running call answers.
const OPERATIONS: &str = "google/longrunning/operations.proto";

/// What that import has to declare for the file to compile. This crate never makes the call, so
/// nothing needs to stand in the message.
const OPERATIONS_OUTLINE: &str = r#"
    syntax = "proto3";
    package google.longrunning;
    import "google/protobuf/descriptor.proto";
    extend google.protobuf.MethodOptions { OperationInfo operation_info = 1049; }
    message OperationInfo { string response_type = 1; string metadata_type = 2; }
    message Operation {}
"#;

struct OutlineResolver;

impl FileResolver for OutlineResolver {
    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        match name {
            OPERATIONS => File::from_source(name, OPERATIONS_OUTLINE),
            _ => Err(protox::Error::file_not_found(name)),
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed={PROTOS}");
    let mut resolver = ChainFileResolver::new();
    resolver.add(IncludeFileResolver::new(PathBuf::from(PROTOS)));
    resolver.add(OutlineResolver);
    resolver.add(GoogleFileResolver::new());
    let mut compiler = Compiler::with_file_resolver(resolver);
    compiler.include_imports(true).include_source_info(true);
    compiler.open_files(SERVICES)?;
    tonic_prost_build::configure()
        .server_mod_attribute(".", "#[cfg(test)]")
        .include_file("wire.rs")
        .compile_fds(compiler.file_descriptor_set())?;
    Ok(())
}

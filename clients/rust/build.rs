//! Generates the messages and calls of the wire, without any system tool.

use std::path::Path;

use protox::file::{
    ChainFileResolver, File, FileResolver, GoogleFileResolver, IncludeFileResolver,
};
use protox::Compiler;

/// The protos of a package lie in it; those of a checkout are the repository's.
const PROTOS: [&str; 2] = ["protos", "../../protos"];
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
    let protos = PROTOS.map(Path::new).into_iter().find(|folder| folder.is_dir());
    let protos = protos.ok_or("no protos, neither in the package nor in the repository around it")?;
    println!("cargo:rerun-if-changed={}", protos.display());
    let mut resolver = ChainFileResolver::new();
    resolver.add(IncludeFileResolver::new(protos.to_owned()));
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

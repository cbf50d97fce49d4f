//! Generates the code of messages and calls, without any system tool.

use std::path::Path;

use protox::file::{ChainFileResolver, GoogleFileResolver, IncludeFileResolver};
use protox::Compiler;

/// Folder of the protos: in a package its own, in a checkout that of the repository.
const PROTOS: [&str; 2] = ["protos", "../../protos"];
/// The services that the client calls.
const SERVICES: [&str; 5] = [
    "vidscore/v1/benchmark_service.proto",
    "vidscore/v1/evaluator_service.proto",
    "vidscore/v1/scoring_service.proto",
    "vidscore/v1/server_service.proto",
    "vidscore/v1/submission_service.proto",
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let protos = PROTOS
        .map(Path::new)
        .into_iter()
        .find(|folder| folder.is_dir());
    let protos =
        protos.ok_or("no protos, neither in the package nor in the repository around it")?;
    println!("cargo:rerun-if-changed={}", protos.display());
    let mut resolver = ChainFileResolver::new();
    resolver.add(IncludeFileResolver::new(protos.to_owned()));
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

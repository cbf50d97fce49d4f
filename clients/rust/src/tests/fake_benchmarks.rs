//! A benchmark service that knows one benchmark and its board, and no other call.

use std::future::Future;
use std::pin::Pin;

use tonic::{Code, Request, Response, Status, Streaming};

use super::fake_submissions::refusal;
use crate::wire::vidscore::v1 as wire;
use wire::benchmark_service_server::BenchmarkService;

pub(super) struct Benchmarks;

/// Calls as `async_trait` writes them, which does not look into macros.
macro_rules! not_made {
    ($($call:ident($request:ty) -> $response:ty;)*) => { $(
        fn $call<'life0, 'async_trait>(
            &'life0 self,
            _: Request<$request>,
        ) -> Pin<
            Box<dyn Future<Output = Result<Response<$response>, Status>> + Send + 'async_trait>,
        >
        where
            'life0: 'async_trait,
            Self: 'async_trait,
        {
            Box::pin(async { Err(Status::unimplemented(stringify!($call))) })
        }
    )* };
}

#[tonic::async_trait]
impl BenchmarkService for Benchmarks {
    async fn get_benchmark(
        &self,
        request: Request<wire::GetBenchmarkRequest>,
    ) -> Result<Response<wire::GetBenchmarkResponse>, Status> {
        let name = request.into_inner().name;
        let detection_geometry = match name.as_str() {
            "benchmarks/streets" => wire::Geometry::Box,
            "benchmarks/early" => wire::Geometry::Unspecified,
            _ => return Err(refusal(Code::NotFound, "NOT_FOUND")),
        };
        let benchmark = wire::Benchmark {
            name,
            detection_geometry: detection_geometry as i32,
            ..wire::Benchmark::default()
        };
        Ok(Response::new(wire::GetBenchmarkResponse {
            benchmark: Some(benchmark),
            ..wire::GetBenchmarkResponse::default()
        }))
    }

    /// Two pages of one row, of which the first has no value.
    async fn get_leaderboard(
        &self,
        request: Request<wire::GetLeaderboardRequest>,
    ) -> Result<Response<wire::GetLeaderboardResponse>, Status> {
        let second = !request.get_ref().page_token.is_empty();
        let score = wire::LeaderboardScore {
            measure: "f1".to_owned(),
            value: second.then_some(0.5),
        };
        let row = wire::LeaderboardRow {
            rank: if second { 2 } else { 1 },
            scores: vec![score],
            ..wire::LeaderboardRow::default()
        };
        Ok(Response::new(wire::GetLeaderboardResponse {
            rows: vec![row],
            ranking: vec!["f1".to_owned()],
            next_page_token: if second {
                String::new()
            } else {
                "second".to_owned()
            },
            ..wire::GetLeaderboardResponse::default()
        }))
    }

    type ReadTruthStream = futures_util::stream::Empty<Result<wire::ReadTruthResponse, Status>>;

    async fn read_truth(
        &self,
        _: Request<wire::ReadTruthRequest>,
    ) -> Result<Response<Self::ReadTruthStream>, Status> {
        Err(Status::unimplemented("read_truth"))
    }

    not_made! {
        create_benchmark(wire::CreateBenchmarkRequest) -> wire::CreateBenchmarkResponse;
        list_benchmarks(wire::ListBenchmarksRequest) -> wire::ListBenchmarksResponse;
        update_benchmark(wire::UpdateBenchmarkRequest) -> wire::UpdateBenchmarkResponse;
        delete_benchmark(wire::DeleteBenchmarkRequest) -> wire::DeleteBenchmarkResponse;
        upload_truth(Streaming<wire::UploadTruthRequest>) -> wire::UploadTruthResponse;
        list_truth_revisions(wire::ListTruthRevisionsRequest) -> wire::ListTruthRevisionsResponse;
        rescore_submissions(wire::RescoreSubmissionsRequest) -> wire::RescoreSubmissionsResponse;
        publish_leaderboard(wire::PublishLeaderboardRequest) -> wire::PublishLeaderboardResponse;
        get_checklist(wire::GetChecklistRequest) -> wire::GetChecklistResponse;
    }
}

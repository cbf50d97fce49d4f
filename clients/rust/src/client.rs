//! The client.

use std::fmt;
use std::time::SystemTime;

use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::Status;
use tonic_prost::ProstCodec;

use crate::connection::{ClientBuilder, Connection};
use crate::error::Result;
use crate::evaluators::{evaluator_name, EvaluatorDescription};
use crate::hosting::{time, Benchmark, Leaderboard, LeaderboardQuery};
use crate::names::benchmark_name;
use crate::score_stream::ScoreBuilder;
use crate::specification::Evaluator;
use crate::submission_stream::SubmitBuilder;
use crate::submissions::Submissions;
use crate::wire::vidscore::v1 as wire;

/// Whether a server accepts calls, by the standard health protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Health {
    /// Unspecified.
    Unknown,
    /// It does.
    Serving,
    /// It does not.
    NotServing,
    /// It does not know the service.
    ServiceUnknown,
}

/// Description of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerInfo {
    /// Its version.
    pub version: String,
    /// Oldest client version that it works with.
    pub oldest_client_version: String,
    /// Newest client version that it works with.
    pub newest_client_version: String,
    /// Time of its clock.
    pub time: Option<SystemTime>,
    /// Whether it hosts benchmarks.
    pub hosting: bool,
    /// Whether it is about to stop.
    pub draining: bool,
}

impl ServerInfo {
    fn decode(server: wire::Server) -> Self {
        Self {
            version: server.version,
            oldest_client_version: server.oldest_client_version,
            newest_client_version: server.newest_client_version,
            time: time(server.time),
            hosting: server.hosting,
            draining: server.draining,
        }
    }
}

/// A connection to a server, which ends with the last of its clones and streams.
///
/// It is cheap to clone, and clones share the connection. Every method may be called from any task
/// and thread, of the Tokio runtime that the client was made in; a client may have any number of
/// streams open.
#[derive(Clone)]
pub struct Client {
    connection: Connection,
}

impl fmt::Debug for Client {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Client").finish_non_exhaustive()
    }
}

impl ClientBuilder {
    /// Make the client; the first call opens the connection.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Input`](crate::ErrorKind::Input) if the address is invalid, a certificate
    /// cannot be read, the token cannot be a header or would be sent unencrypted to another
    /// machine, or there is no Tokio runtime.
    pub fn connect(self) -> Result<Client> {
        self.connection().map(|connection| Client { connection })
    }
}

impl Client {
    /// Make a client with a plain connection and without a token; the first call opens the
    /// connection.
    ///
    /// `target` is `host:port`, `[address]:port` or `unix:path`.
    ///
    /// # Errors
    ///
    /// Those of [`ClientBuilder::connect`].
    pub fn connect(target: impl Into<String>) -> Result<Self> {
        Self::builder(target).connect()
    }

    /// Begin to make a client with a token, TLS or another deadline.
    ///
    /// ```no_run
    /// # fn main() -> vidscore_client::Result<()> {
    /// use vidscore_client::{Client, Tls};
    /// let tls = Tls::default().root_certificates(Some("ca.pem".into()));
    /// let client = Client::builder("scores.example:50051").tls(tls).token("secret").connect()?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn builder(target: impl Into<String>) -> ClientBuilder {
        ClientBuilder::new(target.into())
    }

    /// The server; it answers clients of any version.
    ///
    /// # Errors
    ///
    /// The error of the call.
    pub async fn server(&self) -> Result<ServerInfo> {
        let mut service = self.connection.server_service();
        let call = service.get_server(self.connection.request(wire::GetServerRequest {}));
        let answer = self.connection.answer(call).await?;
        Ok(ServerInfo::decode(answer.server.unwrap_or_default()))
    }

    /// One hosted benchmark.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if there is none of that name.
    pub async fn benchmark(&self, benchmark: &str) -> Result<Benchmark> {
        let name = benchmark_name(benchmark)?;
        let mut service = self.connection.benchmark_service();
        let request = self.connection.request(wire::GetBenchmarkRequest { name });
        let answer = self
            .connection
            .answer(service.get_benchmark(request))
            .await?;
        Ok(Benchmark::decode(answer.benchmark.unwrap_or_default()))
    }

    /// The hosted benchmarks that the caller may see.
    ///
    /// # Errors
    ///
    /// The error of the call.
    pub async fn benchmarks(&self) -> Result<Vec<Benchmark>> {
        let mut found = Vec::new();
        let mut request = wire::ListBenchmarksRequest::default();
        loop {
            let mut service = self.connection.benchmark_service();
            let call = service.list_benchmarks(self.connection.request(request.clone()));
            let page = self.connection.answer(call).await?;
            found.extend(page.benchmarks.into_iter().map(Benchmark::decode));
            request.page_token = page.next_page_token;
            if request.page_token.is_empty() {
                return Ok(found);
            }
        }
    }

    /// All evaluators of the server, built-in ones first.
    ///
    /// # Errors
    ///
    /// The error of the call.
    pub async fn evaluators(&self) -> Result<Vec<EvaluatorDescription>> {
        let mut found = Vec::new();
        let mut page_token = String::new();
        loop {
            let request = wire::ListEvaluatorsRequest {
                page_size: 0,
                page_token,
            };
            let mut service = self.connection.evaluator_service();
            let call = service.list_evaluators(self.connection.request(request));
            let page = self.connection.answer(call).await?;
            found.extend(
                page.evaluators
                    .into_iter()
                    .map(EvaluatorDescription::decode),
            );
            page_token = page.next_page_token;
            if page_token.is_empty() {
                return Ok(found);
            }
        }
    }

    /// One evaluator.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if the server has none of that name.
    pub async fn evaluator(&self, name: &str) -> Result<EvaluatorDescription> {
        let request = wire::GetEvaluatorRequest {
            name: evaluator_name(name),
        };
        let mut service = self.connection.evaluator_service();
        let call = service.get_evaluator(self.connection.request(request));
        let answer = self.connection.answer(call).await?;
        Ok(EvaluatorDescription::decode(
            answer.evaluator.unwrap_or_default(),
        ))
    }

    /// Whether the server accepts calls, by the standard health protocol: the whole server if
    /// `service` is empty, otherwise the service of that full name.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if the server does not know the service.
    pub async fn health(&self, service: &str) -> Result<Health> {
        // The messages of `grpc.health.v1` have one field each, a string and an enumeration, and so
        // the same bytes as the wrappers of these types: no generated code is needed for them.
        let request = self.connection.request(service.to_owned());
        let mut grpc = Grpc::new(self.connection.channel());
        let call = async move {
            let not_ready = |error| Status::unavailable(format!("{error}"));
            grpc.ready().await.map_err(not_ready)?;
            let path = PathAndQuery::from_static("/grpc.health.v1.Health/Check");
            grpc.unary(request, path, ProstCodec::<String, i32>::default())
                .await
        };
        Ok(match self.connection.answer(call).await? {
            1 => Health::Serving,
            2 => Health::NotServing,
            3 => Health::ServiceUnknown,
            _ => Health::Unknown,
        })
    }

    /// Begin to score without keeping anything on the server; the evaluators, if any, judge instead
    /// of the specification's own.
    pub fn score(
        &self,
        evaluators: impl IntoIterator<Item = impl Into<Evaluator>>,
    ) -> ScoreBuilder {
        let evaluators = evaluators.into_iter().map(Into::into).collect();
        ScoreBuilder::new(self.connection.clone(), evaluators)
    }

    /// Begin to send detections to a hosted benchmark.
    pub fn submit(&self, benchmark: impl Into<String>) -> SubmitBuilder {
        SubmitBuilder::new(self.connection.clone(), benchmark.into())
    }

    /// Submissions to hosted benchmarks.
    #[must_use]
    pub fn submissions(&self) -> Submissions {
        Submissions::new(self.connection.clone())
    }

    /// Submissions to a benchmark in rank order; `query` is its name or a [`LeaderboardQuery`].
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Conflict`](crate::ErrorKind::Conflict) if the policy does not release such a
    /// board.
    pub async fn leaderboard(&self, query: impl Into<LeaderboardQuery>) -> Result<Leaderboard> {
        let query = query.into();
        let mut board = Leaderboard::default();
        let mut request = wire::GetLeaderboardRequest {
            benchmark: benchmark_name(&query.benchmark)?,
            evaluator: query.evaluator,
            domain: query.domain,
            label: query.label,
            ..wire::GetLeaderboardRequest::default()
        };
        loop {
            let mut service = self.connection.benchmark_service();
            let call = service.get_leaderboard(self.connection.request(request.clone()));
            let page = self.connection.answer(call).await?;
            request.page_token.clone_from(&page.next_page_token);
            board.extend(page);
            if request.page_token.is_empty() {
                return Ok(board);
            }
        }
    }
}

"""How to take part: commands and programs, filled in with server, benchmark and next free name."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable
from string import Template

from msgspec import Struct

CORNERS = {
    "point": (12, 9),
    "box": (12, 9, 51, 88),
    "quadrilateral": (12, 9, 51, 9, 51, 88, 12, 88),
}
"""Coordinates of an example object, by its shape."""

_BOX = "box"


class Entry(Struct, frozen=True):
    """Values for the commands.

    Attributes:
        server: Address of the gRPC server for clients.
        site: Address of this site, without a trailing slash.
        tls: Whether connections are encrypted.
        benchmark: Last part of the benchmark's name.
        submission: Last part of the submission's name.
        shape: Shape of detections: ``point``, ``box`` or ``quadrilateral``.
        sequence: Name of a sequence.
        domain: Its domain; empty if there is only one.
        label: A label; empty if the benchmark lists none.
        live: Whether the benchmark is live, so that it takes frames only by its clock.
    """

    server: str
    site: str
    tls: bool
    benchmark: str
    submission: str
    shape: str = _BOX
    sequence: str = "street"
    domain: str = ""
    label: str = ""
    live: bool = False


class Program(Struct, frozen=True):
    """One way to submit.

    Attributes:
        key: Short name, for links and fields.
        title: The language.
        text: The command or program.
    """

    key: str
    title: str
    text: str


def programs(entry: Entry) -> list[Program]:
    """One way to submit per language, the command line first."""
    texts = _texts(entry)
    return [
        Program(key, title, Template(template).substitute(texts).strip())
        for key, title, template in (_LIVE_PROGRAMS if entry.live else _PROGRAMS)
    ]


def check_command(entry: Entry) -> str:
    """The command that checks a file without submitting it."""
    texts = _texts(entry)
    return Template(
        _EXPORTS + "vidscore submit $benchmark$tls_sh --detections detections.csv --check"
    ).substitute(texts)


def next_name(team: str, taken: Iterable[str]) -> str:
    """A free name for a team's next submission: ``red-3`` after ``red-1`` and ``red-2``.

    Args:
        team: The team.
        taken: Last parts of the names of its submissions.
    """
    # A name begins with a letter and has at most 63 characters; a team's name may begin with a
    # digit.
    stem = (team if team[:1].isalpha() else f"team-{team}")[:56].rstrip("-")
    pattern = re.compile(re.escape(stem) + r"-(\d{1,5})")
    numbers = [int(match[1]) for name in taken if (match := pattern.fullmatch(name))]
    return f"{stem}-{max(numbers, default=0) + 1}"


def _texts(entry: Entry) -> dict[str, str]:
    """Values of the placeholders in the templates."""
    corners = CORNERS[entry.shape]
    numbers = ", ".join(map(str, corners))
    reals = ", ".join(f"{number:.1f}" for number in corners)
    domain, label = _quoted(entry.domain), _quoted(entry.label)
    has_domain, has_label = bool(entry.domain), bool(entry.label)
    stream = f"benchmarks/{entry.benchmark}/submissions/{entry.submission}"
    kind = {"point": "point", "box": "rectangle", "quadrilateral": "quadrilateral"}[entry.shape]
    texts = {
        "server": entry.server,
        "api": f"{entry.site}/vidscore.v1.SubmissionService",
        "benchmark": entry.benchmark,
        "submission": entry.submission,
        "sequence": _quoted(entry.sequence),
        "numbers": numbers,
        "reals": reals,
        "tls_sh": " --tls" if entry.tls else "",
        "label_py": f", [{label}]" if has_label else ", None",
        "domain_py": f", domain={domain}" if has_domain else "",
        "label_ts": f" labels: [{label}]," if has_label else "",
        "domain_ts": f" domain: {domain}," if has_domain else "",
        "label_go": f"\t\t\tLabels:      []string{{{label}}},\n" if has_label else "",
        "domain_go": f" Domain: {domain}," if has_domain else "",
        "label_java": f".labels({label})" if has_label else "",
        "domain_java": f".domain({domain})" if has_domain else "",
        "kind": kind,
        "label_rs": f".label({label})" if has_label else "",
        "domain_rs": f".domain({domain})" if has_domain else "",
        "make_cpp": {
            "point": f"point({numbers})",
            "box": f"box({numbers})",
            "quadrilateral": f"quadrilateral({{{numbers}}})",
        }[entry.shape],
        "label_cpp": f"\n    object.label = {label};" if has_label else "",
        "domain_cpp": f", {domain}" if has_domain else "",
    }
    return texts | _security(entry.tls) | _bodies(entry, stream)


def _security(tls: bool) -> dict[str, str]:
    """How each language is told whether connections are encrypted."""
    return {
        "tls_py": ", tls=True" if tls else "",
        "tls_ts": " tls: true," if tls else "",
        "tls_go": "\n\t\tvidscore.WithTLS(vidscore.TLS{})," if tls else "",
        "tls_java": "\n                .tls(Tls.SYSTEM)" if tls else "",
        "tls_java_import": "\nimport io.github.vidscore.client.Tls;" if tls else "",
        "tls_rs": ".tls(Tls::default())" if tls else "",
        "tls_rs_import": ", Tls" if tls else "",
        "tls_cpp": "\n  connection.tls = vidscore::Tls{};" if tls else "",
    }


def _bodies(entry: Entry, submission: str) -> dict[str, str]:
    """The bodies of calls, quoted for a shell."""
    batch: dict[str, object] = {
        "sequences": [{"domain": entry.domain, "sequence": entry.sequence}],
        "frameSequences": [0],
        "frameNumbers": [0],
        "frameObjectCounts": [1],
        "geometry": f"GEOMETRY_{entry.shape.upper()}",
        "coordinates": list(CORNERS[entry.shape]),
        "confidences": [0.9],
    }
    if entry.label:
        batch |= {"labels": [entry.label], "labelIndices": [0]}
    stream = f"{submission}/streams/default"
    bodies = {
        "create": {"benchmark": f"benchmarks/{entry.benchmark}", "submissionId": entry.submission},
        "open": {"submission": submission},
        "append": {"stream": stream, "epoch": 1, "offset": 0, "detections": batch},
        "seal": {"name": submission, "expectedFrameCount": 1},
    }
    return {
        name: shlex.quote(json.dumps(body, ensure_ascii=False)) for name, body in bodies.items()
    }


def _quoted(text: str) -> str:
    """A text as a literal of every language here; names hold no control characters."""
    return json.dumps(text, ensure_ascii=False)


_EXPORTS = "export VIDSCORE_SERVER=$server VIDSCORE_TOKEN=…\n"

_SHELL = (
    _EXPORTS + "vidscore submit $benchmark$tls_sh --detections detections.csv --name $submission"
)

_PYTHON = """
# Needs the package vidscore-client.
import os

from vidscore_client import connect

with connect("$server"$tls_py, token=os.environ["VIDSCORE_TOKEN"]) as client:
    with client.submit("$benchmark", "$submission", replay=True) as stream:
        for frame in range(300):
            stream.send($sequence, frame, [[$numbers]]$label_py, [0.9]$domain_py)
        stream.seal(expected_frame_count=300)
        print(stream.wait().state)
"""

_TYPESCRIPT = """
// Needs the package @vidscore/client, in an ES module.
import { connect } from "@vidscore/client";

const client = connect("$server", {$tls_ts token: process.env.VIDSCORE_TOKEN });
const stream = await client.submit("$benchmark", "$submission", { replay: true });
for (let frame = 0; frame < 300; frame++) {
  await stream.send({
    sequence: $sequence,$domain_ts frame,
    coordinates: [[$numbers]],$label_ts confidences: [0.9],
  });
}
await stream.seal(300);
console.log((await stream.wait()).state);
await client.close();
"""

_GO = """
// Needs the module github.com/vidscore/vidscore/clients/go.

package main

import (
	"context"
	"fmt"
	"log"
	"os"

	vidscore "github.com/vidscore/vidscore/clients/go"
)

func main() {
	if err := submit(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func submit(ctx context.Context) error {
	client, err := vidscore.Connect("$server",$tls_go
		vidscore.WithToken(os.Getenv("VIDSCORE_TOKEN")))
	if err != nil {
		return err
	}
	defer client.Close()
	options := vidscore.SubmitOptions{Submission: "$submission", Replay: true}
	stream, err := client.Submit(ctx, "$benchmark", options)
	if err != nil {
		return err
	}
	defer stream.Close()
	for number := range int64(300) {
		frame := vidscore.Frame{
			Sequence: $sequence,$domain_go Number: number,
			Coordinates: []float64{$numbers},
${label_go}			Confidences: []float64{0.9},
		}
		if err := stream.Send(ctx, frame); err != nil {
			return err
		}
	}
	if _, err := stream.Seal(ctx, 300); err != nil {
		return err
	}
	submission, err := stream.Wait(ctx)
	if err != nil {
		return err
	}
	fmt.Println(submission.State)
	return nil
}
"""

_JAVA = """
// Needs the artefact io.github.vidscore:vidscore-client, and Java 17 or later.
import io.github.vidscore.client.Frame;
import io.github.vidscore.client.SubmissionStream;
import io.github.vidscore.client.SubmitOptions;$tls_java_import
import io.github.vidscore.client.VidscoreClient;
import java.time.Duration;

public final class Submit {
  public static void main(String[] arguments) {
    try (VidscoreClient client =
            VidscoreClient.builder("$server")$tls_java
                .token(System.getenv("VIDSCORE_TOKEN"))
                .build();
        SubmissionStream stream =
            client.submit("$benchmark", SubmitOptions.named("$submission").withReplay(true))) {
      for (long number = 0; number < 300; number++) {
        stream.send(
            Frame.of($sequence, number)$domain_java
                .coordinates($numbers)$label_java
                .confidences(0.9)
                .build());
      }
      stream.seal(300);
      System.out.println(stream.await(Duration.ofMinutes(5)).state());
    }
  }
}
"""

_RUST = """
// Needs the crates vidscore-client, and tokio with its features macros and rt-multi-thread.
use vidscore_client::{Client, Frame, Object$tls_rs_import};

#[tokio::main]
async fn main() -> vidscore_client::Result<()> {
    let token = std::env::var("VIDSCORE_TOKEN").expect("VIDSCORE_TOKEN is not set");
    let client = Client::builder("$server")$tls_rs.token(token).connect()?;
    let stream = client
        .submit("$benchmark")
        .submission("$submission")
        .replay(true)
        .open()
        .await?;
    for number in 0..300 {
        let object = Object::$kind([$reals])$label_rs.confidence(0.9);
        stream.send(Frame::new($sequence, number)$domain_rs.object(object)).await?;
    }
    stream.seal(Some(300)).await?;
    println!("{}", stream.wait().await?.state);
    Ok(())
}
"""

_CPP = """
// Needs the CMake package vidscore: find_package(vidscore), linked with vidscore::client.
#include <vidscore/client.h>

#include <cstdlib>
#include <iostream>

int main() {
  vidscore::ClientOptions connection;$tls_cpp
  const char* token = std::getenv("VIDSCORE_TOKEN");
  connection.token = token ? token : "";
  const vidscore::Client client("$server", connection);
  vidscore::SubmitOptions options;
  options.benchmark = "$benchmark";
  options.submission = "$submission";
  options.replay = true;
  auto stream = client.submit(options);
  for (int number = 0; number < 300; ++number) {
    auto object = vidscore::Object::$make_cpp;$label_cpp
    object.confidence = 0.9;
    stream.send({$sequence, number, {object}$domain_cpp});
  }
  stream.seal(300);
  std::cout << to_string(stream.wait().state) << '\\n';
}
"""

_CURL = """
export VIDSCORE_TOKEN=…
call() {
  curl --fail-with-body --silent --show-error --header "Authorization: Bearer $$VIDSCORE_TOKEN" \\
    --header "Content-Type: application/json" --data "$$2" "$api/$$1"
}
call CreateSubmission $create
call OpenStream $open
call AppendBatch $append
call SealSubmission $seal
"""

_PROGRAMS = (
    ("sh", "Command line", _SHELL),
    ("py", "Python", _PYTHON),
    ("ts", "TypeScript", _TYPESCRIPT),
    ("go", "Go", _GO),
    ("java", "Java", _JAVA),
    ("rs", "Rust", _RUST),
    ("cpp", "C++", _CPP),
    ("curl", "curl", _CURL),
)

_LIVE_SHELL = (
    _EXPORTS + "vidscore live $benchmark$tls_sh --submission $submission -- python3 detector.py"
)

_LIVE_PYTHON = """
# Needs the package vidscore-client.
import os

from vidscore_client import LiveFrame, connect


def on_frame(frame: LiveFrame) -> None:
    # What your detector finds in frame.frame of frame.sequence.
    frame.answer([[$numbers]]$label_py, [0.9])


with connect("$server"$tls_py, token=os.environ["VIDSCORE_TOKEN"]) as client:
    print(client.answer_live("$benchmark", on_frame, "$submission").online)
"""

_LIVE_PROGRAMS = (("sh", "Command line", _LIVE_SHELL), ("py", "Python", _LIVE_PYTHON))

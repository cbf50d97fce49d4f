"""The programs of the clients' READMEs, with the surrounding code of a reader's program."""

from __future__ import annotations

from tools.docs_pages import ROOT, blocks

_BODY = "BODY"

_AROUND = {
    "typescript": _BODY,
    "go": """package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	vidscore "github.com/vidscore/vidscore/clients/go"
)

var _, _, _, _, _ = errors.Is, fmt.Println, log.Println, os.Getenv, time.Second

func show(*vidscore.LiveReport) error { return nil }

func run(ctx context.Context, err error) error {
BODY
	return err
}

func main() { _ = run(context.Background(), nil) }
""",
    "java": """import io.github.vidscore.client.*;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

public class Submit {
  static VidscoreClient client;
  static List<Frame> truth;
  static List<Frame> detections;
  static ScoreOptions options;
  static Executor threads;

  static void run() {
BODY
  }
}
""",
    "cpp": _BODY,
}
"""By language; Rust's README is compiled with the tests of its documentation, Python's is run."""

_FENCES = {"typescript": "ts", "go": "go", "java": "java", "cpp": "cpp"}
_CPP_MAIN = '\nint main() { submit("token"); }\n'


def readme_programs(language: str) -> dict[str, str]:
    """Complete programs from the README of a client, by name."""
    if language not in _AROUND:
        return {}
    text = (ROOT / "clients" / language / "README.md").read_text("utf-8")
    found = [block.text for block in blocks(text) if block.language == _FENCES[language]]
    if not found:
        raise ValueError(f"the README of {language} has no program in ```{_FENCES[language]}")
    if language == "cpp":
        found = [body if "int main()" in body else body + _CPP_MAIN for body in found]
    return {
        f"readme-{number}": _AROUND[language].replace(_BODY, body)
        for number, body in enumerate(found, start=1)
    }

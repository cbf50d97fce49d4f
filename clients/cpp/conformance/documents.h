// The documents that a runner prints, from the results of the client.

#pragma once

#include <vidscore/client.h>

#include <nlohmann/json.hpp>

using Json = nlohmann::ordered_json;

Json document_of(const vidscore::Error& error);
Json document_of(const vidscore::EvaluatorDescription& evaluator);
Json document_of(const vidscore::Report& report);
Json document_of(const vidscore::LiveReport& live);
Json document_of(const vidscore::SubmissionScore& score);
Json document_of(const vidscore::Submission& submission);
Json document_of(const vidscore::LeaderboardRow& row);

/// A document for each entry.
template <typename Entries>
Json documents_of(const Entries& entries) {
  Json documents = Json::array();
  for (const auto& entry : entries) documents.push_back(document_of(entry));
  return documents;
}

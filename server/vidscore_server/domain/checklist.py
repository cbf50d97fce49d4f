"""A checklist of a benchmark's design, made from its definition.

The questions are those of BIAS that a definition answers: L. Maier-Hein and others, "BIAS:
Transparent reporting of biomedical image analysis challenges" (Medical Image Analysis 66, 2020),
appendix A. Callers other than organisers get the same questions. Their answers contain only what
the allow-list in `vidscore_server.domain.release` permits, and no advice.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from vidscore_evaluators.evaluator import Direction, Evaluator
from vidscore_server.domain.benchmarks import policy_warnings
from vidscore_server.domain.definition import Definition
from vidscore_server.domain.policy import NameKind, Visibility
from vidscore_server.domain.tiers import SEQUENCES_OF_PROBABILITIES

WITHHELD = "not shown to participants"


class Item(Struct, frozen=True):
    """A question about a benchmark.

    Attributes:
        question: The question.
        answer: The answer.
        advice: How to improve a weak answer; empty if it is not weak.
    """

    question: str
    answer: str
    advice: str = ""


class TruthState(Struct, frozen=True):
    """The state of a benchmark's ground truth, from its revisions.

    Attributes:
        revision: The newest revision; 0 for none.
        complete: Whether that is complete.
        frames: Number of frames.
        sequences: Number of sequences; None if they were not counted.
        objects: Number of objects; None if they were not counted.
    """

    revision: int = 0
    complete: bool = False
    frames: int = 0
    sequences: int | None = None
    objects: int | None = None


def checklist(definition: Definition, truth: TruthState, *, for_organisers: bool) -> list[Item]:
    """Answer every question.

    Args:
        definition: The benchmark.
        truth: The state of its truth.
        for_organisers: Whether to count hidden truth, and to give advice.
    """
    items = [
        _judged(definition),
        *map(_ranks, [definition] * len(definition.evaluators), definition.evaluators),
        _chosen(definition),
        _ties(definition),
        _missing(definition),
        _size(definition, truth, for_organisers=for_organisers),
        _uncertainty(definition, for_organisers=for_organisers),
        _releases(definition),
        _private(definition),
        _budget(definition),
        _revealed(definition, for_organisers=for_organisers),
        _names(definition),
        _board(definition),
        _dates(definition),
        _revisions(definition, truth, for_organisers=for_organisers),
        Item(
            "Who may take part, and do organisers?",
            "Everybody with a team's token. Submissions of organisers are on the board as those of "
            "the team organiser.",
        ),
        Item(
            "What does this list not answer?",
            "Who made the ground truth, how and how well; where the videos come from, and who "
            "consented; prizes; conflicts of interest; what becomes of the results.",
            "Answer these where participants read about the benchmark.",
        ),
    ]
    return items if for_organisers else [replace(item, advice="") for item in items]


def _judged(definition: Definition) -> Item:
    evaluators = ", ".join(f"{one.name} {one.version}" for one in definition.evaluators)
    title = definition.specification.title
    return Item(
        "What is judged, and by which rules?", f"{title or 'Without a title'}: {evaluators}."
    )


def _ranks(definition: Definition, evaluator: Evaluator[Any]) -> Item:
    ways = {Direction.HIGHER: "more is better", Direction.LOWER: "less is better"}
    measures = [
        f"{name} ({ways.get(direction, 'neither more nor less is better')})"
        for name, direction in definition.ranking(evaluator).items()
    ]
    question = f"How does {evaluator.name} rank?"
    if not measures:
        return Item(question, "Not at all.", "Name a ranking_measure in the policy.")
    broken = f"; ties are broken by {', then '.join(measures[1:])}" if measures[1:] else ""
    return Item(question, f"By {measures[0]}, over all sequences together{broken}.")


def _chosen(definition: Definition) -> Item:
    answers = {
        "best": (
            "The best one.",
            "The best of many tries flatters a system: selection = 'latest' asks for a choice.",
        ),
        "latest": ("The latest one.", ""),
    }
    question = "Which submission of a team counts?"
    return Item(question, *answers[definition.policy.selection])


def _ties(definition: Definition) -> Item:
    rule = (
        "The submission that was sealed first ranks first."
        if definition.policy.earlier_first
        else "They share a rank."
    )
    return Item("What happens to equal scores?", rule)


def _missing(definition: Definition) -> Item:
    quiet = {
        "seal": "is sealed and scored on the frames that came",
        "cancel": "is cancelled",
    }
    policy = definition.policy
    return Item(
        "What happens to missing results?",
        "Frames without detections count as frames in which nothing was found. An undefined score "
        "ranks last. After "
        f"{policy.quiet_timeout_s:g} s of silence, a submission {quiet[policy.quiet_action]}.",
    )


def _size(definition: Definition, truth: TruthState, *, for_organisers: bool) -> Item:
    question, size = "How many test cases are there?", definition.truth_size
    if size is None:
        return Item(
            question,
            "Not known: there is no complete ground truth.",
            "Upload the whole ground truth.",
        )
    live, keeps_private = (
        definition.policy.shown is Visibility.LIVE,
        definition.policy.keeps_private,
    )
    if for_organisers or (live and not keeps_private):
        sequences = size.sequences if truth.sequences is None else truth.sequences
        objects = size.objects if truth.objects is None else truth.objects
        counts = (str(sequences), str(truth.frames), str(objects))
    elif live:  # without private sequences, whose frames are not counted
        counts = (str(size.sequences), WITHHELD, str(size.objects))
    else:  # which sequences and frames have truth is hidden; a list of sequences may be public
        listed = len(definition.specification.sequences)
        public = listed and NameKind.SEQUENCES in definition.public_names
        counts = (str(listed) if public else WITHHELD, WITHHELD, WITHHELD)
    answer = "Sequences: {}. Frames: {}. Objects: {}.".format(*counts)
    few = (
        f"With fewer than {SEQUENCES_OF_PROBABILITIES} sequences few systems can be told apart: "
        "add sequences, not frames."
    )
    weak = size.sequences < SEQUENCES_OF_PROBABILITIES
    return Item(question, answer, few if weak else "")


def _uncertainty(definition: Definition, *, for_organisers: bool) -> Item:
    size = definition.truth_size
    question = "How is the uncertainty of the ranking reported?"
    if size is None or size.sequences < 2:  # as the board states it
        return Item(
            question,
            "Not at all: it needs two sequences with objects, in a complete ground truth.",
            "Add sequences.",
        )
    is_live = definition.policy.shown is Visibility.LIVE
    steps = "" if is_live or for_organisers else " in steps of 0.1"
    seen = (
        f"{steps}; with fewer than {SEQUENCES_OF_PROBABILITIES} sequences, only organisers see it"
    )
    if not is_live and definition.policy.selection == "latest":
        seen = ", which only organisers see, because the latest submission of each team counts"
    return Item(
        question,
        "By tiers of systems that a paired bootstrap over sequences (95 %) cannot tell apart, and "
        f"by the probability of being first{seen}.",
    )


def _releases(definition: Definition) -> Item:
    policy = definition.policy
    measures = f" and {', '.join(policy.released_measures)}" if policy.released_measures else ""
    step = " and ".join(
        dict.fromkeys(f"{definition.step(evaluator):g}" for evaluator in definition.evaluators)
    )
    answers = {
        Visibility.LADDER: f"Once a submission is scored, the ranking measures over everything, "
        f"where they beat the team's best by {step}.",
        Visibility.BOOTSTRAP: "Once a submission is scored, an estimate of the ranking measures "
        f"over a draw of sequences, where it beats the team's best by {step}.",
        Visibility.FINAL: f"Once a submission is scored, the ranking measures{measures}, rounded "
        f"to {step}.",
        Visibility.LIVE: "The whole report, exactly, and scores while a submission receives.",
    }
    advice = "Every sequence has its own score: visibility = 'ladder' reveals least."
    is_live = policy.shown is Visibility.LIVE
    question = "What do teams see of scores, and when?"
    return Item(question, answers[policy.shown], advice if is_live else "")


def _private(definition: Definition) -> Item:
    question = "Do sequences whose scores were never shown decide the final order?"
    if not definition.policy.keeps_private:
        advice = "Set private_sequences: nobody can fit data whose scores were never shown."
        return Item(question, "No: the scores on the board decide.", advice)
    count = definition.private_sequence_count
    number = f"{count} of the sequences" if count else "Some of the sequences"
    finals = definition.policy.final_submissions
    among = "one submission" if finals == 1 else f"{finals} submissions"
    return Item(
        question,
        f"{number}: no score over them is released before the benchmark closes, and they "
        f"decide the final order, among {among} of each team.",
    )


def _budget(definition: Definition) -> Item:
    policy, budget = definition.policy, definition.submission_budget
    day = (
        f"{policy.submissions_per_day} per day"
        if policy.submissions_per_day
        else "any number per day"
    )
    return Item(
        "How many submissions may a team have?",
        f"{budget or 'Any number'} in all, {day}.",
        "" if budget else "Set submissions_in_all; -1 allows as many as the ground truth can bear.",
    )


def _revealed(definition: Definition, *, for_organisers: bool) -> Item:
    question = "What could a team learn from its scores beyond its rank?"
    shows = definition.policy.shows_own_outcomes
    answer = (
        "Whether each of its own detections is right, which locates objects."
        if shows
        else "Each score reveals something about the ground truth; their number bounds how much."
    )
    warnings = policy_warnings(definition) if for_organisers else []
    return Item(question, answer, " ".join(f"{text[0].upper()}{text[1:]}." for text in warnings))


def _names(definition: Definition) -> Item:
    words = {
        NameKind.SEQUENCES: "names of sequences and domains",
        NameKind.LABELS: "labels",
        NameKind.FRAME_COUNTS: "first and last frame of each sequence",
    }
    told = [words[kind] for kind in NameKind if kind in definition.public_names]
    return Item(
        "What may participants know of the ground truth?",
        f"{', '.join(told).capitalize() or 'Nothing'}; never its objects.",
    )


def _board(definition: Definition) -> Item:
    policy = definition.policy
    public = (
        "everyone, also without a token" if policy.public_board_web else "everyone with a token"
    )
    who = public if policy.public_board else "organisers only"
    return Item(
        "Who sees the leaderboard?",
        f"{who.capitalize()}; only its own team sees the name of a submission.",
        ""
        if policy.public_board
        else "Say when the results are published; public_board = true shows them.",
    )


def _dates(definition: Definition) -> Item:
    opens, closes = definition.open_time, definition.close_time
    start = "at once" if opens is None else f"from {opens.isoformat()}"
    end = "without an end" if closes is None else f"until {closes.isoformat()}"
    return Item(
        "When are submissions taken?",
        f"{start.capitalize()}, {end}.",
        "" if closes else "Set close_time: a team that can submit for ever fits the ground truth.",
    )


def _revisions(definition: Definition, truth: TruthState, *, for_organisers: bool) -> Item:
    moves = {
        "automatic": "by itself once all submissions are scored again",
        "review": "when an organiser publishes it",
    }
    state = "It is complete." if truth.complete else "It is not complete."
    count = (
        f" Its newest revision is {truth.revision}." if for_organisers and truth.revision else ""
    )
    return Item(
        "Can the ground truth change?",
        f"{state}{count} Under a new revision every submission is scored again, and the board "
        f"moves {moves[definition.policy.rescore]}.",
        "" if truth.complete else "Upload the rest: submissions wait for it.",
    )

"""The command: its arguments, and the way from the first check to the exit status."""

from __future__ import annotations

import argparse
import math
import os
import re
import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from generation.asking.answers import AnswerReader
from generation.asking.console import SECRETS, Clock, Refused, Unreachable, printable, say, tell
from generation.asking.digests import as_json
from generation.asking.forms import FORMS, PlainForm
from generation.asking.model_server.addresses import INTERFACES, model_address
from generation.asking.model_server.interfaces import LIMIT_NAMES, loaded
from generation.asking.model_server.limits import RequestGate, Sampling
from generation.asking.model_server.model_reply import FAILED
from generation.asking.model_server.server import ModelServer
from generation.asking.pictures import PictureStore
from generation.asking.question_run import IN_A_ROW, ModelRequest, QuestionRun, Tally
from generation.asking.questions import AskedQuestion, QuestionSource, chosen_of
from generation.asking.reply_log import ReplyLog
from generation.asking.results import (
    fields_of,
    note_of,
    packed_replies,
    report,
    report_submission,
    results_of,
    write_results,
)
from generation.asking.site import Site, SiteSplit, split_path

PROGRAM = "ask.py"
A_DAY = 86_400.0
TEMPERATURE = 0.0
RESERVED = ("model", "messages", "input", "stream", "n")  # parameters that the script sets


def not_negative(text: str, least: int = 0) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 10 and int(text) >= least):
        raise argparse.ArgumentTypeError(f"expected a whole number of at least {least}, got {text!r}")
    return int(text)


def positive(text: str) -> int:
    return not_negative(text, 1)


def amount(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not 0 <= found < math.inf:
        raise argparse.ArgumentTypeError(f"expected a number of at least 0, got {text!r}")
    return found


def time_limit(text: str) -> float:
    found = amount(text)
    if not 0 < found <= A_DAY:
        raise argparse.ArgumentTypeError(f"expected seconds above 0 and at most {A_DAY:g}, got {text!r}")
    return found


def factor(text: str) -> Fraction:
    try:
        found = Fraction(text)
    except (ValueError, ZeroDivisionError):
        found = Fraction(0)
    if not 0 < found <= 16:
        raise argparse.ArgumentTypeError(f"expected a factor above 0 and at most 16, such as 2 or 1/2, got {text!r}")
    return found


def header_name(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9-]{1,64}", text):
        raise argparse.ArgumentTypeError(f"expected the name of a header, such as api-key, got {text!r}")
    return text


def more_parameters(text: str) -> dict[str, Any]:
    found = loaded(text)
    if not isinstance(found, dict) or found.keys() & set(RESERVED):
        raise argparse.ArgumentTypeError(
            f'expected a JSON object such as {{"top_p": 0.9}}, without {", ".join(RESERVED)}'
        )
    return found


def parser(program: str = PROGRAM) -> argparse.ArgumentParser:
    found = argparse.ArgumentParser(prog=program, description="Ask a model the questions of a Horsesense site.")
    found.add_argument("site", metavar="SITE", help="address of the site, such as https://horsesense.example.org")
    add_options(found)
    return found


def add_options(found: argparse.ArgumentParser) -> None:
    """Add all arguments except the address of the site, which `manage.py ask` does not need."""
    found.add_argument("split", metavar="DATASET/SPLIT")
    found.add_argument(
        "--base-url", required=True, metavar="URL", help="address of the model's server; often ends with /v1"
    )
    found.add_argument(
        "--interface", choices=INTERFACES, help="interface of the server; default: responses if its address says so"
    )
    found.add_argument("--model", required=True, metavar="NAME", help="name of the model on its server")
    found.add_argument(
        "--key-from",
        default="MODEL_API_KEY",
        metavar="VARIABLE",
        help="variable with the server's key; default: %(default)s",
    )
    found.add_argument(
        "--key-header",
        type=header_name,
        metavar="NAME",
        help="header with this key; default: Authorization, or api-key if the address has api-version",
    )
    found.add_argument("--form", choices=tuple(FORMS), default="plain", help="how to ask; default: %(default)s")
    found.add_argument("--sample", type=positive, metavar="N", help="ask only N of the questions")
    found.add_argument(
        "--again", type=positive, default=0, metavar="N", help="ask N of them twice, and compare the answers"
    )
    found.add_argument("--folder", type=Path, metavar="FOLDER", help="folder of all files; default: DATASET-SPLIT")
    found.add_argument("--resume", action="store_true", help="keep the replies in the folder, and ask what is missing")
    found.add_argument("--scale", type=factor, metavar="FACTOR", help="scale pictures, to the nearest pixel")
    sampling = found.add_argument_group("sampling")
    sampling.add_argument("--temperature", type=amount, metavar="T", help=f"default: {TEMPERATURE:g}")
    sampling.add_argument(
        "--max-tokens", type=positive, default=4096, metavar="N", help="limit of a reply; default: %(default)s"
    )
    sampling.add_argument("--seed", type=int, metavar="N", help="sent to the server; default: none")
    sampling.add_argument("--more", type=more_parameters, default={}, metavar="JSON", help="more parameters to send")
    sending = found.add_argument_group("sending")
    sending.add_argument(
        "--concurrency", type=positive, default=8, metavar="N", help="requests at once; default: %(default)s"
    )
    sending.add_argument(
        "--retries", type=not_negative, default=5, metavar="N", help="tries after a failed one; default: %(default)s"
    )
    sending.add_argument(
        "--stop-after",
        type=positive,
        metavar="N",
        help=f"failed or refused requests in a row that end the run; default: {IN_A_ROW}, or twice --concurrency",
    )
    sending.add_argument(
        "--timeout",
        type=time_limit,
        default=600.0,
        metavar="SECONDS",
        help="limit of a whole exchange with the model's server; default: %(default)g",
    )
    sending.add_argument("--price-in", type=amount, metavar="DOLLARS", help="price of a million tokens of requests")
    sending.add_argument("--price-out", type=amount, metavar="DOLLARS", help="price of a million tokens of replies")
    board = found.add_argument_group("leaderboard")
    board.add_argument("--submit", action="store_true", help="submit the answers with the replies; wait for the score")
    board.add_argument("--no-replies", action="store_false", dest="replies", help="submit the answers alone")
    board.add_argument(
        "--method", metavar="NAME", help="name or number of the method on the site; default: the model's name"
    )
    board.add_argument("--run", metavar="NAME", help="seed or name of the run, if there are several runs")


def key_in(variable: str) -> str:
    key = os.environ.get(variable, "").strip()
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise Refused(f"Expected a key of ASCII characters without spaces in the variable {variable}, got others.")
    SECRETS.hide(key)
    return key


def sampling_of(options: argparse.Namespace, interface: str) -> Sampling:
    own = {"temperature": options.temperature, LIMIT_NAMES[interface]: options.max_tokens, "seed": options.seed}
    if options.temperature is None:
        own["temperature"] = TEMPERATURE
    chosen = {"seed", *options.more} | ({"temperature"} if options.temperature is not None else set())
    return Sampling(
        {**{name: value for name, value in own.items() if value is not None}, **options.more}, chosen=chosen
    )


def prices_of(options: argparse.Namespace) -> tuple[float, float] | None:
    if options.price_in is None and options.price_out is None:
        return None
    return options.price_in or 0.0, options.price_out or 0.0


def folder_of(options: argparse.Namespace) -> Path:
    """Return the folder of all files; raise `Refused` if it has replies and --resume is not given."""
    folder: Path = options.folder or Path(options.split.replace("/", "-"))
    if (folder / "replies.jsonl").exists() and not options.resume:
        raise Refused(f"Expected no replies in {folder}, got some: keep them with --resume, or use another --folder.")
    return folder


def requests_of(chosen: Sequence[AskedQuestion], form: PlainForm, again: Sequence[AskedQuestion]) -> list[ModelRequest]:
    return [
        ModelRequest(question, variant, epoch)
        for epoch, some in enumerate((chosen, again))
        for question in some
        for variant in range(len(form.variants(question)))
    ]


def check_submission(split: QuestionSource, options: argparse.Namespace, questions: Sequence[AskedQuestion]) -> None:
    """Raise `Refused` if the answers could not be submitted, before a model is paid for them."""
    if options.sample is not None and options.sample < len(questions):
        raise Refused(
            f"Expected all {len(questions):,} questions to submit, got a sample of {options.sample:,}: make a question "
            "set of the questions that you want, ask its questions, and submit the answers to it."
        )
    # Any answers will do, but not null: a board may refuse a submission with few answers.
    answers = ((question.number, (question.choices or split.answers)[0]) for question in questions)
    rows = b"".join(as_json({"question_id": number, "answer": answer}) + b"\n" for number, answer in answers)
    split.check(fields_of(options, split.fingerprint), rows)


def open_site(options: argparse.Namespace, clock: Clock) -> SiteSplit:
    return SiteSplit(Site(options.site, key_in("HORSESENSE_TOKEN"), clock), options.split)


def ask(
    options: argparse.Namespace,
    clock: Clock,
    *,
    opened: Callable[[argparse.Namespace, Clock], QuestionSource] = open_site,
) -> int:
    """Ask the questions, write the results, and return the exit status; raise `KeyboardInterrupt` after Ctrl-C.

    `opened` returns the split. It is called after the checks of the options that do not need the split.
    """
    key, address = key_in(options.key_from), model_address(options.base_url, options.interface)
    server = ModelServer(
        address, key, timeout=options.timeout, concurrency=options.concurrency, key_header=options.key_header
    )
    split_path(options.split)
    folder, form = folder_of(options), FORMS[options.form]
    split = opened(options, clock)
    folder.mkdir(parents=True, exist_ok=True)
    questions = split.questions(folder)
    if form.has_steps:
        questions = split.with_steps(questions, folder)
    reader = AnswerReader(split.answers, (question.choices for question in questions), split.synonyms)
    if options.submit:
        check_submission(split, options, questions)
    chosen = chosen_of(questions, options.sample, split.fingerprint)
    again = chosen_of(chosen, options.again, f"again {split.fingerprint}")
    requests = requests_of(chosen, form, again)
    pictures = PictureStore(split.pictures(questions, chosen, folder), scale=options.scale)
    log = ReplyLog(folder / "replies.jsonl")
    run = QuestionRun(
        server, log, pictures, gate=RequestGate(options.concurrency, clock),
        sampling=sampling_of(options, address.interface),
        tally=Tally(len(requests), prices=prices_of(options)), form=form, settings=options,
    )  # fmt: skip
    say(f"{len(requests):,} requests for {len(chosen):,} questions, to {server}")
    try:
        if not run.run(requests):
            raise KeyboardInterrupt
    finally:
        log.close()
    results, twice = results_of(run, chosen, reader), results_of(run, again, reader, epoch=1)
    answers = write_results(folder, results)
    for line in report(results, twice):
        tell(line)
    if options.submit:
        replies = packed_replies(folder / "replies.jsonl", run, requests) if options.replies else None
        fields = fields_of(options, split.fingerprint, note_of(options, run.sampling, results))
        return report_submission(split.submit(fields, answers, replies))
    return 1 if any(one.state == FAILED for one in results) else 0


def main(arguments: list[str], clock: Clock | None = None, *, program: str = PROGRAM) -> int:
    """Return the exit status of a call."""
    options = parser(program).parse_args(arguments)
    try:
        return ask(options, clock or Clock())
    except Refused as refusal:
        say(str(refusal))
        return 2
    except KeyboardInterrupt:
        say("Interrupted. Continue with --resume.")
        return 130
    except OSError as error:
        say(trouble_of(error))
        return 2
    except Unreachable as error:
        say(str(error))
        return 1


def trouble_of(error: OSError) -> str:
    return f"Expected to read and write {error.filename or 'files'}, got: {printable(error)}"


def accept_all_characters() -> None:
    # A terminal that lacks some characters must not stop the program.
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]

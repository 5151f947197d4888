"""The run of a finding, in steps. A run that was killed can continue, and then records the same figures.

The steps make each dataset with its question sets, train each method, and score the baselines that tables need. A step
does nothing if its result is in the database. At the end, the figures are read, the statements are judged, and the
record is written.
"""

import functools
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import Any, NamedTuple

from django.conf import settings
from django.utils import timezone

from generation.engine.content_hash import digest
from generation.engine.learners import find_learner
from generation.engine.learners.base import SizeName
from generation.engine.scoring.statements import Judgement, Measurement, judge
from generation.making import dataset_jobs
from generation.making.process_pool import note, state_of
from generation.models import Dataset, Job, Split
from generation.queue import graceful_shutdown
from generation.queue.runner import nothing
from generation.specs import loading
from generation.splits import count_shifts, question_sets
from generation.splits.count_shifts import CountShift
from generation.splits.split_recipes import Recipe, read_recipe
from generation.storage import files
from webapp.leaderboards import baselines, scoring
from webapp.leaderboards.findings import records
from webapp.leaderboards.findings.definitions import (
    BASELINE,
    GUESSES,
    QUESTIONS,
    BadFinding,
    Definition,
    FindingCell,
    FindingDataset,
    FindingStatement,
    FindingTraining,
    command_of,
    load,
)
from webapp.leaderboards.findings.figure_reader import FigureReader
from webapp.leaderboards.findings.records import FindingRecord, Journal
from webapp.leaderboards.models import Method, Submission, Training
from webapp.leaderboards.training import orders, process
from webapp.leaderboards.training.training_jobs import run_here

State = Submission.State
MAKE = "make"  # the kind of the steps that make datasets


class StepFailed(Exception):
    """A step failed or cannot continue now, for example because the disk is full. Another run tries it again."""


class FindingStep(NamedTuple):
    """A step of a run. `key` names it in the journal; it differs if the step makes or trains anything else."""

    name: str
    kind: str
    key: str
    perform: Callable[[], object]


class FindingRun:
    """A run of one size of a finding.

    Parameters
    ----------
    name : str
    size : str
    owner : User
        The account that owns the trainings and their methods.
    make : callable
        Makes a dataset whose jobs wait; by default in this process.
    say : callable
        Called with a training when its progress changes.
    definition : Definition or None
        Another definition than the one of this name.
    """

    def __init__(
        self,
        name: str,
        size: SizeName,
        *,
        owner: Any,
        make: Callable[[Dataset], object] | None = None,
        say: Callable[[Training], object] = nothing,
        definition: Definition | None = None,
    ) -> None:
        self.name, self.size, self.owner = name, size, owner
        self.definition = load(name) if definition is None else definition
        if size not in self.definition.sizes:
            raise BadFinding(f"Expected one of {', '.join(self.definition.sizes)}, got {size!r}.", where="--size")
        self.plan = self.definition.sizes[size]
        self.make, self.say = make or _make_here, say
        self.journal = Journal(f"{name}-{size}")

    # Steps

    @cached_property
    def steps(self) -> list[FindingStep]:
        return [*self._dataset_steps(), *self._training_steps(), *self._baseline_steps()]

    def _dataset_steps(self) -> Iterator[FindingStep]:
        for one in self.plan.datasets:
            yield self._step(f"make {one.name}", MAKE, functools.partial(self.make_dataset, one), [one.name])

    def _training_steps(self) -> Iterator[FindingStep]:
        for one in self.plan.trainings:
            used = [path.partition("/")[0] for path in (one.train, one.val, *one.tests)]
            for seed in one.seeds:
                perform = functools.partial(self.train, one, seed)
                yield self._step(f"train {one.name}, seed {seed}", one.method, perform, used, training=one)

    def _baseline_steps(self) -> Iterator[FindingStep]:
        needed = dict.fromkeys((cell.source, cell.on) for cell in self.cells if cell.kind == BASELINE)
        for kind, split in needed:
            perform = functools.partial(self.score_baseline, kind, split)
            yield self._step(f"score {kind} on {split}", BASELINE, perform, [split.partition("/")[0]])

    def _step(
        self,
        name: str,
        kind: str,
        perform: Callable[[], object],
        datasets: Sequence[str],
        *,
        training: FindingTraining | None = None,
    ) -> FindingStep:
        made = [one.model_dump(mode="json") for one in self.plan.datasets if one.name in datasets]
        trained = None if training is None else training.model_dump(mode="json", exclude={"seeds"})
        return FindingStep(name, kind, f"{name} {digest([made, trained])[:12]}", perform)

    def seconds_of(self, step: FindingStep) -> float:
        # Those of all attempts; 0 if it was not tried yet.
        return self.journal.seconds.get(step.key, 0.0)

    @property
    def is_begun(self) -> bool:
        # A step was tried before, in this process or in another one.
        return any(step.key in self.journal.seconds for step in self.steps)

    def perform(self, step: FindingStep) -> float:
        """Do a step, and return its seconds, including those of earlier attempts."""
        begun = time.monotonic()
        try:
            step.perform()
        except BaseException:
            with suppress(OSError):  # the error of the step says more, for example that the disk is full
                self.journal.note(step.key, time.monotonic() - begun)
            raise
        self.journal.note(step.key, time.monotonic() - begun)
        return self.seconds_of(step)

    def seconds_left(self, done: int) -> float | None:
        """Return an estimate of the seconds for all steps but the first `done`; None if nothing is known yet."""
        spent = defaultdict[str, list[float]](list)
        for step in self.steps[:done]:
            spent[step.kind].append(self.seconds_of(step))
        every = [seconds for found in spent.values() for seconds in found]
        if not every:
            return None
        means = {kind: sum(found) / len(found) for kind, found in spent.items()}
        usual = max((mean for kind, mean in means.items() if kind not in (MAKE, BASELINE)), default=None)
        left = [means.get(step.kind, 0.0 if step.kind == BASELINE else usual) for step in self.steps[done:]]
        return None if None in left else sum(one or 0.0 for one in left)

    # Datasets

    def slug_of(self, name: str) -> str:
        return f"{self.name}-{self.size}-{name}"[:60]

    def make_dataset(self, one: FindingDataset) -> Dataset:
        """Make a dataset and its question sets, unless they exist; continue one that is not complete."""
        slug = self.slug_of(one.name)
        source = loading.gather_spec(one.spec, name=one.name, folder=records.FOLDER)
        data = loading.change(source.data, files=source.files)
        dataset = Dataset.objects.filter(slug=slug).first()
        if dataset is None:
            visibility = Dataset.Visibility.PUBLIC
            dataset = dataset_jobs.start(
                data, slug=slug, files=source.files, visibility=visibility, images=one.images, owner=self.owner
            )
        elif dataset.spec_data != data:
            raise BadFinding(
                "Expected a dataset with the spec of the finding, got one with another spec. Delete it: "
                f"python manage.py delete {slug}",
                where=slug,
            )
        if dataset.state != Dataset.State.COMPLETE:
            dataset_jobs.resume(dataset)
            self.make(dataset)
            dataset.refresh_from_db()
        if dataset.state != Dataset.State.COMPLETE:
            raise StepFailed(f"Expected a complete dataset {slug}, got: {dataset.error or dataset.state}.")
        self._derive(dataset, one)
        return dataset

    def _derive(self, dataset: Dataset, one: FindingDataset) -> None:
        """Make the question sets of a dataset that do not exist yet; raise `BadFinding` for one with another recipe."""
        known = {split.name: split for split in dataset.splits.all()}
        names = [derived.name for derived in one.sets]
        for shift in one.shifts:
            counts = CountShift(shift.kept, shift.removed, grouped_by=dataset.get_world().count_groups)
            wanted = list(count_shifts.sets_of(dataset, counts))
            names += [shifted.name for shifted in wanted]
            for shifted in wanted:
                _check_recipe(known.get(shifted.name), shifted.parent, shifted.recipe)
            if not all(shifted.name in known for shifted in wanted):
                count_shifts.create(dataset, [counts])
        for derived in one.sets:
            parent = self._split(dataset.slug, derived.parent)
            recipe = read_recipe({"parent": derived.parent, **derived.recipe})
            _check_recipe(known.get(derived.name), parent, recipe)
            if derived.name not in known:
                question_sets.create(parent, name=derived.name, recipe=recipe)
        for split in dataset.splits.filter(name__in=names).exclude(state=Split.State.COMPLETE).order_by("ordinal"):
            self._finish_set(split)

    def _finish_set(self, split: Split) -> None:
        """Make a question set, also if an earlier run failed or was killed there."""
        try:
            dataset_jobs.finish_set(dataset_jobs.resume_set(split), watch=_check_not_waiting)
        except dataset_jobs.SetNotMade as error:
            raise StepFailed(f"Expected a complete question set {split}, got: {error}") from error

    def split_of(self, path: str) -> Split:
        name, _, split = path.partition("/")
        return self._split(self.slug_of(name), split)

    def _split(self, slug: str, name: str) -> Split:
        found = Split.objects.for_browse().filter(dataset__slug=slug, name=name).first()
        if found is None or not found.is_complete:
            raise BadFinding(f"Expected a complete split, got {'none' if found is None else found.state}.", where=name)
        return found

    # Trainings and baselines

    def check_methods(self) -> None:
        """Raise an error if a method that is not trained yet cannot be trained. No dataset has to exist."""
        for one in self.plan.trainings:
            try:
                made = [self._order(one, seed) for seed in one.seeds]
            except BadFinding:  # a split is not made yet
                made = []
            left = [order for order in made if not _is_done(order)]
            with _explained_names():
                if left:
                    orders.check_content(left[0])
                elif not made:
                    find_learner(one.method).read_config(one.config, size=self.size)
                    process.python_for(one.method)
                    orders.check_name(one.label, owner=self.owner)

    def train(self, one: FindingTraining, seed: int) -> Training:
        """Train a method with one seed, and submit its predictions, unless that is done."""
        order = self._order(one, seed)
        with _explained_names():
            found = orders.find(order, prefers_done=True) or orders.create(order)
            _retry_scores(found)
            orders.resume(found)
        try:
            found = run_here(found, say=self.say)
        except BaseException:
            orders.cancel(found)  # so that no background process continues it before this run does
            raise
        refused = [one.reason_without_score for one in found.submissions.all() if not one.is_scored]
        if found.state != State.DONE or refused:
            reason = (refused or [found.message])[0] or f"one that is {found.state}"
            raise StepFailed(f"{one.name}, seed {seed}: Expected a training with scores, got: {reason}")
        return found

    def _order(self, one: FindingTraining, seed: int) -> orders.TrainingOrder:
        tests = tuple(self.split_of(path) for path in one.tests)
        return orders.TrainingOrder(
            method=one.method,
            owner=self.owner,
            train=self.split_of(one.train),
            val=self.split_of(one.val),
            tests=tests,
            config=one.config,
            size=self.size,
            seed=seed,
            name=one.label,
        )

    def score_baseline(self, kind: str, path: str) -> Submission:
        """Score a baseline of the site on a split, or on its parent, unless that is done; try again if it failed."""
        split, method = self.split_of(path), baselines.method_of(kind)
        has_own = split.reference is not None and split.reference.is_derived and kind in baselines.kinds_of(split)
        target = split if has_own else split.source
        Submission.objects.filter(method=method, split=target, state=State.FAILED).delete()
        found = Submission.objects.filter(method=method, split=target).first()
        if found is None:
            fitted = baselines.fitted_on(target, kind)
            found = Submission.objects.create(method=method, split=target, trained_on=fitted, priority=baselines.LOW)
        scoring.score_now(found)
        found.refresh_from_db()
        if found.state != State.DONE:
            raise StepFailed(f"{kind} on {path}: Expected a score, got: {found.reason_without_score}")
        return found

    # Figures, statements, record

    @cached_property
    def cells(self) -> list[FindingCell]:
        return [cell for table in self.definition.tables_of(self.size) for cell in table.cells()]

    @cached_property
    def readers(self) -> dict[str, FigureReader]:
        return {path: FigureReader(self.split_of(path)) for path in dict.fromkeys(cell.on for cell in self.cells)}

    def read_figures(self) -> dict[str, Measurement]:
        return {cell.key: self._figure(cell, self.readers[cell.on]) for cell in self.cells}

    def read_guesses(self) -> dict[str, float | None]:
        # Those of constant answers on the questions of each trained method's figure.
        known = functools.cache(lambda column, path: self.readers[path].guess_of(column))
        return {cell.key: known(cell.column, cell.on) for cell in self.cells if not cell.kind}

    def _figure(self, cell: FindingCell, reader: FigureReader) -> Measurement:
        if cell.kind == QUESTIONS:
            return reader.of_questions(cell.column)
        if cell.kind == GUESSES:
            return reader.of_guesses(self.split_of(cell.source), cell.column)
        if cell.kind == BASELINE:
            return reader.of_submissions({cell.of: self.score_baseline(cell.source, cell.on)}, cell.column)
        [one] = [training for training in self.plan.trainings if training.name == cell.of]
        runs = {f"{one.name}, seed {seed}": self._submission(one, seed, reader.split) for seed in one.seeds}
        return reader.of_submissions(runs, cell.column)

    def _submission(self, one: FindingTraining, seed: int, split: Split) -> Submission:
        training = self._trained(one, seed)
        answered = {split.pk, split.source.pk} & {test.pk for test in training.test_splits}
        if not answered:
            raise BadFinding(f"Expected predictions on {split}, got none. Add the split to `tests`.", where=one.name)
        found = Submission.objects.scored().filter(training=training, split__in=answered)
        submission = found.select_related("split__dataset").order_by("-pk").first()
        if submission is None:
            page = f"{settings.PUBLIC_URL}{training.get_absolute_url()}"
            raise StepFailed(
                f"{one.name}, seed {seed}: Expected predictions on {split}, got none: the submission was deleted. "
                f"Delete the training too, so that it is trained again: {page}"
            )
        return submission

    def _trained(self, one: FindingTraining, seed: int) -> Training:
        training = orders.find(self._order(one, seed), prefers_done=True)
        if training is None:
            raise StepFailed(f"{one.name}, seed {seed}: Expected a training, got none: it was deleted meanwhile.")
        return training

    def judge(self, figures: Mapping[str, Measurement]) -> list[tuple[FindingStatement, Judgement]]:
        return [(one, judge(one, figures)) for one in self.definition.statements_of(self.size)]

    def record(self) -> FindingRecord:
        """Return the record of a run whose steps are done."""
        figures, guesses = self.read_figures(), self.read_guesses()
        is_share = {cell.key: cell.column.is_share for cell in self.cells}
        return FindingRecord(
            finding=self.name,
            size=self.size,
            definition=self.definition.digest(self.size),
            date=timezone.now().isoformat(timespec="seconds"),
            command=command_of(self.name, self.size),
            seconds=round(sum(map(self.seconds_of, self.steps)), 1),
            machine=records.describe_machine(),
            versions=records.describe_versions(),
            datasets=tuple(self._recorded_dataset(one) for one in self.plan.datasets),
            trainings=tuple(self._recorded_training(one, seed) for one in self.plan.trainings for seed in one.seeds),
            figures={
                name: records.record_figure(one, is_share=is_share[name], guess=guesses.get(name))
                for name, one in figures.items()
            },
            statements=tuple(_recorded_statement(one, found) for one, found in self.judge(figures)),
        )

    def _recorded_dataset(self, one: FindingDataset) -> records.RecordedDataset:
        dataset = Dataset.objects.get(slug=self.slug_of(one.name))
        splits = dataset.splits.order_by("ordinal").values_list("name", "questions", "fingerprint")
        return records.RecordedDataset(
            name=one.name,
            slug=dataset.slug,
            content_hash=dataset.fingerprint,
            splits={name: (questions, fingerprint) for name, questions, fingerprint in splits},
        )

    def _recorded_training(self, one: FindingTraining, seed: int) -> records.RecordedTraining:
        training = self._trained(one, seed)
        return records.RecordedTraining(
            name=one.name,
            method=one.method,
            label=one.label,
            seed=seed,
            seconds=round(training.seconds, 1),
            parameters=training.parameters,
            examples_seen=training.examples_seen,
            code_version=training.code_version,
            config=one.config,
        )


def _check_recipe(found: Split | None, parent: Split, recipe: Recipe) -> None:
    """Raise `BadFinding` if a question set exists, but with another recipe than the finding's."""
    if found is not None and found.recipe != question_sets.choose(parent, recipe).recipe.to_json():
        raise BadFinding(
            "Expected a question set with the recipe of the finding, got one with another recipe. Delete it: "
            f"python manage.py delete {found}",
            where=str(found),
        )


def _retry_scores(training: Training) -> None:
    """Let the submissions of an earlier run that failed be scored again; train again if their files are gone."""
    failed = training.submissions.filter(state=State.FAILED)
    if failed.filter(file="").exists():
        failed.delete()
        Training.objects.filter(pk=training.pk, state=State.DONE).start_over(finished=None)
    else:
        failed.start_over(finished=None)


def _is_done(order: orders.TrainingOrder) -> bool:
    found = orders.find(order, prefers_done=True)
    return found is not None and found.state == State.DONE


@contextmanager
def _explained_names() -> Iterator[None]:
    """Replace the advice to choose another name, because the definition has the names of methods."""
    try:
        yield
    except orders.NameTaken as taken:
        pages = ", ".join(f"{settings.PUBLIC_URL}{one.get_absolute_url()}" for one in taken.users)
        other = taken.users[0]
        what = "another method has" if isinstance(other, Method) else "trainings with other settings have"
        raise BadFinding(
            f"Expected a name that is free, got {other.name!r}, which {what} for {other.owner}. Delete on the page of "
            f"each: {pages}. Or use another account: --owner ACCOUNT.",
            where="method",
        ) from taken


def _make_here(dataset: Dataset) -> None:
    """Make a dataset in this process, also while other processes run some of its jobs."""
    while state_of(dataset) == Dataset.State.MAKING:
        if graceful_shutdown.is_asked():
            raise KeyboardInterrupt
        dataset_jobs.RUNNER.recover()  # a process that was killed may still hold a job
        if dataset_jobs.work(dataset=dataset):
            continue
        reason = files.disk_shortage() or note(dataset, outages=True)
        if reason:
            raise StepFailed(f"{dataset.slug}: {reason}")
        time.sleep(dataset_jobs.IDLE)


def _check_not_waiting(job: Job) -> None:
    if job.waits and job.waiting_note:
        raise StepFailed(f"{job.split}: {job.waiting_note}")


def _recorded_statement(one: FindingStatement, found: Judgement) -> records.RecordedStatement:
    return records.RecordedStatement(
        says=one.says,
        plus=one.plus,
        minus=one.minus,
        divisor=one.divisor,
        at_least=one.at_least,
        at_most=one.at_most,
        value=records.rounded(found.value),
        low=records.rounded(found.interval.low),
        high=records.rounded(found.interval.high),
        outcome=found.outcome,
    )

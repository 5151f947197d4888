"""The texts about how a dataset was made, its limits and its biases, for the card and for the Croissant file.

References
----------
NeurIPS 2026, Evaluations and Datasets track, hosting guidelines: the minimal set of responsible-AI fields.
Croissant RAI specification 1.0.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from generation.engine.formats import ExportDataset
from generation.engine.formats.huggingface.card_statistics import FacetCounter
from generation.engine.items import Media

UNKNOWN = "Not known here, and to be taken from its own publication, for"
IMPACT = (
    "Shows at which kind of question a model fails, and whether it answers from cues instead of from what it is shown, "
    "before it is relied on. Harm could come from taking a high score here for the ability to reason about the world "
    "at large: the scenes are simple and the language is that of templates. The breakdown by question type, program "
    "length and the other facets is there to be reported with any score."
)
SHOWN = {Media.IMAGE: "an image", Media.STORY: "a story", Media.NONE: "nothing"}


def rai(dataset: ExportDataset, tallies: Mapping[str, FacetCounter]) -> dict[str, Any]:
    """Return the responsible-AI fields of a Croissant file, filled from the dataset's spec and its counts.

    Facts about imported splits that are not known are marked as unknown, so that their publisher can add them.
    """
    return {
        "rai:dataCollection": making(dataset),
        "rai:dataCollectionType": ["Software Collection"],
        "rai:dataBiases": biases(dataset, tallies),
        "rai:dataLimitations": limits(dataset),
        "rai:dataUseCases": uses(dataset),
        "rai:dataSocialImpact": IMPACT,
        "rai:personalSensitiveInformation": [
            f"None in what was made here: it describes invented things; no person is shown, named or described. "
            f"{UNKNOWN} {_names(imported)}."
            if (imported := _imported(dataset))
            else "None. Scenes, questions and answers describe invented things; no person is shown, named or described."
        ],
        "rai:hasSyntheticData": len(_imported(dataset)) < len(dataset.splits) or dataset.world.maker is not None,
        "rai:dataReleaseMaintenancePlan": (
            "A complete dataset never changes: its content hash names it. A corrected one is another version with "
            "another hash."
        ),
        "prov:wasDerivedFrom": _sources(dataset),
        "prov:wasGeneratedBy": [
            {
                "@type": "prov:Activity",
                "prov:type": {"@id": "https://www.wikidata.org/wiki/Q4929239"},
                "prov:label": "Import" if len(_imported(dataset)) == len(dataset.splits) else "Generation by a program",
                "sc:description": making(dataset),
                "prov:wasAssociatedWith": {
                    "@type": "prov:SoftwareAgent",
                    "prov:label": f"Horsesense {dataset.release}, engine {dataset.engine_version}",
                },
            }
        ],
    }


def _sources(dataset: ExportDataset) -> list[dict[str, str]]:
    """Return the sources of the data: the spec, and the published data for imported splits."""
    found = []
    imported = _imported(dataset)
    if len(imported) < len(dataset.splits):
        label = f"The specification of this dataset, spec.json: world {dataset.world.label}, seed {_seed(dataset)}"
        found.append(
            {"@id": "spec.json", "@type": "prov:Entity", "prov:label": f"{label}. It stands on no other data."}
        )
    if imported:
        cited = f": {dataset.citation.strip()}" if dataset.citation.strip() else "; which is not stated here."
        found.append(
            {"@type": "prov:Entity", "prov:label": f"The published data from which {_names(imported)} came{cited}"}
        )
    return found


def making(dataset: ExportDataset) -> str:
    """Return how the data were made."""
    imported = _imported(dataset)
    parts = []
    if len(imported) < len(dataset.splits):
        parts.append(
            f"Nothing was collected and nobody annotated anything{' here' if imported else ''}. A program (Horsesense "
            f"{dataset.release}, engine {dataset.engine_version}, world {dataset.world.label}) drew every scene from "
            f"the specification in spec.json with pseudo-random numbers of seed {_seed(dataset)}, asked questions by "
            "templates, and computed each answer by running the question's program on the scene. Same specification, "
            "same engine, same data."
        )
    if imported:
        parts.append(
            f"{_names(imported)} came from published files (world {dataset.world.label}) by import; how those were "
            "made their own publication tells."
        )
    sizes = [f"{split.name}: {split.scenes:,} scenes, {split.questions:,} questions" for split in dataset.splits]
    return " ".join([*parts, f"The content hash is {dataset.fingerprint}.", f"Splits: {'; '.join(sizes)}."])


def _imported(dataset: ExportDataset) -> list[str]:
    return [split.name for split in dataset.splits if split.imported]


def _names(splits: Sequence[str]) -> str:
    return ", ".join(splits)


def _seed(dataset: ExportDataset) -> int:
    return int(dataset.spec_json.get("seed", 0))


def limits(dataset: ExportDataset) -> list[str]:
    """Return what the data are not suitable for, in one or two sentences each."""
    withheld = [split.name for split in dataset.splits if not split.shows_answers]
    found = [
        f"Everything is synthetic: a question comes with {SHOWN[dataset.world.media]} made by a program, and what "
        "holds there need not hold for photographs or for people's own questions.",
        "Questions are made by templates: their language is narrow, and a model may learn the templates.",
        "Answers are single words, numbers or yes and no, of a vocabulary that is known beforehand; explanations are "
        "not scored.",
    ]
    if withheld:
        found.append(f"Answers, programs and scenes are withheld of: {', '.join(withheld)}.")
    return found


def biases(dataset: ExportDataset, tallies: Mapping[str, FacetCounter]) -> list[str]:
    """Return which answers are frequent, and how accurate blind guessing is in each split whose answers may be seen."""
    found = [
        "How often each value and each answer occurs follows from the specification and from how answers are balanced "
        "under it; some stay more frequent than others. The tables in README.md count them."
    ]
    for split in dataset.splits:
        tally = tallies.get(split.name)
        best = tally.majority() if tally else None
        if tally is None or best is None:
            continue
        by_kind = 100 * tally.majority_by_kind() / tally.answered
        found.append(
            f"{split.name} (n = {best.of:,}): always answering {best.answer!r} is right for {best.percent}, always "
            f"the most frequent answer of the question's type for {by_kind:.1f} %."
        )
    return found


def uses(dataset: ExportDataset) -> list[str]:
    """Return the purposes of the data."""
    return [
        "Diagnosing models that answer questions: accuracy broken down by what a question demands.",
        "Training and validation of such models where the splits allow it, and comparison under shifts between splits.",
        "Not for: judging how well a model sees or reasons outside of such scenes, and nothing about people.",
    ]

"""Addresses of datasets."""

from django.urls import path

from generation import url_converters  # noqa: F401 - registers `split:` and `position:`
from generation.views import (
    browsing,
    charts,
    count_shifts,
    creating,
    datasets,
    deriving,
    exports,
    importing,
    media,
    owner_actions,
    questions,
    shortcuts,
    withheld_answers,
)

SCENE = "datasets/<slug:slug>/<split:name>/scene/<position:position>"

urlpatterns = [
    path("datasets/", datasets.datasets, name="datasets"),
    path("datasets/new/", creating.new_dataset, name="dataset_new"),
    path("datasets/new/import/", importing.new_import, name="import_new"),
    path("datasets/new/import/<position:number>/", importing.import_state, name="import"),
    path("datasets/<slug:slug>/", datasets.dataset, name="dataset"),
    path("datasets/<slug:slug>/spec.json", datasets.spec, name="dataset_spec"),
    path("datasets/<slug:slug>/spec.zip", datasets.spec_with_files, name="dataset_spec_files"),
    path("datasets/<slug:slug>/edit/", owner_actions.edit, name="dataset_edit"),
    path("datasets/<slug:slug>/edit/progress/", owner_actions.progress, name="dataset_progress"),
    path("datasets/<slug:slug>/edit/cancel/", owner_actions.cancel, name="dataset_cancel"),
    path("datasets/<slug:slug>/edit/resume/", owner_actions.resume, name="dataset_resume"),
    path("datasets/<slug:slug>/edit/retry/<position:number>/", owner_actions.retry, name="dataset_retry"),
    path("datasets/<slug:slug>/edit/archive/", owner_actions.archive, name="dataset_archive"),
    path("datasets/<slug:slug>/edit/delete/", owner_actions.delete, name="dataset_delete"),
    *(
        path(f"datasets/<slug:slug>/charts/<slug:chart>.{kind}", charts.chart, {"kind": kind}, name=f"chart_{kind}")
        for kind in charts.KINDS
    ),
    path("datasets/<slug:slug>/export/", exports.page, name="dataset_export"),
    path("datasets/<slug:slug>/export/progress/", exports.progress, name="dataset_export_progress"),
    path("datasets/<slug:slug>/export/<position:export>/cancel/", exports.cancel, name="dataset_export_cancel"),
    path("datasets/<slug:slug>/export/<position:export>/retry/", exports.retry, name="dataset_export_retry"),
    path("datasets/<slug:slug>/export/<position:export>/delete/", exports.delete, name="dataset_export_delete"),
    path("datasets/<slug:slug>/export/<position:export>/file.zip", exports.download, name="dataset_export_file"),
    path("datasets/<slug:slug>/shortcuts/", shortcuts.shortcuts, name="shortcuts"),
    path("datasets/<slug:slug>/shortcuts/progress/", shortcuts.shortcuts_progress, name="shortcuts_progress"),
    *(
        path(
            f"datasets/<slug:slug>/shortcuts/all.{kind}", shortcuts.shortcuts_file, {"kind": kind}, f"shortcuts_{kind}"
        )
        for kind in shortcuts.KINDS
    ),
    path("datasets/<slug:slug>/count-shifts/<slug:name>/", count_shifts.count_shift, name="count_shift"),
    *(
        path(
            f"datasets/<slug:slug>/count-shifts/<slug:name>.{kind}",
            count_shifts.count_shift_file,
            {"kind": kind},
            name=f"count_shift_{kind}",
        )
        for kind in count_shifts.KINDS
    ),
    path("datasets/<slug:slug>/<split:name>/", browsing.browse, name="split"),
    path("datasets/<slug:slug>/<split:name>/q/<position:number>/", questions.question, name="question"),
    path("datasets/<slug:slug>/<split:name>/derive/", deriving.derive, name="split_derive"),
    path("datasets/<slug:slug>/<split:name>/shift-counts/", deriving.shift_counts, name="split_shift_counts"),
    path("datasets/<slug:slug>/<split:name>/delete/", deriving.delete, name="split_delete"),
    path("datasets/<slug:slug>/<split:name>/open/", withheld_answers.open_answers, name="open_answers"),
    path(f"{SCENE}/<slug:version>.png", media.scene_image, name="scene_image"),
    path(f"{SCENE}/small/<slug:version>.webp", media.scene_thumbnail, name="scene_thumbnail"),
    path(f"{SCENE}/ids/<slug:version>.png", media.scene_ids_image, name="scene_ids_image"),
]

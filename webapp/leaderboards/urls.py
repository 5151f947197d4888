"""URLs of leaderboards: boards and their analysis pages, suites, methods, submissions."""

from django.urls import path

from webapp.leaderboards.views import boards, disclosure, methods, submissions, suites
from webapp.leaderboards.views.analysis import (
    accuracy_over_k,
    comparing,
    grids,
    learning_curves,
    metrics,
    question,
    questions,
    skipped_steps,
    slices,
)

BOARD = "leaderboards/<slug:slug>/<slug:name>"

urlpatterns = [
    path("leaderboards/", boards.boards, name="leaderboards"),
    path("leaderboards/<slug:slug>/<slug:name>/", boards.board, name="board"),
    path("leaderboards/<slug:slug>/<slug:name>/board.<str:kind>", boards.board_file, name="board_file"),
    path("leaderboards/<slug:slug>/<slug:name>/template.<str:kind>", submissions.template_file, name="template_file"),
    path(f"{BOARD}/disclosure/", disclosure.disclosure, name="board_disclosure"),
    path(f"{BOARD}/approval/", disclosure.approval_ask, name="board_approval_ask"),
    path(
        f"{BOARD}/approvals/<position:number>/<slug:decision>/",
        disclosure.approval_decide,
        name="board_approval_decide",
    ),
    path(f"{BOARD}/slices/", slices.slices, name="board_slices"),
    path(f"{BOARD}/slices.<str:kind>", slices.slices_file, name="board_slices_file"),
    path(f"{BOARD}/compare/", comparing.compare, name="board_compare"),
    path(f"{BOARD}/compare.<str:kind>", comparing.compare_file, name="board_compare_file"),
    path(f"{BOARD}/questions/", questions.questions, name="board_questions"),
    path(f"{BOARD}/questions/<position:number>/", question.question, name="board_question"),
    path(f"{BOARD}/curves/", learning_curves.curve, name="board_curves"),
    path(f"{BOARD}/curves.<str:kind>", learning_curves.curve_file, name="board_curves_file"),
    path(f"{BOARD}/curves/reached.<str:kind>", learning_curves.reached_file, name="board_reached_file"),
    path(f"{BOARD}/metrics/", metrics.metrics, name="board_metrics"),
    path(f"{BOARD}/metrics.<str:kind>", metrics.metrics_file, name="board_metrics_file"),
    path(f"{BOARD}/steps/", skipped_steps.steps, name="board_steps"),
    path("suites/", suites.suites, name="suites"),
    path("suites/new/", suites.suite_new, name="suite_new"),
    path("suites/<slug:slug>/", suites.suite, name="suite"),
    path("suites/<slug:slug>/board.<str:kind>", suites.suite_file, name="suite_file"),
    path("suites/<slug:slug>/grid/", grids.grid, name="suite_grid"),
    path("suites/<slug:slug>/grid.<str:kind>", grids.grid_file, name="suite_grid_file"),
    path("suites/<slug:slug>/over-k/", accuracy_over_k.over_k, name="suite_over_k"),
    path("suites/<slug:slug>/over-k.<str:kind>", accuracy_over_k.over_k_file, name="suite_over_k_file"),
    path("suites/<slug:slug>/edit/", suites.suite_edit, name="suite_edit"),
    path("suites/<slug:slug>/delete/", suites.suite_delete, name="suite_delete"),
    path("methods/", methods.methods, name="methods"),
    path("methods/new/", methods.method_new, name="method_new"),
    path("methods/<position:number>/", methods.method, name="method"),
    path("methods/<position:number>/edit/", methods.method_edit, name="method_edit"),
    path("methods/<position:number>/publish/", methods.method_publish, name="method_publish"),
    path("methods/<position:number>/hide/", methods.method_hide, name="method_hide"),
    path("methods/<position:number>/delete/", methods.method_delete, name="method_delete"),
    path("submissions/", submissions.submissions, name="submissions"),
    path("submissions/new/", submissions.submission_new, name="submission_new"),
    path("submissions/<position:number>/", submissions.submission, name="submission"),
    path("submissions/<position:number>/progress/", submissions.submission_progress, name="submission_progress"),
    path("submissions/<position:number>/file/", submissions.submission_file, name="submission_file"),
    path("submissions/<position:number>/findings/", submissions.submission_findings, name="submission_findings"),
    path("submissions/<position:number>/delete/", submissions.submission_delete, name="submission_delete"),
]

"""Addresses of the pages that read a split's board: slices, comparing, questions, curves, steps."""

from django.urls import path

from webapp.leaderboards.views import comparing, curves, questions, slices, steps

BOARD = "leaderboards/<slug:slug>/<slug:name>"

urlpatterns = [
    path(f"{BOARD}/slices/", slices.slices, name="board_slices"),
    path(f"{BOARD}/slices.<str:kind>", slices.slices_file, name="board_slices_file"),
    path(f"{BOARD}/compare/", comparing.compare, name="board_compare"),
    path(f"{BOARD}/compare.<str:kind>", comparing.compare_file, name="board_compare_file"),
    path(f"{BOARD}/questions/", questions.questions, name="board_questions"),
    path(f"{BOARD}/curves/", curves.curve, name="board_curves"),
    path(f"{BOARD}/curves.<str:kind>", curves.curve_file, name="board_curves_file"),
    path(f"{BOARD}/curves/reached.<str:kind>", curves.reached_file, name="board_reached_file"),
    path(f"{BOARD}/steps/", steps.steps, name="board_steps"),
]

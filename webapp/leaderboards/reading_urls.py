"""Addresses of the pages that read a split's board: slices, comparing, questions, curves, steps."""

from django.urls import path

from webapp.leaderboards.views import comparing, learning, questions, slices

BOARD = "leaderboards/<slug:slug>/<slug:name>"

urlpatterns = [
    path(f"{BOARD}/slices/", slices.slices, name="board_slices"),
    path(f"{BOARD}/slices.<str:kind>", slices.slices_file, name="board_slices_file"),
    path(f"{BOARD}/compare/", comparing.compare, name="board_compare"),
    path(f"{BOARD}/compare.<str:kind>", comparing.compare_file, name="board_compare_file"),
    path(f"{BOARD}/questions/", questions.questions, name="board_questions"),
    path(f"{BOARD}/curves/", learning.curve, name="board_curves"),
    path(f"{BOARD}/curves.<str:kind>", learning.curve_file, name="board_curves_file"),
    path(f"{BOARD}/steps/", learning.steps, name="board_steps"),
]

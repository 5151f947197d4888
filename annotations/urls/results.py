"""URLs of studies' results."""

from django.urls import path

from annotations.views import participants, publishing, results

urlpatterns = [
    path("<slug:code>/results/", results.study_results, name="study_results"),
    path("<slug:code>/results/live/", results.study_results_live, name="study_results_live"),
    path("<slug:code>/answers.csv", results.study_answers_csv, name="study_answers_csv"),
    path("<slug:code>/answers.xlsx", results.study_answers_workbook, name="study_answers_workbook"),
    path("<slug:code>/answers.jsonl", results.study_answers_jsonl, name="study_answers_jsonl"),
    path("<slug:code>/publish/", publishing.study_publish, name="study_publish"),
    path("<slug:code>/withdraw/<int:number>/", publishing.study_withdraw, name="study_withdraw"),
    path("<slug:code>/people/", participants.study_people, name="study_people"),
    path("<slug:code>/people/apply-rules/", participants.study_apply_rules, name="study_apply_rules"),
    path("<slug:code>/people/<int:number>/exclude/", participants.study_exclude, name="study_exclude"),
    path("<slug:code>/people/<int:number>/take-back/", participants.study_take_back, name="study_take_back"),
    path("<slug:code>/people/<int:number>/erase/", participants.study_erase, name="study_erase"),
]

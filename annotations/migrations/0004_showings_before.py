"""Times of answers that were given before the site stored when a question was shown."""

from datetime import timedelta

from django.db import migrations

ROWS = 2000


def begin_showings(apps, schema_editor):
    """Store for what was answered before when it was shown at the latest known moment: when it was given.

    Of an easy question nothing is known but how long it was visible, as was reported.
    """
    Showing = apps.get_model("annotations", "Showing")
    given = apps.get_model("annotations", "Given").objects.order_by("pk").values_list("participant", "question", "at")
    rows = (Showing(participant_id=who, kind="question", number=number, at=at) for who, number, at in given.iterator())
    _store(Showing, rows)
    easy = apps.get_model("annotations", "EasyAnswer").objects.filter(superseded=False).order_by("pk")
    fields = ("participant", "kind", "number", "received", "visible")
    rows = (
        Showing(participant_id=who, kind=kind, number=number, at=received - timedelta(milliseconds=visible or 0))
        for who, kind, number, received, visible in easy.values_list(*fields).iterator()
    )
    _store(Showing, rows)


def _store(model, rows):
    some = []
    for row in rows:
        some.append(row)
        if len(some) == ROWS:
            model.objects.bulk_create(some)
            some = []
    model.objects.bulk_create(some)


class Migration(migrations.Migration):

    dependencies = [
        ("annotations", "0003_showings"),
    ]

    operations = [
        migrations.RunPython(begin_showings, migrations.RunPython.noop),
    ]

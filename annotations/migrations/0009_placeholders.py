"""Placeholders that no platform replaced: they are no longer names of participants, sessions and studies."""

from django.db import migrations, models

from annotations.answering.platform_names import names_nobody

ROWS = 2000


def move_placeholders(apps, schema_editor):
    """Move the placeholders that were stored as names. Only the secret address now opens these participants' pages."""
    Participant = apps.get_model("annotations", "Participant")
    changed = []
    everybody = Participant.objects.select_related("study").order_by("pk")
    named = everybody.exclude(identity="", session="", study_there="")
    for row in named.iterator(chunk_size=ROWS):
        study = row.study
        parameters = (study.person_parameter, study.session_parameter, study.study_parameter)
        lines = []
        for field, parameter in zip(("identity", "session", "study_there"), parameters, strict=True):
            text = getattr(row, field)
            if text and names_nobody(text, parameters):
                lines.append(f"{parameter}={text}")
                setattr(row, field, "")
        if lines:
            row.placeholders = "\n".join(lines)
            changed.append(row)
    fields = ["identity", "session", "study_there", "placeholders"]
    Participant.objects.bulk_update(changed, fields, batch_size=ROWS)


class Migration(migrations.Migration):

    dependencies = [
        ('annotations', '0008_participant_heard'),
    ]

    operations = [
        migrations.AddField(
            model_name='participant',
            name='placeholders',
            field=models.TextField(blank=True, db_default='', verbose_name='placeholders that were not replaced'),
        ),
        migrations.RunPython(move_placeholders, migrations.RunPython.noop),
    ]

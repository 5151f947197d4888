"""Each suite gets a key, which is the end of the URL of an unlisted suite."""

from typing import Any

from django.db import migrations, models

import webapp.leaderboards.models.suites


def make_keys(apps: Any, schema_editor: Any) -> None:
    # The column's default was the same for all suites.
    suites = apps.get_model("leaderboards", "Suite").objects.using(schema_editor.connection.alias)
    for pk in suites.values_list("pk", flat=True):
        suites.filter(pk=pk).update(key=webapp.leaderboards.models.suites.new_key())


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboards", "0003_disclosures"),
    ]

    operations = [
        migrations.AddField(
            model_name="suite",
            name="key",
            field=models.CharField(
                default=webapp.leaderboards.models.suites.new_key,
                editable=False,
                help_text="Ends the address of an unlisted one.",
                max_length=32,
            ),
        ),
        migrations.RunPython(make_keys, migrations.RunPython.noop),
    ]

"""The chance baseline becomes the expected score of guesses; until now it was one random draw."""

from typing import Any

from django.db import migrations


def drop_draws(apps: Any, schema_editor: Any) -> None:
    # The next sweep of the background processes makes the baseline again.
    draws = apps.get_model("leaderboards", "Submission").objects.filter(method__baseline="chance")
    apps.get_model("leaderboards", "Disclosure").objects.filter(submission__in=draws).delete()
    draws.delete()


class Migration(migrations.Migration):
    # It changes only data: PostgreSQL can't alter a table in a transaction that deleted rows of it.
    dependencies = [("leaderboards", "0010_expected_scores")]

    operations = [migrations.RunPython(drop_draws, migrations.RunPython.noop)]

"""Exports note what is shown in them."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """One field."""

    dependencies = (("generation", "0010_imports"),)

    operations = (
        migrations.AddField(
            model_name="export",
            name="shown",
            field=models.TextField(
                default="{}", help_text="JSON: for each split, what of it is shown; for who asks at each download."
            ),
        ),
    )

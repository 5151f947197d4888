"""Splits may have a second part of their index: what the train split had seen."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("generation", "0006_blind_report")]

    operations = [
        migrations.RemoveConstraint(model_name="job", name="job_kind_names_its_work"),
        migrations.AddField(
            model_name="split",
            name="seen_digest",
            field=models.CharField(
                blank=True,
                help_text="Of the part of the index that tells what the reference split had seen.",
                max_length=64,
            ),
        ),
        migrations.AlterField(
            model_name="job",
            name="kind",
            field=models.CharField(
                choices=[
                    ("items", "scenes and questions"),
                    ("images", "Images"),
                    ("seal", "content hash and index"),
                    ("seen", "comparison with the reference split"),
                    ("delete", "Delete"),
                ],
                max_length=10,
            ),
        ),
        migrations.AddConstraint(
            model_name="job",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("chunk__isnull", False), ("kind__in", ["items", "images"]), ("split__isnull", False)),
                    models.Q(("chunk__isnull", True), ("kind__in", ["seal", "seen"]), ("split__isnull", False)),
                    models.Q(("chunk__isnull", True), ("kind", "delete"), ("split__isnull", True)),
                    _connector="OR",
                ),
                name="job_kind_names_its_work",
            ),
        ),
    ]

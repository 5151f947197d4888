"""Splits may be derived: a parent, and a recipe that says which of its questions they have."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("generation", "0008_export")]

    operations = [
        migrations.AddField(
            model_name="split",
            name="parent",
            field=models.ForeignKey(
                blank=True,
                help_text="Of a derived split: the one that has its scenes and questions.",
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="derived",
                to="generation.split",
            ),
        ),
        migrations.AddField(
            model_name="split",
            name="recipe",
            field=models.TextField(blank=True, help_text="Of a derived split: JSON that says which questions it has."),
        ),
        migrations.AddConstraint(
            model_name="split",
            constraint=models.CheckConstraint(
                condition=Q(kind="derived", parent__isnull=False) & ~Q(recipe="")
                | ~Q(kind="derived") & Q(parent__isnull=True, recipe=""),
                name="split_derived_has_parent",
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
                    ("derive", "question set"),
                    ("delete", "Delete"),
                ],
                max_length=10,
            ),
        ),
        migrations.RemoveConstraint(model_name="job", name="job_kind_names_its_work"),
        migrations.AddConstraint(
            model_name="job",
            constraint=models.CheckConstraint(
                condition=Q(kind__in=["items", "images"], split__isnull=False, chunk__isnull=False)
                | Q(kind__in=["seal", "seen", "derive"], split__isnull=False, chunk__isnull=True)
                | Q(kind="delete", split__isnull=True, chunk__isnull=True),
                name="job_kind_names_its_work",
            ),
        ),
    ]

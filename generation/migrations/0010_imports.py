"""Imports: whose files became which dataset, pictures that stay where they are, and who may see them."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("generation", "0009_derived_splits"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Import",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("slug", models.CharField(max_length=60)),
                ("format", models.CharField(max_length=40)),
                (
                    "images",
                    models.CharField(
                        choices=[
                            ("linked", "linked: they stay where they are"),
                            ("copied", "Copied"),
                            ("none", "left out"),
                        ],
                        default="none",
                        max_length=10,
                    ),
                ),
                (
                    "stored",
                    models.CharField(
                        blank=True, help_text="Folder of the storage in which uploads wait.", max_length=200
                    ),
                ),
                ("message", models.TextField(blank=True, help_text="Why nothing was kept.")),
                ("created", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
        ),
        migrations.CreateModel(
            name="ImportedSplit",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "files",
                    models.TextField(help_text="JSON: the files by what is in them, with size and time of change."),
                ),
                ("total", models.PositiveBigIntegerField(default=0, help_text="Bytes to read.")),
                ("done", models.PositiveBigIntegerField(default=0, help_text="Bytes read.")),
                (
                    "report",
                    models.TextField(blank=True, help_text="JSON: what is there, what is missing, what disagrees."),
                ),
            ],
        ),
        migrations.RemoveConstraint(
            model_name="job",
            name="job_kind_names_its_work",
        ),
        migrations.RemoveConstraint(
            model_name="scene",
            name="scene_image_has_size",
        ),
        migrations.AddField(
            model_name="dataset",
            name="images_folder",
            field=models.CharField(
                blank=True, help_text="Folder of this machine below which linked pictures lie.", max_length=1000
            ),
        ),
        migrations.AddField(
            model_name="dataset",
            name="images_visible",
            field=models.BooleanField(
                default=True,
                help_text="Off: only you and staff see its pictures.",
                verbose_name="pictures are shown to others",
            ),
        ),
        migrations.AddField(
            model_name="scene",
            name="linked",
            field=models.CharField(
                blank=True,
                help_text="Somebody else's picture, by its path below the dataset's images_folder.",
                max_length=300,
            ),
        ),
        migrations.AlterField(
            model_name="job",
            name="kind",
            field=models.CharField(
                choices=[
                    ("items", "scenes and questions"),
                    ("import", "Import"),
                    ("images", "Images"),
                    ("seal", "content hash and index"),
                    ("seen", "comparison with the reference split"),
                    ("derive", "question set"),
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
                    models.Q(
                        ("chunk__isnull", True),
                        ("kind__in", ["import", "seal", "seen", "derive"]),
                        ("split__isnull", False),
                    ),
                    models.Q(("chunk__isnull", True), ("kind", "delete"), ("split__isnull", True)),
                    _connector="OR",
                ),
                name="job_kind_names_its_work",
            ),
        ),
        migrations.AddConstraint(
            model_name="scene",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("image", ""), ("linked", "")),
                    models.Q(("height__gt", 0), ("width__gt", 0)),
                    _connector="OR",
                ),
                name="scene_image_has_size",
            ),
        ),
        migrations.AddConstraint(
            model_name="scene",
            constraint=models.CheckConstraint(
                condition=models.Q(("image", ""), ("linked", ""), _connector="OR"), name="scene_image_is_one"
            ),
        ),
        migrations.AddField(
            model_name="import",
            name="dataset",
            field=models.OneToOneField(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="imported",
                to="generation.dataset",
            ),
        ),
        migrations.AddField(
            model_name="import",
            name="owner",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="imports",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="importedsplit",
            name="split",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.CASCADE, related_name="origin", to="generation.split"
            ),
        ),
        migrations.AddConstraint(
            model_name="import",
            constraint=models.CheckConstraint(
                condition=models.Q(("images__in", ["linked", "copied", "none"])), name="import_images_known"
            ),
        ),
    ]

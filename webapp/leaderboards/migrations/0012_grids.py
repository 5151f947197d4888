"""A suite can be a grid: each of its splits has a number k."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboards", "0011_chance_as_expected"),
    ]

    operations = [
        migrations.AddField(
            model_name="suite",
            name="k_name",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="With its unit. Of a grid.",
                max_length=60,
                verbose_name="what k counts",
            ),
        ),
        migrations.AddField(
            model_name="suitemember",
            name="k",
            field=models.FloatField(blank=True, help_text="Of a grid: the number of its world.", null=True),
        ),
        migrations.AddConstraint(
            model_name="suitemember",
            constraint=models.UniqueConstraint(fields=("suite", "k"), name="suitemember_k_once"),
        ),
        migrations.AddConstraint(
            model_name="suitemember",
            constraint=models.CheckConstraint(
                condition=models.Q(("k", None), ("k__gt", 0), _connector="OR"), name="suitemember_k_above_zero"
            ),
        ),
    ]

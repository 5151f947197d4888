"""The number k of a split of a suite can be 0, for example if nothing is removed from it."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboards", "0012_grids"),
    ]

    operations = [
        migrations.RemoveConstraint(model_name="suitemember", name="suitemember_k_above_zero"),
        migrations.AddConstraint(
            model_name="suitemember",
            constraint=models.CheckConstraint(
                condition=models.Q(("k", None), ("k__gte", 0), _connector="OR"), name="suitemember_k_from_zero"
            ),
        ),
    ]

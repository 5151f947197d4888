from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboards', '0009_disclosures_of_deleted_sets'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='score',
            name='score_of_n',
        ),
        migrations.AlterField(
            model_name='score',
            name='right',
            field=models.FloatField(help_text='Of them answered rightly, taken strictly; of guesses, as many as are expected.'),
        ),
        migrations.AlterField(
            model_name='score',
            name='right_read',
            field=models.FloatField(help_text='The same with answers read out of free text.'),
        ),
        migrations.AddConstraint(
            model_name='score',
            constraint=models.CheckConstraint(condition=models.Q(('right__range', (0, models.F('n'))), ('right_read__range', (0, models.F('n'))), ('unreadable__lte', models.F('n'))), name='score_of_n'),
        ),
    ]

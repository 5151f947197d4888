from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboards', '0016_saved_views'),
    ]

    operations = [
        migrations.AddField(
            model_name='disclosure',
            name='step',
            field=models.PositiveSmallIntegerField(help_text='The step when it was published, in thousandths; empty if that is not known.', null=True),
        ),
    ]

from django.db import migrations


def make_group(apps, schema_editor):
    apps.get_model("auth", "Group").objects.get_or_create(name="researcher")


class Migration(migrations.Migration):
    dependencies = [
        ("webapp", "0001_initial"),
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    operations = [migrations.RunPython(make_group, migrations.RunPython.noop)]

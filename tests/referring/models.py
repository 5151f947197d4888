"""Something that needs a dataset."""

from django.db import models

from generation.models import Dataset


class Study(models.Model):
    # Without a constraint of the database: tables of an app without migrations are made before the dataset's.
    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, db_constraint=False)
    title = models.CharField(max_length=100)

    def __str__(self) -> str:
        return f"study {self.title}"

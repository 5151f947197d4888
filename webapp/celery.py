"""The Celery app of the background processes, with two queues."""

import os

from celery import Celery
from kombu import Exchange, Queue

from generation.queue import DEFAULT, GENERATION

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")

app = Celery("horsesense")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.conf.task_queues = [Queue(name, Exchange(name), routing_key=name) for name in (GENERATION, DEFAULT)]
app.autodiscover_tasks()

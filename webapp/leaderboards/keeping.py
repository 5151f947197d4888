"""What accounts keep on leaderboards: uploads that wait, and the codes of those that are scored."""

from typing import Any

from django.db.models import Count, Q, Sum

from generation.storage.account_storage import Use
from webapp.leaderboards.models import Submission


def use(user: Any) -> Use:
    """Return what an account's submissions take."""
    found = Submission.objects.filter(method__owner=user.pk).aggregate(
        count=Count("pk"), codes=Sum("kept"), uploads=Sum("size", filter=~Q(file=""))
    )
    size = (found["codes"] or 0) + (found["uploads"] or 0)
    advice = "Delete submissions on their pages, or a method with all of them. An upload goes once it is scored."
    return Use("Submissions", found["count"], size, advice)

"""Texts that are not answers: empty texts, and the texts that a runner writes when a request fails.

lmms-eval, VLMEvalKit and simple-evals write a text such as `[LMMS_EVAL_REQUEST_FAILED after 5 retries]` in place of an
answer. By chance, it may contain a number or a word that is an answer, such as `No response (bad request).`, so no
answer is read from it.
"""

FAILURES = (
    "[LMMS_EVAL_REQUEST_FAILED",
    "[LMMS_EVAL_BUDGET_EXCEEDED",
    "Failed to obtain answer via API",
    "No response (bad request)",
)


def is_failure(text: str) -> bool:
    """Return whether a text says that a runner got no reply.

    Parameters
    ----------
    text : str
        The answer as it is in a file of predictions; its beginning is enough.
    """
    return text.startswith(FAILURES) or text.lstrip().startswith(FAILURES)


def is_empty(text: str) -> bool:
    """Return whether a text is empty or has only spaces; null is stored as an empty text.

    Parameters
    ----------
    text : str
        The answer as it is in a file of predictions.
    """
    return not text.strip()

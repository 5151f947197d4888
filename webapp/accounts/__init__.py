"""Accounts: sign-in, sign-in links, the user's own page, mails."""

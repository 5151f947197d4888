"""Accounts: signing in, sign-in links, one's own page, mails."""

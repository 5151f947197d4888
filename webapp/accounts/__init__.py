"""Accounts: the sign-in form, sign-in links, the page of the user's account, and mails about accounts."""

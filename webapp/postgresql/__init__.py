"""PostgreSQL as Django knows it, but a connection that is kept is looked at before it is asked whether it lives."""

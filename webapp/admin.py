"""Accounts in the admin pages."""

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin

from webapp.models import User

admin.site.site_header = admin.site.site_title = "Horsesense"

admin.site.register(User, UserAdmin)

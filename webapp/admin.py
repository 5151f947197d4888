"""Accounts in the admin pages."""

from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin

from webapp.models import User

admin.site.site_header = admin.site.site_title = "Horsesense"

# Its own sign-in form knows no limit of tries.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]

admin.site.register(User, UserAdmin)

"""Addresses: Taking part in a study."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []

"""Addresses: Making and running studies."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []

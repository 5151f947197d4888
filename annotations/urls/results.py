"""Addresses: What came out of studies."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []

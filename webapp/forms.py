"""The layout of forms: each field with its label, hint and errors."""

from django.forms.renderers import TemplatesSetting


class Renderer(TemplatesSetting):
    form_template_name = "webapp/_form.html"
    field_template_name = "webapp/_field.html"

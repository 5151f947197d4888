"""How forms look: each field with its label, its hint and its errors beside it."""

from django.forms.renderers import TemplatesSetting


class Renderer(TemplatesSetting):
    """Renders `{{ form }}` with the site's own field template."""

    form_template_name = "webapp/_form.html"
    field_template_name = "webapp/_field.html"

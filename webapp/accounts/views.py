"""Views of the user's account, its API tokens, and the page on which staff make sign-in links."""

from typing import Any

from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import cache_control, never_cache
from django.views.decorators.http import require_http_methods, require_POST

from generation.site_addresses import site_address
from generation.storage import storage_quotas
from webapp.accounts.forms import NameForm, SignInLinkForm, TokenForm
from webapp.models import LOGIN_LINK_LIFE, ApiToken, LoginLink, User, address_of

BAD = 400


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def page(request: HttpRequest) -> HttpResponse:
    """Return the page of the user's account; a POST changes the user's name."""
    if request.method != "POST":
        return _page(request)
    form = NameForm(request.POST, instance=_user(request))
    if not form.is_valid():
        return _page(request, status=BAD, name_form=form)
    form.save()
    messages.success(request, "Your name is saved.")
    return redirect("own_account")


@login_required
@never_cache
@cache_control(no_transform=True)  # the compressed length would reveal something about the token
@require_POST
def new_token(request: HttpRequest) -> HttpResponse:
    """Create a token; the response is the only page that ever shows the token."""
    form = TokenForm(request.POST, user=_user(request))
    if not form.is_valid():
        return _page(request, status=BAD, token_form=form)
    token = ApiToken.objects.make(_user(request), form.cleaned_data["name"])
    return _page(request, token=token, token_name=form.cleaned_data["name"])


@login_required
@require_POST
def revoke_token(request: HttpRequest, number: int) -> HttpResponse:
    """Revoke a token of the user."""
    found = get_object_or_404(ApiToken, pk=number, user=_user(request))
    if found.revoke():
        messages.success(request, f"“{found.name}” is revoked. Programs that use it are refused from now on.")
    return redirect("own_account")


@login_required
@never_cache
@cache_control(no_transform=True)
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in_links(request: HttpRequest) -> HttpResponse:
    """Return the page on which staff create a link that signs an account in once; status 404 for other users."""
    user = _user(request)
    if not user.is_staff:
        raise Http404
    form = SignInLinkForm(request.POST if request.method == "POST" else None, by=user)
    context: dict[str, Any] = {"form": form, "hours": int(LOGIN_LINK_LIFE.total_seconds() // 3600)}
    if form.is_bound and form.is_valid():
        account = form.cleaned_data["account"]
        site = site_address(request)
        context |= {"account": account, "address": f"{site}{address_of(LoginLink.objects.make(account))}"}
        context["form"] = SignInLinkForm(by=user)
    return render(request, "webapp/sign_in_links.html", context, status=BAD if form.errors else 200)


def _user(request: HttpRequest) -> User:
    assert isinstance(request.user, User)  # the decorator `login_required` ensures this
    return request.user


def _page(request: HttpRequest, *, status: int = 200, **more: Any) -> HttpResponse:
    user = _user(request)
    context = {
        "name_form": NameForm(instance=user),
        "token_form": TokenForm(user=user),
        "tokens": ApiToken.objects.of(user),
        "uses": (uses := storage_quotas.uses_of(user)),
        "used": sum(use.size for use in uses),
        "most": storage_quotas.limit_of(user),
        "is_linked": bool(settings.OIDC_NAME) and SocialAccount.objects.filter(user=user).exists(),
        **more,
    }
    return render(request, "webapp/account.html", context, status=status)

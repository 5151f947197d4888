"""The site's settings. Optional environment variables (the table below) change the defaults, which work as they are."""

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from webapp.assets import version_of
from webapp.environment import (
    SiteEnvironment,
    Variable,
    is_database,
    is_mail,
    is_redis,
    is_site,
    is_time_zone,
    is_web_address,
    locate,
    resolve,
)
from webapp.running.network_addresses import LOOPBACK, Network, are_networks, networks
from webapp.running.secret_files import kept_secret

BASE_DIR = Path(__file__).resolve().parent.parent

PLACE, SITE, MAIL, SPEED, S3 = "Where things are kept", "The site", "Mail", "Speed and limits", "Files on S3"
OIDC = "Signing in elsewhere (OpenID Connect)"
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")

# All environment variables that the site reads; the page /docs/settings/ shows this table.
VARIABLES = (
    Variable(
        name="VAR_DIR", kind="path", default="var", group=PLACE,
        about="Folder of all data of the site: database, files, secrets, caches. A relative path starts at the "
              "folder of manage.py.",
    ),
    Variable(
        name="MEDIA_ROOT", kind="path", default=None, shown="media in VAR_DIR", group=PLACE,
        about="Folder of images, indexes and exports. All processes on all machines must use the same folder, "
              "unless S3 is used.",
    ),
    Variable(
        name="DATABASE_URL", kind="database address", default=None, shown="a SQLite file in VAR_DIR",
        group=PLACE, secret=True, fits=is_database,
        expected="postgres://user:password@host:5432/name, or sqlite:////folder/file",
        about="For example postgres://user:password@host:5432/horsesense. SQLite works on one machine; "
              "several machines need PostgreSQL.",
    ),
    Variable(
        name="REDIS_URL", kind="text", default="", shown="a SQLite file in VAR_DIR", group=PLACE,
        secret=True, fits=is_redis, expected="redis://host:port without a database number (0 and 1 are used)",
        about="For example redis://host:6379. Messages to background processes use its database 0, the cache uses "
              "its database 1; do not write a database number in the address.",
    ),
    Variable(
        name="REDIS_PREFIX", kind="text", default="", group=PLACE,
        about="Prefix of every key, so that several sites can share one Redis.",
    ),
    Variable(
        name="NUMBA_CACHE_DIR", kind="path", default=None, shown="numba in VAR_DIR", group=PLACE,
        about="Folder of compiled code. It may be deleted at any time; the next start then takes longer.",
    ),
    Variable(
        name="BLENDER_PYTHON", kind="path", default=None, shown=".venv-blender/bin/python", group=PLACE,
        about="The Python that draws pictures for specs with the renderer blender: a Python 3.11 with bpy. "
              "`make blender` installs it. A relative path starts at the folder of manage.py.",
    ),
    Variable(
        name="TRAINING_PYTHON", kind="path", default=None, shown=".venv-torch/bin/python", group=PLACE,
        about="The Python that trains networks, with PyTorch. `make torch` installs it. If the site's own Python has "
              "PyTorch, it is used instead. Another Python also needs the packages of requirements.txt. A relative "
              "path starts at the folder of manage.py.",
    ),
    Variable(
        name="PUBLIC_URL", kind="text", default="", group=SITE, fits=is_site,
        expected="http(s)://host or http(s)://host:port",
        about="The address that people type, for example https://horsesense.example.org. Allowed hosts, trusted "
              "origins and links in mails follow from it; with https also secure cookies, HSTS and the "
              "redirect from http. The proxy must set X-Forwarded-Proto itself and replace it in requests of "
              "visitors; see TRUSTED_PROXIES.",
    ),
    Variable(
        name="TRUSTED_PROXIES", kind="list", default=[], shown="this machine", group=SITE, fits=are_networks,
        expected="addresses or networks, separated by commas, such as 192.0.2.7,10.0.0.0/8",
        about="Addresses or networks of proxies on other machines, separated by commas. The site trusts "
              "X-Forwarded-Proto and X-Forwarded-For only from these proxies and from this machine.",
    ),
    Variable(
        name="PROXY_SENDS_FILES", kind="yes or no", default=False, group=SITE,
        about="Whether the proxy sends pictures and exports: the site answers with X-Accel-Redirect and the path below "
              "MEDIA_ROOT; the proxy must read the file there and remove this header. See webapp/Caddyfile. It has "
              "no effect with S3.",
    ),
    Variable(
        name="ALLOWED_HOSTS", kind="list", default=[], shown="this machine, and the host in PUBLIC_URL",
        group=SITE,
        about="More host names or addresses of the site, separated by commas.",
    ),
    Variable(
        name="SECRET_KEY", kind="text", default="", shown="made once, kept in VAR_DIR", group=SITE,
        secret=True,
        about="Signs sessions and links. All processes need the same key: set it if you use several machines.",
    ),
    Variable(
        name="DEBUG", kind="yes or no", default=False, group=SITE,
        about="Shows error pages with source code, and reloads templates. Never use it on a site that others can "
              "reach.",
    ),
    Variable(
        name="SIGNUP", kind="yes or no", default=True, group=SITE,
        about="Whether visitors may make accounts. If not, staff make them in the admin pages.",
    ),
    Variable(
        name="TIME_ZONE", kind="text", default="UTC", group=SITE, fits=is_time_zone,
        expected="a time zone such as Europe/Berlin",
        about="Pages show times in this time zone, for example Europe/Berlin.",
    ),
    Variable(
        name="HSTS_SECONDS", kind="whole number", default=2_592_000, shown="2592000 (30 days)", group=SITE,
        least=0,
        about="How long browsers must use https, if PUBLIC_URL is https.",
    ),
    Variable(
        name="LOG_LEVEL", kind="text", default="INFO", group=SITE, choices=LEVELS,
        about="DEBUG, INFO, WARNING, ERROR or CRITICAL. Logs go to standard error.",
    ),
    Variable(
        name="ACCESS_LOG", kind="text", default="off", group=SITE, choices=("off", "json", "combined"),
        about="Whether one line for each request is written to standard output, as JSON or in the combined format of "
              "web servers. Addresses of participants, links that sign in and tokens are masked.",
    ),
    Variable(
        name="ERROR_EMAILS", kind="list", default=[], group=MAIL,
        about="Who gets mail about errors of the site, separated by commas. A mail has the type of the error and the "
              "lines of code, but no data that people sent. Needs EMAIL_URL.",
    ),
    Variable(
        name="SENTRY_DSN", kind="text", default="", group=SITE, secret=True, fits=is_web_address,
        expected="https://key@host/number",
        about="Address of Sentry or a compatible service. It gets the same reports of errors as ERROR_EMAILS.",
    ),
    Variable(
        name="METRICS_TOKEN", kind="text", default="", shown="none: only staff may read them", group=SITE, secret=True,
        fits=lambda token: len(token) >= 16, expected="16 characters or more",
        about="Prometheus can read /metrics if it sends the header Authorization: Bearer TOKEN.",
    ),
    Variable(
        name="OIDC_SERVER_URL", kind="text", default="", shown="none: people sign in here", group=OIDC,
        fits=is_web_address, expected="http(s)://host/path",
        about="Address of an OpenID Connect provider with which people can also sign in; it has "
              "/.well-known/openid-configuration. People who sign in there get an account here, if SIGNUP allows new "
              "accounts. The provider has to know this site's /accounts/oidc/main/login/callback/.",
    ),
    Variable(
        name="OIDC_CLIENT_ID", kind="text", default="", group=OIDC,
        about="The provider's name for this site.",
    ),
    Variable(
        name="OIDC_CLIENT_SECRET", kind="text", default="", group=OIDC, secret=True,
        about="The provider's secret for this site.",
    ),
    Variable(
        name="OIDC_NAME", kind="text", default="your institution", group=OIDC,
        about="The usual name of the provider: the button says “Sign in with …”.",
    ),
    Variable(
        name="EMAIL_URL", kind="email address", default=None, shown="mails go to the log, without links",
        group=MAIL, secret=True, fits=is_mail,
        expected="smtp://host:port or submission://user:password@host:port",
        about="For example submission://user:password@host:587 (encrypted), or smtp://host:25 (not encrypted). If it "
              "is set, new accounts confirm their address.",
    ),
    Variable(
        name="DEFAULT_FROM_EMAIL", kind="text", default="horsesense@localhost", group=MAIL,
        about="The sender of the site's mails.",
    ),
    Variable(
        name="WEB_THREADS", kind="whole number", default=8, group=SPEED, least=1,
        about="Number of requests that a process of the web server answers at the same time. A process has at most "
              "four more connections to PostgreSQL than threads.",
    ),
    Variable(
        name="WEB_PROCESSES", kind="whole number", default=1, group=SPEED, least=1,
        about="Number of processes of the web server, each with its threads. Limits are counted for all of them "
              "together, in the cache: Redis, or without it a file in VAR_DIR.",
    ),
    Variable(
        name="GENERATION_PROCESSES", kind="whole number", default=None,
        shown="2; with make run, generate and verify one for each processor", group=SPEED, least=1,
        about="Number of processes in each background process that makes datasets, each with up to 500 MB of memory "
              "and two connections to the database.",
    ),
    Variable(
        name="TRAINING_THREADS", kind="whole number", default=None, shown="half of the processors", group=SPEED,
        least=1,
        about="Number of threads of a training process. One training runs at a time on each machine.",
    ),
    Variable(
        name="TRAINING_HOURS", kind="number", default=24.0, group=SPEED, least=0,
        about="Hours after which a training is stopped. It can be continued from its page.",
    ),
    Variable(
        name="TRAINING_MEMORY_GB", kind="number", default=None, shown="half of the machine's memory", group=SPEED,
        least=0.1,
        about="Memory of a training process. A training that needs more is refused or ended with a message.",
    ),
    Variable(
        name="STOP_SECONDS", kind="whole number", default=50, group=SPEED, least=1,
        about="How long processes may take to stop; then they are killed. Background processes release their jobs. "
              "A container or a service has to wait longer before it kills the site: 60 seconds in "
              "docker-compose.yml.",
    ),
    Variable(
        name="ACCOUNT_MB", kind="whole number", default=2000, group=SPEED, least=1,
        about="Megabytes that an account may store: submissions, exports, files to import. Staff have no limit.",
    ),
    Variable(
        name="UPLOAD_MB", kind="whole number", default=250, group=SPEED, least=1,
        about="Largest request with files, in megabytes. Only pages for files accept this size, and only from "
              "accounts that may send files; all other pages accept 1 MB.",
    ),
    Variable(
        name="LEAST_COVERAGE", kind="whole number", default=0, group=SPEED, least=0,
        about="Percent of a split's questions that a submission must answer. A smaller share is refused with the "
              "numbers. 0 accepts every submission. The owner of a dataset can set another number for its boards.",
    ),
    Variable(
        name="DISK_RESERVE_GB", kind="number", default=2.0, group=SPEED, least=0,
        about="Free space that stays on the disk of MEDIA_ROOT. Generation waits and shows a message rather than use "
              "this space.",
    ),
    Variable(
        name="CACHE_GB", kind="number", default=10.0, group=SPEED, least=0,
        about="Largest size of VAR_DIR/cache on each machine. The folder has question files and, if files are on S3, "
              "copies of indexes. The least recently used files are removed, except open files.",
    ),
    Variable(
        name="EXPORT_DAYS", kind="whole number", default=7, group=SPEED, least=1,
        about="Number of days after which an export that was built on a page is deleted.",
    ),
    Variable(
        name="S3_BUCKET", kind="text", default="", shown="none: files are kept in MEDIA_ROOT", group=S3,
        about="Bucket for images, indexes and exports, on Amazon S3 or a compatible service.",
    ),
    Variable(
        name="S3_ENDPOINT_URL", kind="text", default="", shown="Amazon's", group=S3, fits=is_web_address,
        expected="http(s)://host or http(s)://host:port",
        about="Address of another S3-compatible service.",
    ),
    Variable(
        name="S3_REGION", kind="text", default="", group=S3,
        about="The bucket's region, if the service has regions.",
    ),
    Variable(
        name="S3_ACCESS_KEY_ID", kind="text", default="", shown="the machine's own identity",
        group=S3, secret=True,
        about="Key that may read, write and delete in the bucket.",
    ),
    Variable(
        name="S3_SECRET_ACCESS_KEY", kind="text", default="", shown="the machine's own identity",
        group=S3, secret=True,
        about="The secret of that key.",
    ),
)  # fmt: skip

env = SiteEnvironment(VARIABLES)

# Folders
VAR_DIR = resolve(env["VAR_DIR"], base=BASE_DIR)
MEDIA_ROOT = resolve(env["MEDIA_ROOT"] or VAR_DIR / "media", base=BASE_DIR)
NUMBA_CACHE_DIR = resolve(env["NUMBA_CACHE_DIR"] or VAR_DIR / "numba", base=BASE_DIR)
TRAINING_PYTHON = locate(env["TRAINING_PYTHON"] or ".venv-torch/bin/python", base=BASE_DIR)
BLENDER_PYTHON = locate(env["BLENDER_PYTHON"] or ".venv-blender/bin/python", base=BASE_DIR)
os.environ["NUMBA_CACHE_DIR"] = str(NUMBA_CACHE_DIR)  # numba reads this variable once, when it is first imported

# Hosts, https, and security headers
DEBUG: bool = env["DEBUG"]
SECRET_KEY: str = env["SECRET_KEY"] or kept_secret(VAR_DIR / "secret_key")
PUBLIC_URL: str = env["PUBLIC_URL"].rstrip("/")
_public = urlsplit(PUBLIC_URL)
HTTPS = _public.scheme == "https"
ALLOWED_HOSTS: list[str] = ["localhost", "127.0.0.1", "[::1]", *env["ALLOWED_HOSTS"]]
ALLOWED_HOSTS += [_public.hostname] if _public.hostname else []
CSRF_TRUSTED_ORIGINS = [PUBLIC_URL] if PUBLIC_URL else []
CSRF_FAILURE_VIEW = "webapp.views.csrf_failure"

SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^health/((web|ready|live)/)?$", r"^metrics$"]  # requested without the proxy, from inside
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
TRUSTED_PROXIES: list[Network] = [*LOOPBACK, *networks(env["TRUSTED_PROXIES"])]
PROXY_SENDS_FILES: bool = env["PROXY_SENDS_FILES"]
ACCOUNT_MB: int = env["ACCOUNT_MB"]
UPLOAD_MB: int = env["UPLOAD_MB"]
LEAST_COVERAGE: int = env["LEAST_COVERAGE"]
SECURE_HSTS_SECONDS: int = env["HSTS_SECONDS"] if HTTPS else 0
# Other subdomains may belong to somebody else, so this site must not force them onto https.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "img-src": [SELF, "data:", "blob:"],
        "object-src": [NONE],
        "base-uri": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}

# Styles and scripts are served directly from the source tree, without collectstatic. Scripts import one another by
# relative addresses, so all files share one version. It also depends on requirements.txt, because the files of the
# installed packages change with it.
# Ninja is no app, because each command and worker would load it, which takes 0.15 s. The scripts of its page are here.
_ninja = find_spec("ninja")
assert _ninja is not None and _ninja.origin is not None
STATICFILES_DIRS: list[Path | tuple[str, Path]] = [
    BASE_DIR / "static",
    ("ninja", Path(_ninja.origin).parent / "static" / "ninja"),
]
STATIC_URL = "/static/" if DEBUG else f"/static/{version_of([BASE_DIR / 'static', BASE_DIR / 'requirements.txt'])}/"
WHITENOISE_USE_FINDERS = True
WHITENOISE_IMMUTABLE_FILE_TEST = r"^/static/[0-9a-f]{16}/"

# Apps and middleware
INSTALLED_APPS = [
    "webapp",
    "webapp.leaderboards",
    "annotations",
    "generation",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django.forms",
    "allauth",
    "allauth.account",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "csp",
    "django_htmx",
]
MIDDLEWARE = [
    "webapp.monitoring.request_log.RequestLog",
    "annotations.middleware.PrivateAddresses",
    "webapp.running.request_limits.OurProxies",
    "webapp.running.request_limits.KnownPort",
    "webapp.running.compression.CompressTexts",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "webapp.running.request_limits.UploadLimit",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]
FORM_RENDERER = "webapp.forms.Renderer"
ROOT_URLCONF = "webapp.urls"
WSGI_APPLICATION = "webapp.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.debug",
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "webapp.context_processors.site",
            ]
        },
    }
]

# Database, cache and storage
SQLITE: dict[str, Any] = {
    "ENGINE": "django.db.backends.sqlite3",
    "NAME": VAR_DIR / "horsesense.sqlite3",
    "OPTIONS": {
        "timeout": 20,
        "transaction_mode": "IMMEDIATE",
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;",
    },
}
DATABASES: dict[str, dict[str, Any]] = {"default": env["DATABASE_URL"] or SQLITE}
if "sqlite" in DATABASES["default"]["ENGINE"]:
    DATABASES["default"] = SQLITE | {"NAME": DATABASES["default"]["NAME"]}
else:
    DATABASES["default"] |= {"ENGINE": "webapp.postgresql", "CONN_HEALTH_CHECKS": True}
DATABASES["default"] |= {"CONN_MAX_AGE": 60}  # seconds: opening a connection takes as long as several queries

REDIS_URL: str = env["REDIS_URL"]
_redis = urlsplit(REDIS_URL)
CACHES: dict[str, dict[str, Any]] = {
    "default": {
        "BACKEND": "webapp.running.site_cache.SiteCache",
        "LOCATION": _redis._replace(path="/1").geturl() if REDIS_URL else "",
        "KEY_PREFIX": env["REDIS_PREFIX"],
        "VERSION": 2,  # values of version 1 were pickles; they have other keys and are never read
        "OPTIONS": {"file": VAR_DIR / "cache.sqlite3"},
    }
}

S3_CONNECTIONS = 16  # simultaneous requests to the bucket during a backup or restore
STORAGES: dict[str, dict[str, Any]] = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
if env["S3_BUCKET"]:
    from botocore.config import Config  # type: ignore[import-untyped]  # installed with the extra `s3`

    STORAGES["default"] = {
        "BACKEND": "storages.backends.s3.S3Storage",
        "OPTIONS": {
            "bucket_name": env["S3_BUCKET"],
            "endpoint_url": env["S3_ENDPOINT_URL"] or None,
            "region_name": env["S3_REGION"] or None,
            "access_key": env["S3_ACCESS_KEY_ID"] or None,
            "secret_key": env["S3_SECRET_ACCESS_KEY"] or None,
            "querystring_auth": True,
            "file_overwrite": True,
            "default_acl": None,
            "client_config": Config(max_pool_connections=S3_CONNECTIONS),
        },
    }
FILE_UPLOAD_PERMISSIONS = 0o644
DISK_RESERVE_GB: float = env["DISK_RESERVE_GB"]
CACHE_GB: float = env["CACHE_GB"]
EXPORT_DAYS: int = env["EXPORT_DAYS"]

# Background processes. Messages are only hints that there are jobs; the jobs themselves are rows of the database.
BROKER_SECONDS = 1.0  # a page that sends a message waits at most this long for the broker
BROKER_LIMITS = {"socket_connect_timeout": BROKER_SECONDS, "socket_timeout": BROKER_SECONDS, "max_retries": 0}
BROKER_FILE = VAR_DIR / "broker.sqlite3"
CELERY_BROKER_URL = _redis._replace(path="/0").geturl() if REDIS_URL else f"sqlite:///{BROKER_FILE}"
CELERY_BROKER_TRANSPORT = None if REDIS_URL else "webapp.running.broker:Transport"
CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, Any] = (
    {"visibility_timeout": 3600, "global_keyprefix": env["REDIS_PREFIX"], **BROKER_LIMITS}
    if REDIS_URL
    else {"connect_args": {"timeout": BROKER_SECONDS}}
)
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_SERIALIZER = CELERY_RESULT_SERIALIZER = "json"
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = False
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = True  # has no effect without late acknowledgements
CELERY_TASK_DEFAULT_QUEUE = "default"
CELERY_TASK_CREATE_MISSING_QUEUES = False
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_WORKER_SEND_TASK_EVENTS = False
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TIMEZONE = "UTC"
HEALTH_SECONDS: float = 3  # health pages cache their results for this time
STORE_PROBE_SECONDS: float = 30  # the time between two checks that files can be written
STARTUP_SECONDS: float = 90  # background processes may take this long to start
CHART_SECONDS: float = 2  # a page waits this long for its charts; after that it is sent without them
WEB_THREADS: int = env["WEB_THREADS"]
WEB_PROCESSES: int = env["WEB_PROCESSES"]
STOP_SECONDS: int = env["STOP_SECONDS"]
PROCESSORS = os.cpu_count() or 1
GENERATION_PROCESSES: int = env["GENERATION_PROCESSES"] or min(2, PROCESSORS)  # for each `process generation`
MACHINE_PROCESSES: int = env["GENERATION_PROCESSES"] or PROCESSORS  # if the machine runs only this site
TRAINING_THREADS: int = env["TRAINING_THREADS"] or max(1, PROCESSORS // 2)
TRAINING_HOURS: float = env["TRAINING_HOURS"]
_memory_bytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
_container_limit = Path("/sys/fs/cgroup/memory.max")
if _container_limit.exists() and (_limit := _container_limit.read_text().strip()).isdigit():
    _memory_bytes = min(_memory_bytes, int(_limit))
TRAINING_MEMORY_GB: float = env["TRAINING_MEMORY_GB"] or _memory_bytes / 2 / 1024**3

# Accounts
AUTH_USER_MODEL = "webapp.User"
AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
SIGNUP: bool = env["SIGNUP"]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "home"
ACCOUNT_ADAPTER = "webapp.accounts.adapter.AccountAdapter"
SOCIALACCOUNT_ADAPTER = "webapp.accounts.adapter.ProviderAccountAdapter"
ACCOUNT_LOGIN_METHODS = {"username", "email"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "email*", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "mandatory" if env["EMAIL_URL"] else "none"
ACCOUNT_FORMS = {
    "login": "webapp.accounts.sign_in_form.SignInForm",
    "signup": "webapp.accounts.sign_up_form.SignUpForm",
}
# Also without mail, sign-up does not say that an address has an account already: several accounts can then have it.
ACCOUNT_PREVENT_ENUMERATION = "strict"
ACCOUNT_SESSION_REMEMBER = True

# Sign-in with OpenID Connect. It starts with a link and not with a form, because the page's content security policy
# would block a form that redirects to the provider.
OIDC_NAME: str = env["OIDC_NAME"] if env["OIDC_SERVER_URL"] else ""
_provider: dict[str, Any] = {
    "provider_id": "main",
    "name": OIDC_NAME,
    "client_id": env["OIDC_CLIENT_ID"],
    "secret": env["OIDC_CLIENT_SECRET"],
    "settings": {"server_url": env["OIDC_SERVER_URL"]},
}
SOCIALACCOUNT_PROVIDERS: dict[str, Any] = {
    "openid_connect": {"APPS": [_provider] if OIDC_NAME else [], "OAUTH_PKCE_ENABLED": True}
}
SOCIALACCOUNT_LOGIN_ON_GET = True

# Mail
_mail: dict[str, Any] = env["EMAIL_URL"] or {"EMAIL_BACKEND": "webapp.monitoring.mail_log.EmailBackend"}
EMAIL_BACKEND = _mail["EMAIL_BACKEND"]
EMAIL_HOST, EMAIL_PORT = _mail.get("EMAIL_HOST", ""), _mail.get("EMAIL_PORT") or 25
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = _mail.get("EMAIL_HOST_USER", ""), _mail.get("EMAIL_HOST_PASSWORD", "")
EMAIL_USE_TLS, EMAIL_USE_SSL = _mail.get("EMAIL_USE_TLS", False), _mail.get("EMAIL_USE_SSL", False)
EMAIL_FILE_PATH = _mail.get("EMAIL_FILE_PATH", "")
DEFAULT_FROM_EMAIL = SERVER_EMAIL = env["DEFAULT_FROM_EMAIL"]

# Language, time and logs
LANGUAGE_CODE = "en"
USE_I18N = False
USE_TZ = True
TIME_ZONE: str = env["TIME_ZONE"]
LOG_LEVEL: str = env["LOG_LEVEL"]
ACCESS_LOG: str = env["ACCESS_LOG"]
METRICS_TOKEN: str = env["METRICS_TOKEN"]
ERROR_EMAILS: list[str] = env["ERROR_EMAILS"]
SENTRY_DSN: str = env["SENTRY_DSN"]
EMAIL_TIMEOUT = 10  # seconds
if SENTRY_DSN and find_spec("sentry_sdk") is None:
    raise ImproperlyConfigured("SENTRY_DSN: expected the package sentry-sdk, which is not installed.")
LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {
            "class": "webapp.monitoring.log_masking.MaskingFormatter",
            "format": "{asctime} {levelname} {name}: {message}",
            "style": "{",
        },
        "plain": {"format": "{message}", "style": "{"},
    },
    "filters": {"outages": {"()": "generation.queue.outages.OutageFilter"}},
    "handlers": {
        "stderr": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["outages"]},
        "stdout": {"class": "logging.StreamHandler", "formatter": "plain", "stream": "ext://sys.stdout"},
        "reports": {"class": "webapp.monitoring.error_reports.Reporter"},
    },
    "root": {"handlers": ["stderr", *(["reports"] if ERROR_EMAILS or SENTRY_DSN else [])], "level": LOG_LEVEL},
    # Without these entries, Django sets its own levels and handlers for these loggers.
    "loggers": {name: {"level": LOG_LEVEL, "propagate": True} for name in ("django", "django.server")}
    | {"webapp.access": {"handlers": ["stdout"], "level": "INFO", "propagate": False}}
    # At level DEBUG, this logger logs all variables of a template, which include participants' platform ids.
    | {"django.template": {"level": "INFO" if LOG_LEVEL == "DEBUG" else LOG_LEVEL}},
}

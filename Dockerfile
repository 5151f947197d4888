FROM python:3.12-slim-bookworm@sha256:34386ef0cb081344d7ec1c103ba398e6e9f64e9ab3a1509accc92a4e24a07258

ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /app

COPY requirements.txt .
RUN pip install --require-hashes -r requirements.txt

# TORCH=yes adds PyTorch, with which the site trains networks. TORCH_INDEX is the address of another package index, for
# example of smaller builds for processors alone. See /docs/training/.
ARG TORCH=no
ARG TORCH_INDEX=
RUN case "$TORCH" in \
      no) ;; \
      yes) pip install ${TORCH_INDEX:+--index-url "$TORCH_INDEX"} torch==2.13.0 && pip check && python -c "import torch" ;; \
      *) echo "TORCH: expected yes or no, got: $TORCH" >&2; exit 2 ;; \
    esac

COPY manage.py pyproject.toml LICENSE ./
COPY webapp webapp
COPY annotations annotations
COPY generation generation
COPY static static

RUN useradd --create-home --uid 1000 horsesense && install -d -o horsesense -m 700 /data /media
USER horsesense

# The fast parts are compiled here, not at the first start. A processor unlike this one compiles them once more.
ENV NUMBA_CACHE_DIR=/home/horsesense/numba
RUN VAR_DIR=/tmp/warm python manage.py warm && rm -r /tmp/warm

ENV VAR_DIR=/data MEDIA_ROOT=/media
VOLUME /data /media
EXPOSE 8000

CMD ["python", "manage.py", "process", "web", "--bind", "0.0.0.0:8000"]

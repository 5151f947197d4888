"""The format `huggingface`: Parquet files, a dataset card and a Croissant file."""

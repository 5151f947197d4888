"""The views of studies, for researchers, participants and visitors."""

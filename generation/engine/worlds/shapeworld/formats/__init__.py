"""The format of the original ShapeWorld program."""

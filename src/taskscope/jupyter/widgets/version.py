"""Which front end the widgets need."""

__all__ = ["MODULE_VERSION"]

MODULE_VERSION = "^0.1.0"

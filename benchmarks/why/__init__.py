"""Ordinary work, and the causes an expert accepts or must never see for it."""

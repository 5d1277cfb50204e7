"""Tests, mirrored to the rooms of the packages."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

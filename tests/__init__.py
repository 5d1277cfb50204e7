"""Tests, mirrored to the subpackages."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

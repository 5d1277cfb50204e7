"""Writes proofs of certificates as theorems for proof assistants; decides nothing."""

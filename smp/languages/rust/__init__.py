"""Rust: crates by Cargo.toml and `mod`, paths and globs, impl blocks anywhere, traits, the common std types."""

from smp.languages.rust.language import Rust

__all__ = ["Rust"]

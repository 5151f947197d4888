"""Verifying items and exported folders by computing their content again."""

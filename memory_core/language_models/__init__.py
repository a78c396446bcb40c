"""Language models of any provider, or in a file on this machine, by a string."""

from memory_core.language_models.connection import check_connection
from memory_core.language_models.providers import ApiKey, key_variable, language_model

__all__ = ["ApiKey", "check_connection", "key_variable", "language_model"]

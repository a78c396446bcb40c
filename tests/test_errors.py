"""The error tree: what a caller can catch, and by which name."""

from __future__ import annotations

import inspect

import pytest

import memory_core
from memory_core import errors

PUBLIC = [
    error
    for _, error in inspect.getmembers(errors, inspect.isclass)
    if error.__module__ == errors.__name__
]


@pytest.mark.parametrize("error", PUBLIC)
def test_every_error_is_public_explained_and_under_one_root(error):
    assert getattr(memory_core, error.__name__) is error
    assert issubclass(error, memory_core.MemoryCoreError)
    assert inspect.getdoc(error)


@pytest.mark.parametrize("name", ["Busy", "Full", "Permission", "Corrupt"])
def test_what_befalls_the_file_is_a_store_error(name):
    assert issubclass(getattr(errors, f"Store{name}Error"), errors.StoreError)
    assert issubclass(errors.NewerStoreError, errors.StoreError)


def test_a_wrong_batch_is_no_fault_of_the_file():
    for error in (errors.InvalidBatchError, errors.StalePlanError, errors.EncodingDriftError):
        assert not issubclass(error, errors.StoreError)


def test_the_tree_at_the_top_of_the_module_names_each_error():
    for error in PUBLIC:
        assert error.__name__ in (errors.__doc__ or "")


def test_a_wrong_setting_is_also_a_value_error():
    with pytest.raises(ValueError, match="confidence_weight"):
        memory_core.RetrievalSettings(confidence_weight=1.5)

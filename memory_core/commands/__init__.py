"""The commands of `winnow`, by what they are about."""

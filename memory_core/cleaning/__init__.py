"""Finding what should not be there: doubtful texts, near duplicates, and all that an audit asks.

`lints` looks at one text (by `wording` and `instructions`), `likeness` at what is near it;
`duplicates` groups all that is near each other (by a `forest` of the nearest); `audit` asks the
whole bank, `polarity` whether two lessons contradict; `splitting` parts a memory that says two
things.
"""

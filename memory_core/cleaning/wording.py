"""Whether a lesson says anything in particular: names a tool, an object, a condition or a number.

Advice is generic when it is made of words that fit every task: *plan before acting*, *be thorough*.
Those words are listed here; any other word names something. So what is not known to be empty
counts as said, and a text in another language is never called generic.
"""

from __future__ import annotations

import re
from functools import cache

_FUNCTION_WORDS = """
a an the this that these those it its it's itself there here and or but nor so yet than then thus
of to in on at by for from with without into onto upon within through throughout over under about
as per via up down out off again back away along around between among across against toward
towards i me my mine we us our ours you your yours yourself yourselves he him his she her hers
they them their theirs themselves who whom whose which what whatever where whenever wherever how
why when if unless until till before after while during once since because although though whether
however be is are was were been being am do does did done doing have has had having can could may
might must shall should will would need needs ought let lets cannot can't don't doesn't didn't
won't isn't aren't shouldn't not no none never ever always often sometimes usually generally
typically all any some each every everything anything something nothing everyone anyone someone
everybody both either neither one ones other others another such same own only just even also too
very more most less least much many few several enough rather quite almost still already soon
later now today together else instead therefore hence accordingly first second last next finally
e.g i.e etc
"""

_EMPTY_WORDS = """
ability able accept access accomplish account accuracy accurate achieve act action actionable
active actual adapt adapted add address adequate adjust advance advice aim alert align allow
alternative ambiguity ambiguous analysis analyze analyse answer anticipate application apply
approach appropriate area arise ask aspect assess assume assumption attain attempt attention
attitude avoid aware awareness backup bad base basic basis become begin behavior behaviour believe
benefit best better big bit blindly boost brainstorm break brief bring broad build calm call
capable care careful case cause caution certain challenge chance change check choice choose
clarification clarify clarity clean clear close code collaborate collect come comment common
communicate communication complete completeness complex complexity comprehend comprehensive
concern concise conclude conclusion condition conduct confident confirm confuse confusion
consequence consider considerate consideration consistency consistent constantly constructive
content context continue contribute control convey cooperate correct correctness could courteous
create critical crucial curious current customer damage deal debug decide decision deep define
degree delay delete deliver demand depend deploy deployment describe descriptive deserve desire
detail determine develop development difference different difficult difficulty diligence diligent
direct discover discuss distract document double doubt downside draft early ease easy edge edit
effect effective efficiency efficient effort element empathetic empathy encounter encourage end
engage ensure entire environment error essential establish evaluate event evidence evolve exact
examine example excellence excellent execute exist expect expectation experience explain
explanation explicit explore extra face fact factor fail failure fair familiar fast feature
feedback feel figure file final finalize find finish fit fix flexibility flexible focus follow
foresee form formal forget forward friendly full fully function further future gain gather general
get give go goal goes good grace graceful grasp great grow guess guide guideline habit hand handle
happen hard harm hasty haste have headway help helpful hesitate high highlight hold honest hope
human hurry idea ideal identify ignore imagine immediate impact implement implementation important
impossible impression improve improvement include incomplete incorrect increase incremental
independent individual info inform information initial initiative input insight inspect instance
instruct instruction integrity intend intent intention interact interaction interest investigate
invest invite involve issue iterate iteration job join judge judgement judgment justify keep key
kind know knowledge lack large lead learn leave lesson level like likely limit listen little logic
logical long look lose loss low main maintain maintainability maintainable major make manage
manageable management manner manual matter maximize maximum mean meaningful measure medium meet
message method methodical mind mindful minimize minimal minimum minor misinterpret miss mistake
misunderstand mode moment monitor motivate move multiple name natural nature necessary neglect new
nice normal note notice objective observe obstacle obtain occur offer ongoing open opportunity
optimal optimize option order organize organized original outcome outline output overall overcome
overlook page pace part particular party past patience patient pattern pause pay people perfect
perform performance perhaps persevere persist persistence persistent person perspective phase
picture piece place plan planning play point polite politeness poor positive possible possibility
potential power practical practice precise precision prefer preparation prepare present preserve
pressure prevent previous principle prior prioritize priority proactive problem procedure proceed
process produce productive professional professionalism progress project promise prompt promptly
proper propose protect prove provide prudent purpose pursue put quality question quick quickly
raise reach react read readable ready real realistic realize reason reasonable receive recheck
recognize recommend reconsider reduce refer reference refine reflect reflection regard regular
relate relevance relevant reliability reliable rely remain remember repeat replace reply report
request require requirement research resolve resource respect respectful respond response
responsible responsibility rest result rethink retry return reuse review revise revisit reward
right rigor rigorous rigour rise risk role root round routine rule run rush safe safety
satisfaction satisfied satisfy save say scenario scope search see seek seem select sense sensible
separate sequence serious serve service set setting share short show significant similar simple
simplest simplicity simplify situation skill skip slow small smart smooth solid solution solve
sort sound source space specific speed spend stage stakeholder stand standard start state
statement stay step stop straightforward strategic strategy strength stress strict strive strong
structure structured stuck study subject submission submit succeed success successful sufficient
suggest suggestion suit suitable support suppose sure system systematic tackle take talk target
task team tell tend term test testing thank thing think thorough thoroughness thought thoughtful
time timely tip tool top topic total track transparent treat trial trouble true trust try turn
type unclear understand understanding unexpected unnecessary update use useful user utilize valid
validate valuable value various vary verify verification version view vital wait want watch way
weak weigh well whole willing wise wish wonder word work worry worth worthwhile wrap write writing
wrong yield careless command client running mature
"""

_NUMBER_WORDS = """
two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty sixty seventy
eighty ninety hundred thousand million dozen percent half third quarter
"""
NUMBER_WORDS = frozenset(_NUMBER_WORDS.split())

_CODE = re.compile(
    r"""
      `[^`]+`                                   # code
    | \w_\w | \w\.\w | ::                       # snake_case, a file or a method, a scope
    | (?<!\w)--?[a-z]                           # a flag
    | (?<!\S)[./~]+\w | \w\(\)                  # a path, a call
    | [a-z][A-Z]                                # camelCase
    | [=<>{}\[\]#@$%^*|\\]                      # signs that prose does not have
    """,
    re.VERBOSE,
)
_QUOTED = re.compile(r"""["“„«][^"“”„«»]+["”“»]|(?<!\w)['‘][^'‘’]+['’](?!\w)""")
_SLASHED = re.compile(r"\w+/\w+")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_SUFFIXES = ("ingly", "edly", "ness", "ing", "ied", "ies", "ed", "es", "er", "ly", "s", "y", "e")
MANY = 6
"""Empty words beside which a single telling one is not enough."""

LONGEST_PROSE = 2_000
"""Characters of 32 words at most. What is longer holds something else, such as one word of a
megabyte, over which the patterns below would take minutes."""


def is_generic(text: str, *, domain: str = "") -> bool:
    """Whether a lesson names nothing in particular. The words of its domain's name say nothing."""
    if len(text) > LONGEST_PROSE:
        return False
    if any(sign.isdigit() for sign in text) or _CODE.search(text) or _QUOTED.search(text):
        return False
    plain = _without_pairs(text)
    if "/" in plain:
        return False
    empty = _empty_stems() | {stem_of(word.lower()) for word in _WORD.findall(domain)}
    words = _WORD.findall(plain)
    telling = [word for word in words if not _says_nothing(word, empty)]
    if any(_is_name(word, plain) or word.lower() in NUMBER_WORDS for word in telling):
        return False
    return bool(words) and (
        not telling or (len(telling) == 1 and len(words) > MANY and _is_advice(words))
    )


def _without_pairs(text: str) -> str:
    """Slashes between everyday words, as in *and/or*, are no paths."""
    empty = _empty_stems()

    def spaced(match: re.Match[str]) -> str:
        return " ".join(match[0].split("/")) if all(
            _says_nothing(word, empty) for word in match[0].split("/")
        ) else match[0]  # fmt: skip

    return _SLASHED.sub(spaced, text)


def _says_nothing(word: str, empty: frozenset[str] | set[str]) -> bool:
    lower = word.lower().replace("’", "'")
    return lower in _function_words() or stem_of(lower.removesuffix("'s")) in empty


def _is_name(word: str, text: str) -> bool:
    """A word with a capital that no sentence begins with, or all in capitals."""
    if len(word) > 1 and word.isupper():
        return True
    return word[0].isupper() and bool(re.search(rf"[^\s.!?:;•–—-]\s+{re.escape(word)}\b", text))


def _is_advice(words: list[str]) -> bool:
    """Most of it function words and empty ones, and no condition in it."""
    return not {word.lower() for word in words} & {"when", "if", "unless", "until", "while"}


@cache
def _function_words() -> frozenset[str]:
    return frozenset(_FUNCTION_WORDS.split())


@cache
def _empty_stems() -> frozenset[str]:
    return frozenset(stem_of(word) for word in _EMPTY_WORDS.split())


@cache
def stem_of(word: str) -> str:
    """What is left of an English word without its endings; crude, the same for all its forms."""
    while (shorter := _shortened(word)) != word:
        word = shorter
    return word


def _shortened(word: str) -> str:
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            return word.removesuffix(suffix) + ("y" if suffix in ("ies", "ied") else "")
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word


def content_stems(text: str) -> list[str]:
    """The words of a text that are not function words, as stems, in order."""
    function = _function_words()
    lower = (word.lower().replace("’", "'") for word in _WORD.findall(text))
    return [stem_of(word) for word in lower if word not in function]

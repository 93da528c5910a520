"""What the words between a customer and an agent give away, judged without a model.

Simulators keep their customers true by these functions, and what certifies them counts with the
same ones. They know English and are careful: what they find is meant to be there, and they miss
some. All take bounded time on texts of up to `LONGEST` characters; refuse longer ones first.
"""

import re
import unicodedata
from typing import NamedTuple

LONGEST = 20_000
"""Characters of the longest output that counts as one turn; more comes of a fault."""


class Parted(NamedTuple):
    """An output as what its author thought and what it said."""

    private: str
    public: str


def audible(text: str) -> str:
    """The text without control characters; line breaks and tabs stay, white space around goes."""
    kept = (c for c in text.replace("\r\n", "\n") if c in "\n\t" or unicodedata.category(c) != "Cc")
    return "".join(kept).strip()


def split_private(text: str) -> Parted:
    """What is marked as thinking, and the rest, which is what the other side may hear.

    Thinking is marked by tags (`<think>`; a missing half reaches to that end of the text), by a
    label at the start of a line or sentence ("Thought:", "PLAN") up to a label of speech
    ("Customer:", "SPEAK") or else a blank line, or by brackets "(thinking: ...)".
    """
    private: list[str] = []
    while True:
        found, text = _part(text)
        if not found:
            return Parted("\n".join(private), text.strip())
        private.append(found)


def own_words(text: str) -> str:
    """The text up to where its author goes on in the name of the agent."""
    agent = _AGENT_LABEL.search(text)
    return text[: agent.start()].strip() if agent and agent.start() else text


def role_flip(text: str) -> bool:
    """Whether a customer speaks as the agent would: offers help, reports bookings, calls tools."""
    return any(pattern.search(text) for pattern in (_AGENT_LABEL, _COMMAND, _AGENT_SPEECH))


def without_flips(text: str) -> str:
    """The customer's text without the sentences in which it speaks as the agent; may be empty."""
    if _COMMAND.search(text):
        return ""
    kept = "".join(part for part in _SENTENCE.findall(own_words(text)) if not role_flip(part))
    return "" if role_flip(kept) else kept.strip()


def offers(agent_text: str) -> bool:
    """Whether the agent says that it can act, or its last question asks for leave to."""
    parts = [part for part in _SENTENCE.findall(agent_text) if not _ASKS_MORE.search(part)]
    if any(map(_ABLE.search, parts)):
        return True
    questions = [part for part in _SENTENCE.findall(agent_text) if part.rstrip().endswith("?")]
    return bool(questions) and questions[-1] in parts and bool(_ACTION.search(questions[-1]))


def consents(text: str, agent_text: str) -> bool:
    """Whether the customer asks the agent to act, or agrees to what it has just offered to do."""
    if _DEMAND.search(text):
        return True
    return bool(_ASSENT.search(text)) and not _REFUSAL.search(text) and offers(agent_text)


def _part(text: str) -> Parted:
    """One pass of `split_private`; taking one thing out may lay another bare."""
    private: list[str] = []

    def hide(thought: re.Match[str]) -> str:
        private.append(thought.group(0).strip())
        return "\n" if thought.group(0).startswith("<") else " "

    text = _TAGGED.sub(hide, text)
    text = _OPENED_BEFORE.sub(hide, text)
    text = _ASIDE.sub(hide, text)
    thought, text = _by_label(text)
    return Parted("\n".join(filter(None, [*private, thought])), text)


def _by_label(text: str) -> Parted:
    lines = _BREAK.sub("\n", text).split("\n")
    last_speech = max((i for i, line in enumerate(lines) if _SPEECH_LABEL.match(line)), default=-1)
    if not any(map(_THOUGHT_LABEL.match, lines)):
        return Parted("", _CUSTOMER_LABEL.sub("", text, count=1))
    parts: dict[bool, list[str]] = {True: [], False: []}
    is_thought = False
    for i, line in enumerate(lines):
        speech = _SPEECH_LABEL.match(line)
        if _THOUGHT_LABEL.match(line):
            is_thought = True
        elif speech:
            is_thought, line = False, line[speech.end() :]
        elif not line.strip() and i > last_speech:
            is_thought = False
        parts[is_thought].append(line)
    return Parted("\n".join(parts[True]).strip(), "\n".join(parts[False]))


def _label(words: str) -> str:
    """A label at the start of a line, bare or in the marks of Markdown."""
    return rf"[ \t>*_#\[(]{{0,8}}(?:{words})[ \t*_\])]{{0,8}}:[ \t*_]{{0,8}}"


_TAG = r"(think|thinking|thoughts?|reasoning|reflection|analysis|scratchpad|plan|monologue)"
_TAGGED = re.compile(rf"<{_TAG}\b[^<>]{{0,40}}>.*?(?:</\1\s{{0,8}}>|\Z)", re.I | re.S)
_OPENED_BEFORE = re.compile(rf"\A.*</{_TAG}\s{{0,8}}>", re.I | re.S)
_INNER = (
    r"(?:(?:my|inner|internal|private)\s)?(?:thoughts?|thinking|thought process|reasoning|"
    r"analysis|plan|reflection|monologue|strategy|scratchpad)|note to self"
)
_MUSES = r"(?:thinking|thinks|to (?:my|him|her)self|aside)\b"
_ASIDE = re.compile(
    rf"[(\[]\s{{0,8}}(?:(?:{_INNER})\s?:|{_MUSES})[^)\]\n]{{0,2000}}[)\]]"
    rf"|(?<!\*)\*{_MUSES}[^*\n]{{0,2000}}\*(?!\*)",
    re.I,
)
_THOUGHT_LABEL = re.compile(rf"(?i:{_label(_INNER)})|[ \t]{{0,8}}PLAN\b")
_CUSTOMER = "customer|user|client|caller"
_SPEECH = rf"{_CUSTOMER}|(?:{_CUSTOMER}|my|final)\s(?:response|reply|answer|message)|response"
_SPEECH_LABEL = re.compile(
    rf"(?i:{_label(f'{_SPEECH}|reply|answer|message|output|utterance|spoken')})"
    r"|[ \t]{0,8}SPEAK\b:?[ \t]?"
)
_CUSTOMER_LABEL = re.compile(rf"\A\s{{0,8}}{_label(_CUSTOMER)}", re.I)
_BREAK = re.compile(
    r"<COMMAND_END>|(?<=[.!?\"'])[ \t]+(?="
    r"(?i:(?:thoughts?|thinking|reasoning|inner monologue|internal monologue"
    rf"|{_SPEECH}|reply|message|utterance)\s?:)|PLAN\b|SPEAK\b)"
)
"""Where a label may follow inside a line: after a sentence."""

_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*\s*|[.!?\n]+\s*")

_AGENT_LABEL = re.compile(
    r"^[ \t>*_\[(]{0,8}(?:travel |service )?(?:agent|assistant|operator|representative|bot)"
    r"[ \t*_\])]{0,8}:",
    re.I | re.M,
)
_COMMAND = re.compile(
    r"\b(?:APICALL|APIRETURN)\b|<COMMAND_END>|^\s{0,8}CALL\s{0,8}[{\w]|\{\s{0,8}\"\w{1,80}\"\s{0,8}:",
    re.M,
)
_HAVE = r"\bI(?:['’]ve| have)(?: just| now| successfully| already| also){0,3}"
_CAN = r"\bI(?:['’]ll| will| can| could)"
_AGENT_SPEECH = re.compile(
    "|".join(
        (
            r"\bhow (?:can|may|could|might) I (?:help|assist|be of)\b",
            r"\bwhat (?:can|may|could) I (?:do for|help) you\b",
            r"\banything else (?:that )?I (?:can|could|may) (?:help|assist|do|book|find)\b",
            r"\b(?:can|may|could|shall|should) I (?:help|assist) you\b",
            r"\bI(?:['’]d| would| am|['’]m) (?:be )?(?:very |more than )?"
            r"(?:happy|glad|delighted|pleased) to (?:help|assist)\b",
            rf"{_CAN} (?:help|assist) you\b",
            r"\b(?:would you like|do you want|would you prefer) me to\b",
            r"\b(?:shall|should|can|may) I (?:book|reserve|check|search|look|find)\b"
            r"[^.!?\n]{0,80}\bfor you\b",
            rf"{_HAVE} (?:booked|reserved)\b",
            rf"{_HAVE} (?:found|located|made|placed)\b[^.!?\n]{{0,80}}\bfor you\b",
            r"\blet me (?:check|look|search|find|see|pull)\b[^.!?\n]{0,60}\bfor you\b",
            r"\byour (?:booking|reservation|table|room|ticket|order)s?"
            r" (?:is|are|has been|have been) (?:now |all )?"
            r"(?:confirmed|booked|reserved|made|complete|set)\b",
            r"\byour (?:reference|confirmation|booking) (?:number|code) is\b",
            r"\bthank(?:s| you) for (?:calling|contacting|choosing|reaching out)\b",
            r"\bwhat(?:['’]s| is) your (?:preferred|preference|budget|price range)\b",
            r"\bdo you have (?:a|any) (?:preference|preferred)",
            r"\bhow many (?:people|guests) (?:will be|are) (?:in your|traveling|travelling)\b",
            r"\bas an? (?:AI|language model|virtual assistant|travel agent)\b",
            r"\benjoy your (?:stay|meal|trip|journey|visit|dinner|time)\b",
            r"\blet me know if you(?:['’]d like| need| have| want) any",
            r"\bfeel free to (?:ask|contact|reach)\b",
        )
    ),
    re.I,
)

_ACT = (
    r"book|reserve|confirm|buy|purchase|order|cancel|change|arrange|schedule|proceed"
    r"|make (?:the|a|that|this) (?:booking|reservation|order|change)"
)
_ACTION = re.compile(rf"\b(?:{_ACT}|go ahead|do (?:so|that|this|it))(?:ed|ing)?\b", re.I)
_ABLE = re.compile(rf"{_CAN} (?:go ahead and |also |then ){{0,2}}(?:{_ACT})\b", re.I)
_ASKS_MORE = re.compile(
    r"\b(?:anything|something|what) else\b|\bfurther\b|\bany other\b"
    r"|^\s*(?:for )?(?:what|which|who|when|where|how)\b",
    re.I,
)
_DEMAND = re.compile(
    r"\b(?:please|go ahead(?: and)?|can you|could you|would you|let['’]?s|yes,?|sure,?|ok(?:ay)?,?"
    r"|I['’]d like (?:you )?to|I would like (?:you )?to|I want (?:you )?to)"
    rf"(?: please| just| also| then| go ahead and){{0,2}} (?:{_ACT})\b"
    rf"|(?:^|[,.;:!?]|\band)\W*(?:{_ACT}) (?:it|that|this|them|the|a|one|me|for)\b|\bgo ahead\b",
    re.I | re.M,
)
_ASSENT = re.compile(
    r"^\W*(?:yes|yeah|yep|yup|sure|ok|okay|alright|all right|perfect|great|excellent|absolutely"
    r"|definitely|certainly|of course|sounds? (?:good|great|perfect|fine|lovely)|that works"
    r"|please do|do (?:it|that|so)|that(?:['’]s| is| would be| sounds| will be) "
    r"(?:good|great|perfect|fine|lovely|wonderful))\b",
    re.I,
)
_REFUSAL = re.compile(
    r"^\W*(?:no|nope|nah)\b|\bno,? (?:thanks|thank you)\b|\bthat(?:['’]s| is| was| will be) all\b"
    r"|\bnothing (?:else|more|further)\b"
    r"|\b(?:don['’]?t|do not|won['’]?t|not) (?:need|want|book|reserve|confirm)\b|\bnever ?mind\b",
    re.I,
)

"""Tokens to be trained, one by one, for the chat templates in use.

What must hold: each output is trained exactly once, as inference would have sampled it, and all
that stands before it is the prompt of inference, token by token.
"""

import pytest
from cli.running import DATA
from hypothesis import given, settings
from hypothesis import strategies as st

from drl.errors import ConfigError
from drl.finetune.tokens import ChatTokens, TrainTokens
from drl.llm.base import Message, Sampling, ToolUse
from drl.models.chat_template import ChatTemplate
from drl.models.load import load
from drl.types import ToolSpec
from tests.finetune.chat_templates import FAMILIES, Family, bpe_tokenizer, template_of
from tests.llm.asking import ask_one, make, request

Ids = tuple[int, ...]

CONTENTS = {
    "plain": ("Hello.", "The train leaves at ten."),
    "equal": ("Hello.", "Hello."),
    "empty": ("", "Hello."),
    "line_breaks": ("\n\nHello.\n", "\nThe hotel"),
    "spaces": ("  Hello. ", " The hotel is cheap.  "),
    "marks": ("assistant\n", "assistant: user: [/INST"),
    "letters": ("Grüße, 你好 🚂", "é\u0301"),
    "one_letter": ("s", "t"),
    "digits": ("0", "1"),
}


def chat_tokens(family: Family) -> ChatTokens:
    ids = bpe_tokenizer().convert_tokens_to_ids(list(family.ends))
    return ChatTokens(template_of(family), frozenset(ids))


def dialogue(replies: tuple[str, ...], *, system: bool) -> tuple[Message, ...]:
    users = ("I need a train.", "Thank you!", "And a cheap hotel?", "0")
    messages = [Message("system", "You sell tickets.")] if system else []
    for user, reply in zip(users, replies, strict=False):
        messages += [Message("user", user), Message("assistant", reply)]
    return tuple(messages)


def outputs(sequences: list[TrainTokens]) -> list[tuple[Ids, Ids]]:
    """What is trained, run by run: all that stands before it, and itself."""
    found = []
    for sequence in sequences:
        assert len(sequence.ids) == len(sequence.is_trained)
        start = None
        for place, is_trained in enumerate((*sequence.is_trained, False)):
            if is_trained and start is None:
                start = place
            elif not is_trained and start is not None:
                found.append((sequence.ids[:start], sequence.ids[start:place]))
                start = None
    return found


def prompt_ids(family: Family, messages: tuple[Message, ...]) -> Ids:
    """The prompt of inference."""
    template = template_of(family)
    return template.ids(template.text([m.plain() for m in messages], [], reply_follows=True))


def reply_ids(family: Family, content: str) -> Ids:
    return tuple(bpe_tokenizer()(family.reply(content), add_special_tokens=False)["input_ids"])


def wanted(family: Family, messages: tuple[Message, ...]) -> list[tuple[Ids, Ids]]:
    return [
        (prompt_ids(family, messages[:place]), reply_ids(family, message.content))
        for place, message in enumerate(messages)
        if message.role == "assistant"
    ]


def of_agent(messages: tuple[Message, ...]) -> list[int]:
    return [place for place, message in enumerate(messages) if message.role == "assistant"]


@pytest.mark.parametrize("contents", CONTENTS)
@pytest.mark.parametrize("name", FAMILIES)
def test_outputs_are_trained_once_after_the_very_prompt_of_inference(name, contents):
    family = FAMILIES[name]
    for system in (False, True)[: 1 + family.has_system]:
        messages = dialogue((*CONTENTS[contents], "Thank you!"), system=system)
        found = chat_tokens(family).dialogue(messages, of_agent(messages), ())
        assert outputs(found) == wanted(family, messages)


texts = st.text(alphabet="aTs \n0.é<", max_size=6)


@pytest.mark.parametrize("name", FAMILIES)
@settings(max_examples=40, derandomize=True)
@given(replies=st.tuples(texts, texts, texts))
def test_that_holds_for_any_texts(name, replies):
    family = FAMILIES[name]
    messages = dialogue(replies, system=family.has_system)
    found = chat_tokens(family).dialogue(messages, of_agent(messages), ())
    assert outputs(found) == wanted(family, messages)


@pytest.mark.parametrize("name", FAMILIES)
def test_only_the_chosen_outputs_are_trained(name):
    family = FAMILIES[name]
    messages = dialogue(("Hello.", "The train", "Thank you!"), system=family.has_system)
    first, second, third = of_agent(messages)
    all_wanted = wanted(family, messages)
    for chosen, places in (([second], [1]), ([third, first], [0, 2]), ([], [])):
        found = chat_tokens(family).dialogue(messages, chosen, ())
        assert outputs(found) == [all_wanted[place] for place in places]


@pytest.mark.parametrize(
    ("name", "num"),
    [
        # each prompt extends what came before: one sequence
        *((name, 1) for name in ("chatml", "smollm2", "mistral1", "gemma", "always_closed")),
        # the system prompt moves; thoughts are opened for the last reply only
        *((name, 3) for name in ("mistral3", "deepseek")),
        # no later prompt has the token that ends a reply
        ("plain", 3),
        # this tokenizer, like that of GPT-2, reads two line breaks as one token at the end of a
        # prompt only
        ("llama3", 3),
    ],
)
def test_sequences_are_as_few_as_the_template_allows(name, num):
    family = FAMILIES[name]
    messages = dialogue(("Hello.", "The train", "Thank you!"), system=family.has_system)
    found = chat_tokens(family).dialogue(messages, of_agent(messages), ())
    assert len(found) == num


def test_thoughts_are_trained_where_they_were_sampled_and_absent_where_later_prompts_drop_them():
    family = FAMILIES["qwen3"]
    thoughts = ("<think>\nten?\n</think>\n\nAt ten.", "<think>\n\n</think>\n\nBye.")
    messages = dialogue(thoughts, system=True)
    found = chat_tokens(family).dialogue(messages, of_agent(messages), ())
    assert outputs(found) == wanted(family, messages)
    assert len(found) == 2
    decoded = bpe_tokenizer().decode(list(found[1].ids))
    assert "ten?" not in decoded
    assert "At ten." in decoded


def test_thoughts_between_tool_calls_share_one_sequence():
    family = FAMILIES["qwen3"]
    call = ToolUse("1", "search", '{"area": "north"}')
    messages = (
        Message("user", "A hotel?"),
        Message("assistant", "<think>\nlook\n</think>\n\n", (call,)),
        Message("tool", "one", tool_call_id="1"),
        Message("assistant", "<think>\none!\n</think>\n\nThere is one."),
    )
    found = chat_tokens(family).dialogue(messages, [1, 3], ())
    assert len(found) == 1
    (_, first), (before, second) = outputs(found)
    assert bpe_tokenizer().decode(list(first)) == (
        "<think>\nlook\n</think>\n\n"
        '<tool_call>{"name": "search", "arguments": {"area": "north"}}</tool_call><|im_end|>'
    )
    assert before == prompt_ids(family, messages[:3])
    assert second == reply_ids(family, messages[3].content)


def test_thoughts_that_the_prompt_opens_and_the_template_drops_are_trained_all_the_same():
    family = FAMILIES["deepseek"]
    messages = dialogue(("ten?\n</think>\n\nAt ten.", "bye\n</think>\n\nBye."), system=False)
    found = chat_tokens(family).dialogue(messages, of_agent(messages), ())
    assert outputs(found) == wanted(family, messages)


def test_tool_calls_after_a_prompt_that_moves_the_system_prompt_are_found():
    family = FAMILIES["mistral3"]
    call = ToolUse("1", "search", '{"area": "north"}')
    prompt = (Message("system", "You sell tickets."), Message("user", "A hotel?"))
    step = chat_tokens(family).step(prompt, Message("assistant", "", (call,)), ())
    assert step.prompt_ids == prompt_ids(family, prompt)
    assert bpe_tokenizer().decode(list(step.completion_ids)) == (
        '[TOOL_CALLS] {"name": "search", "arguments": {"area": "north"}}</s>'
    )


def test_a_template_that_writes_no_tool_calls_is_refused():
    call = ToolUse("1", "search", "{}")
    with pytest.raises(ConfigError, match=r"llm.chat_template.*search"):
        chat_tokens(FAMILIES["chatml"]).step(
            [Message("user", "A hotel?")],
            Message("assistant", "", (call,)),
            [ToolSpec("search", "Finds hotels.", {"type": "object", "properties": {}})],
        )


def test_a_chat_that_the_template_refuses_is_refused():
    with pytest.raises(ConfigError, match="System role not supported"):
        chat_tokens(FAMILIES["gemma"]).step(
            [Message("system", "Sell."), Message("user", "A hotel?")], Message("assistant", ""), ()
        )


def test_an_output_ends_where_inference_would_have_ended_it():
    family = FAMILIES["chatml"]
    step = chat_tokens(family).step(
        [Message("user", "Hi")], Message("assistant", "Hello.<|im_end|>\n<|im_start|>user"), ()
    )
    assert step.completion_ids == reply_ids(family, "Hello.")


def test_a_sequence_is_cut_after_a_whole_output():
    family = FAMILIES["chatml"]
    messages = dialogue(("Hello.", "The train"), system=True)
    (whole,) = chat_tokens(family).dialogue(messages, of_agent(messages), ())
    (before, output), (_, _) = outputs([whole])
    first = len(before) + len(output)
    assert whole.cut(len(whole)) == whole
    for longest in (first, first + 1, len(whole) - 1):
        assert whole.cut(longest) == TrainTokens(whole.ids[:first], whole.is_trained[:first])
    assert whole.cut(first - 1) is None
    assert whole.cut(0) is None


@pytest.mark.slow
def test_smollm2_trains_the_tokens_that_it_samples():
    llm = make("hf/smollm2", dtype="float32", device="cpu", root=DATA)
    prompt = (Message("user", "What is the capital of France?"),)
    (choice,) = ask_one(llm, request(messages=prompt, sampling=Sampling(0.0, 16))).choices
    assert choice.sampled
    assert choice.finish_reason == "stop"
    loaded = load(llm.weights().folder, None, "float32", "cpu")
    tokens = ChatTokens(ChatTemplate(loaded.tokenizer, None), loaded.end_ids)
    step = tokens.step(prompt, Message("assistant", choice.text), ())
    assert step.prompt_ids == choice.sampled.prompt_ids
    assert step.completion_ids == choice.sampled.token_ids

"""The templates that are shipped: what models of raw text read, and learn."""

import pytest

from drl.errors import ConfigError
from drl.finetune.tokens import ChatTokens
from drl.llm.base import Message, Sampling
from drl.models.chat_template import ChatTemplate, read_template
from tests.llm import tiny_model
from tests.llm.asking import ask_one, make, request

CHAT = (Message("system", " Tell tales.\n"), Message("user", "{{ Once }} <b>\n\n"))
TEXT = " Tell tales.\n{{ Once }} <b>\n\n"


def plain_text() -> ChatTemplate:
    return ChatTemplate(tiny_model.byte_tokenizer(), read_template("plain_text"))


@pytest.mark.parametrize("reply_follows", [True, False])
def test_plain_text_is_what_the_messages_say_and_nothing_else(reply_follows):
    chat = [message.plain() for message in CHAT]
    assert plain_text().text(chat, [], reply_follows=reply_follows) == TEXT


def test_an_output_is_learned_where_it_follows_its_prompt_up_to_the_end_of_text():
    tokens = ChatTokens(plain_text(), frozenset({tiny_model.END_ID}))
    step = tokens.step(CHAT, Message("assistant", " upon"), [])
    tokenizer = tiny_model.byte_tokenizer()
    assert list(step.prompt_ids) == tokenizer(TEXT)["input_ids"]
    assert list(step.completion_ids) == [*tokenizer(" upon")["input_ids"], tiny_model.END_ID]


def test_a_model_without_a_template_generates_and_trains_with_it(tmp_path):
    bare = tiny_model.save_tiny_model(tmp_path / "bare", template=None)
    llm = make("hf", model=str(bare), dtype="float32", device="cpu", chat_template="plain_text")
    sampling = Sampling(0.0, 4)
    (choice,) = ask_one(llm, request(messages=CHAT, sampling=sampling)).choices
    assert choice.sampled
    assert list(choice.sampled.prompt_ids) == tiny_model.byte_tokenizer()(TEXT)["input_ids"]
    assert llm.weights().chat_template == read_template("plain_text")


def test_a_template_that_is_neither_shipped_nor_a_file_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"llm\.chat_template=plain cannot be .* or plain_text"):
        read_template("plain")
    file = tmp_path / "own.jinja"
    file.write_text("{{ messages[0].content }}")
    assert read_template(str(file)) == "{{ messages[0].content }}"

"""Chat templates of the families in use, written small, with what each makes of a reply."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from drl.models.chat_template import ChatTemplate

CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
# a system prompt is put in where there is none
SMOLLM2 = (
    "{% if messages[0].role != 'system' %}<|im_start|>system\nBe of help.<|im_end|>\n{% endif %}"
) + CHATML
LLAMA3 = (
    "{{ bos_token }}{% for m in messages %}<|start_header_id|>{{ m.role }}<|end_header_id|>\n\n"
    "{{ m.content | trim }}<|eot_id|>{% endfor %}"
    "{% if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|>\n\n{% endif %}"
)
LLAMA3_WITH_DATE = LLAMA3.replace(
    "{{ bos_token }}", "{{ bos_token }}Today: {{ strftime_now('%d %b %Y') }}\n"
)
# the system prompt is part of the first message of the user
MISTRAL1 = (
    "{% set system = messages[0].content if messages[0].role == 'system' else '' %}"
    "{% set rest = messages[1:] if system else messages %}{{ bos_token }}"
    "{% for m in rest %}{% if m.role == 'user' %}"
    "[INST] {% if loop.first and system %}{{ system }}\n\n{% endif %}{{ m.content }} [/INST]"
    "{% else %}{{ ' ' + m.content | trim + eos_token }}{% endif %}{% endfor %}"
)
# the system prompt stands in the last message of the chat, if that is the user's
MISTRAL3 = (
    "{% set system = messages[0].content if messages[0].role == 'system' else '' %}"
    "{% set rest = messages[1:] if system else messages %}{{ bos_token }}"
    "{% for m in rest %}{% if m.role == 'user' %}"
    "[INST] {% if loop.last and system %}{{ system }}\n\n{% endif %}{{ m.content }}[/INST]"
    "{% elif m.tool_calls %}[TOOL_CALLS] {{ m.tool_calls[0].function | tojson }}{{ eos_token }}"
    "{% elif m.role == 'tool' %}[TOOL_RESULTS] {{ m.content }}[/TOOL_RESULTS]"
    "{% else %}{{ ' ' + m.content | trim + eos_token }}{% endif %}{% endfor %}"
)
# thoughts stay only in turns after the last message of the user
QWEN3 = (
    "{% set ns = namespace(last=0) %}{% for m in messages %}"
    "{% if m.role == 'user' %}{% set ns.last = loop.index0 %}{% endif %}{% endfor %}"
    "{% for m in messages %}<|im_start|>{{ m.role }}\n"
    "{% if m.role == 'assistant' and loop.index0 < ns.last %}"
    "{{ m.content.split('</think>')[-1].lstrip('\n') }}{% else %}{{ m.content }}{% endif %}"
    "{% for call in m.tool_calls or [] %}\n<tool_call>{{ call.function | tojson }}</tool_call>"
    "{% endfor %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
# opens the thoughts itself, and shows those of no reply
DEEPSEEK = (
    "{{ bos_token }}{% for m in messages %}{% if m.role == 'assistant' %}"
    "<|Assistant|>{{ m.content.split('</think>')[-1] }}{{ eos_token }}"
    "{% else %}<|User|>{{ m.content }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|Assistant|><think>\n{% endif %}"
)
GEMMA = (
    "{{ bos_token }}{% if messages[0].role == 'system' %}"
    "{{ raise_exception('System role not supported') }}{% endif %}"
    "{% for m in messages %}<start_of_turn>"
    "{{ 'model' if m.role == 'assistant' else m.role }}\n{{ m.content | trim }}<end_of_turn>\n"
    "{% endfor %}{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}"
)
ALWAYS_CLOSED = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
)
# no token stands anywhere between the words
PLAIN = (
    "{% for m in messages %}{{ m.role }}: {{ m.content }}\n\n{% endfor %}"
    "{% if add_generation_prompt %}assistant:{% endif %}"
)
SPECIAL = (
    *("<s>", "</s>", "<|im_start|>", "<|im_end|>", "<|start_header_id|>", "<|end_header_id|>"),
    *("<|eot_id|>", "[INST]", "[/INST]", "[TOOL_CALLS]", "[TOOL_RESULTS]", "[/TOOL_RESULTS]"),
    *("<|User|>", "<|Assistant|>", "<start_of_turn>", "<end_of_turn>"),
)
_TEXT = (
    "assistant user system: Hello, the train leaves at ten.\n\nThank you! The hotel is cheap.\n"
    "Thought: look it up.\nAPI: search(area=north)\n\n  assistant:  \n\n\nmodel\n<think>\n"
    "</think>\n\n"
)


@dataclass(frozen=True)
class Family:
    """A template, the text of a reply up to its end, and the tokens that end it."""

    template: str
    reply: Callable[[str], str]
    ends: tuple[str, ...]
    has_system: bool = True


FAMILIES = {
    "chatml": Family(CHATML, lambda text: f"{text}<|im_end|>", ("<|im_end|>",)),
    "smollm2": Family(SMOLLM2, lambda text: f"{text}<|im_end|>", ("<|im_end|>",)),
    "llama3": Family(LLAMA3, lambda text: f"{text.strip()}<|eot_id|>", ("<|eot_id|>", "</s>")),
    "llama3_with_date": Family(
        LLAMA3_WITH_DATE, lambda text: f"{text.strip()}<|eot_id|>", ("<|eot_id|>", "</s>")
    ),
    "mistral1": Family(MISTRAL1, lambda text: f" {text.strip()}</s>", ("</s>",)),
    "mistral3": Family(MISTRAL3, lambda text: f" {text.strip()}</s>", ("</s>",)),
    "qwen3": Family(QWEN3, lambda text: f"{text}<|im_end|>", ("<|im_end|>",)),
    "deepseek": Family(DEEPSEEK, lambda text: f"{text}</s>", ("</s>",)),
    "gemma": Family(
        GEMMA, lambda text: f"{text.strip()}<end_of_turn>", ("<end_of_turn>", "</s>"), False
    ),
    # such a model writes the header of its reply itself
    "always_closed": Family(
        ALWAYS_CLOSED, lambda text: f"<|im_start|>assistant\n{text}<|im_end|>", ("<|im_end|>",)
    ),
    # nothing ends a reply, so the token that ends a text is put there
    "plain": Family(PLAIN, lambda text: f" {text}\n\n</s>", ("</s>",)),
}


@cache
def bpe_tokenizer() -> PreTrainedTokenizerFast:
    """Byte pairs that merge across words and lines, with the special tokens of all families."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=list(SPECIAL),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([_TEXT] * 4, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        eos_token="</s>",
        additional_special_tokens=list(SPECIAL[2:]),
    )


def template_of(family: Family) -> ChatTemplate:
    """The template with a tokenizer that knows its special tokens."""
    return ChatTemplate(bpe_tokenizer(), family.template)

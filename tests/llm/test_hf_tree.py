"""The tree of computed prompts: what is shared is there once, and the oldest goes first."""

import torch

from drl.llm._hf_attention import Stored
from drl.llm._hf_tree import Node, PrefixTree

BIG = 10**6


def keys_of(start: int, tokens: tuple[int, ...]) -> Stored:
    """Keys that spell their tokens, so that a mix-up shows: one layer, one head, size one."""
    values = torch.tensor(tokens, dtype=torch.float32).view(1, 1, -1, 1)
    return Stored(values, values.clone(), torch.arange(start, start + len(tokens)))


def fill(leaf: Node) -> None:
    for node in leaf.path():
        if node.stored is None:
            node.stored = keys_of(node.start, node.tokens)


def put(tree: PrefixTree, *tokens: int) -> int:
    """Open, compute and close a sequence; how many of its tokens were new."""
    leaf, new = tree.open(tokens, 1)
    fill(leaf)
    tree.close(leaf, 1)
    tree.make_room()
    return new


def spelled(tree: PrefixTree) -> set[tuple[int, ...]]:
    """All sequences from the root to where nothing follows, from tokens and from keys alike."""
    found = set()
    for node in tree.nodes():
        path = node.path()
        tokens = tuple(token for each in path for token in each.tokens)
        for each in path:
            assert each.stored is not None
            assert tuple(each.stored.keys.flatten().int().tolist()) == each.tokens
            assert each.stored.positions.tolist() == list(range(each.start, each.end))
        if not node.children:
            found.add(tokens)
    return found


def test_a_common_beginning_is_kept_once():
    tree = PrefixTree(BIG, piece=BIG)
    assert put(tree, 1, 2, 3, 4, 5) == 5
    assert put(tree, 1, 2, 3, 9) == 1  # 1 2 3 is there
    assert put(tree, 1, 2) == 0
    assert put(tree, 7) == 1
    assert tree.size == 7
    assert spelled(tree) == {(1, 2, 3, 4, 5), (1, 2, 3, 9), (7,)}


def test_prompts_of_one_admission_share_what_is_not_computed_yet():
    tree = PrefixTree(BIG, piece=BIG)
    first, new_first = tree.open((1, 2, 3, 4), 1)
    second, new_second = tree.open((1, 2, 8), 2)
    assert (new_first, new_second) == (4, 1)
    fill(first)
    fill(second)
    assert [node.locks for node in second.path()] == [3, 2]
    assert spelled(tree) == {(1, 2, 3, 4), (1, 2, 8)}


def test_long_stretches_are_computed_in_pieces():
    tree = PrefixTree(BIG, piece=4)
    leaf, _ = tree.open(tuple(range(10)), 1)
    assert [len(node.tokens) for node in leaf.path()] == [4, 4, 2]


def test_what_was_not_used_for_longest_goes_first():
    tree = PrefixTree(capacity=6, piece=BIG)
    put(tree, 1, 2, 3)
    put(tree, 4, 5)
    put(tree, 1, 2, 3)  # used again
    put(tree, 6, 7)  # 7 tokens: 4 5 must go
    assert spelled(tree) == {(1, 2, 3), (6, 7)}


def test_what_others_build_on_goes_after_them():
    tree = PrefixTree(capacity=5, piece=BIG)
    put(tree, 1, 2, 3)
    put(tree, 1, 2, 4)
    put(tree, 1, 2, 5, 6)  # 6 tokens: 3 goes, its beginning stays
    assert spelled(tree) == {(1, 2, 4), (1, 2, 5, 6)}


def test_what_is_in_use_stays_and_what_does_not_fit_says_so():
    tree = PrefixTree(capacity=4, piece=BIG)
    busy, _ = tree.open((1, 2, 3), 1)
    fill(busy)
    assert tree.fits()
    waiting, _ = tree.open((4, 5), 1)
    assert not tree.fits()
    tree.withdraw(waiting, 1)
    assert tree.size == 3
    tree.close(busy, 1)
    again, _ = tree.open((4, 5), 1)
    assert tree.fits()
    fill(again)
    tree.make_room()
    assert spelled(tree) == {(4, 5)}


def test_withdrawing_leaves_what_others_wait_for():
    tree = PrefixTree(BIG, piece=BIG)
    mine, _ = tree.open((1, 2, 3), 1)
    other, _ = tree.open((1, 2, 4), 1)
    tree.withdraw(mine, 1)
    fill(other)
    assert spelled(tree) == {(1, 2, 4)}


def test_what_the_same_samples_go_through_becomes_one_stretch():
    tree = PrefixTree(BIG, piece=BIG)
    put(tree, 1, 2)
    put(tree, 1, 2, 3, 4)
    put(tree, 1, 2, 3, 4, 5)
    alone, _ = tree.open((1, 2, 3, 4, 5, 6), 1)
    fill(alone)
    assert [node.tokens for node in alone.path()] == [(1, 2), (3, 4), (5,), (6,)]
    other, _ = tree.open((1, 2, 3, 4, 7), 1)
    fill(other)
    # 1 2 3 4 has two samples now, and what follows has one each
    assert [node.tokens for node in alone.path()] == [(1, 2, 3, 4), (5,), (6,)]
    assert [node.tokens for node in other.path()] == [(1, 2, 3, 4), (7,)]
    assert spelled(tree) == {(1, 2, 3, 4, 5, 6), (1, 2, 3, 4, 7)}
    assert tree.size == 7
    tree.close(alone, 1)
    tree.close(other, 1)
    assert all(node.locks == 0 for node in tree.nodes())


def test_a_prompt_that_ends_within_a_stretch_keeps_its_end():
    tree = PrefixTree(BIG, piece=BIG)
    put(tree, 1, 2, 3)
    short, _ = tree.open((1, 2), 2)
    longer, _ = tree.open((1, 2, 3), 2)
    assert [node.tokens for node in longer.path()] == [(1, 2), (3,)]
    tree.close(short, 2)
    again, _ = tree.open((1, 2, 3), 1)
    assert again is longer
    assert [node.tokens for node in again.path()] == [(1, 2, 3)]
    tree.close(longer, 3)


def test_a_lock_survives_a_split():
    tree = PrefixTree(capacity=4, piece=BIG)
    leaf, _ = tree.open((1, 2, 3, 4), 1)
    fill(leaf)
    other, _ = tree.open((1, 2), 1)
    fill(other)
    tree.close(other, 1)
    tree.make_room()
    assert spelled(tree) == {(1, 2, 3, 4)}
    tree.close(leaf, 1)
    assert all(node.locks == 0 for node in tree.nodes())


def test_generated_tokens_are_kept_after_their_prompt_once():
    tree = PrefixTree(BIG, piece=BIG)
    leaf, _ = tree.open((1, 2), 2)
    fill(leaf)
    tree.add(leaf, (5, 6, 7), keys_of(2, (5, 6, 7)))
    tree.add(leaf, (5, 6, 8), keys_of(2, (5, 6, 8)))
    tree.add(leaf, (5, 6), keys_of(2, (5, 6)))
    assert spelled(tree) == {(1, 2, 5, 6, 7), (1, 2, 5, 6, 8)}
    assert tree.size == 6
    tree.close(leaf, 2)
    assert put(tree, 1, 2, 5, 6, 8, 9) == 1

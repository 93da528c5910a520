"""The prompts and replies that were computed, as a tree of tokens: what they share is there once.

A node spells the tokens between two points where sequences part, and holds their keys and values;
a path from the root spells a sequence. A node without them is *pending*: someone is about to
compute them. What is in use is locked; of the rest the least recently used goes first.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence

from drl.llm._hf_attention import Stored, join

Tokens = tuple[int, ...]


class Node:
    """Tokens from position `start` on, and what comes after them by first token."""

    __slots__ = ("children", "locks", "parent", "start", "stored", "tokens", "used_at")

    def __init__(self, tokens: Tokens, parent: Node | None, start: int) -> None:
        self.tokens = tokens
        self.parent = parent
        self.start = start
        self.children: dict[int, Node] = {}
        self.stored: Stored | None = None
        self.locks = 0
        """Samples under way whose prompt goes through here."""
        self.used_at = 0

    @property
    def end(self) -> int:
        """The position after its last token."""
        return self.start + len(self.tokens)

    @property
    def popularity(self) -> int:
        """How many sequences are known to go through here, now or in the past."""
        return max(self.locks, len(self.children))

    def path(self) -> list[Node]:
        """The nodes from below the root to this one."""
        nodes = list(self._upwards())
        nodes.reverse()
        return nodes

    def _upwards(self) -> Iterator[Node]:
        node = self
        while node.parent is not None:
            yield node
            node = node.parent


class PrefixTree:
    """What is kept, at most `capacity` tokens apart from what is locked.

    Args:
        capacity: in tokens.
        piece: the longest stretch that is computed at once; longer ones become several nodes.
    """

    def __init__(self, capacity: int, piece: int) -> None:
        self.root = Node((), None, 0)
        self.capacity = capacity
        self.size = 0
        """Tokens whose keys are stored or about to be."""
        self._piece = piece
        self._clock = 0

    def open(self, tokens: Tokens, samples: int) -> tuple[Node, int]:
        """Lock the path of a sequence for so many samples; what is new on it is pending.

        Returns:
            The path's last node, and how many tokens are new.
        """
        node, matched = self._match(self.root, tokens)
        new = len(tokens) - matched
        for begin in range(matched, len(tokens), self._piece):
            node = self._append(node, tokens[begin : begin + self._piece])
        self._clock += 1
        path = node.path()
        for each in path:
            each.locks += samples
            each.used_at = self._clock
        for run in _runs(path):
            _make_one(run)
        return node, new

    def close(self, leaf: Node, samples: int) -> None:
        """Unlock a path."""
        for node in leaf.path():
            node.locks -= samples

    def add(self, leaf: Node, tokens: Tokens, stored: Stored) -> None:
        """Keep what was generated after a path; `stored` holds the tokens' keys."""
        node, matched = self._match(leaf, tokens)
        if matched < len(tokens):
            node = self._append(node, tokens[matched:])
            node.stored = stored.cut(matched, len(tokens)) if matched else stored
        self._clock += 1
        for each in node.path():
            each.used_at = self._clock

    def fits(self) -> bool:
        """Whether all that is locked, or about to be computed, is within the capacity."""
        return sum(len(node.tokens) for node in self.nodes() if node.locks) <= self.capacity

    def make_room(self) -> None:
        """Throw out what was not used for longest until all fits, or all that is left is locked."""
        if self.size <= self.capacity:
            return
        leaves = [(node.used_at, id(node), node) for node in self.nodes() if _is_idle(node)]
        heapq.heapify(leaves)
        while self.size > self.capacity and leaves:
            _, _, node = heapq.heappop(leaves)
            parent = self.remove(node)
            if parent.parent is not None and _is_idle(parent):
                heapq.heappush(leaves, (parent.used_at, id(parent), parent))

    def remove(self, node: Node) -> Node:
        """Take a node without children out; its parent."""
        parent = node.parent
        assert parent is not None
        assert not node.children
        del parent.children[node.tokens[0]]
        self.size -= len(node.tokens)
        return parent

    def withdraw(self, leaf: Node, samples: int) -> None:
        """Unlock a path and take out what is pending on it, unless others wait for it too."""
        self.close(leaf, samples)
        node = leaf
        while node.parent is not None and node.stored is None and _is_idle(node):
            node = self.remove(node)

    def nodes(self) -> Iterator[Node]:
        """All nodes below the root."""
        stack = list(self.root.children.values())
        while stack:
            node = stack.pop()
            yield node
            stack.extend(node.children.values())

    def _append(self, parent: Node, tokens: Tokens) -> Node:
        node = Node(tokens, parent, parent.end)
        parent.children[tokens[0]] = node
        self.size += len(tokens)
        return node

    def _match(self, node: Node, tokens: Tokens) -> tuple[Node, int]:
        """The node that spells the longest known beginning of tokens that follow a node."""
        matched = 0
        while matched < len(tokens):
            child = node.children.get(tokens[matched])
            if child is None:
                break
            common = _common(child.tokens, tokens[matched : matched + len(child.tokens)])
            matched += common
            if common < len(child.tokens):
                return _split(child, common), matched
            node = child
        return node, matched


def _is_idle(node: Node) -> bool:
    return node.locks == 0 and not node.children


def _runs(path: Sequence[Node]) -> list[list[Node]]:
    """Stretches of a path whose nodes are stored and have the same samples go through them.

    Two samples at least: a run costs a copy, and pays where several read it at once.
    """
    runs: list[list[Node]] = []
    for node in path:
        parent = runs[-1][-1] if runs else None
        continues = parent is not None and parent is node.parent and _is_one(parent, node)
        if continues:
            runs[-1].append(node)
        elif node.stored is not None and node.locks > 1:
            runs.append([node])
    return [run for run in runs if len(run) > 1]


def _is_one(parent: Node, node: Node) -> bool:
    """Whether no sequence ends or parts between two nodes."""
    return len(parent.children) == 1 and parent.locks == node.locks and node.stored is not None


def _make_one(run: Sequence[Node]) -> None:
    """Put a run's tokens and keys into its last node, which stays who it was."""
    first, last = run[0], run[-1]
    parent = first.parent
    assert parent is not None
    last.stored = join([node.stored for node in run if node.stored is not None])
    last.tokens = tuple(token for node in run for token in node.tokens)
    last.start, last.parent = first.start, parent
    parent.children[last.tokens[0]] = last


def _split(node: Node, at: int) -> Node:
    """Part a node in two; the upper one, while the lower one stays who it was."""
    parent = node.parent
    assert parent is not None
    upper = Node(node.tokens[:at], parent, node.start)
    upper.locks, upper.used_at = node.locks, node.used_at
    upper.children[node.tokens[at]] = node
    parent.children[node.tokens[0]] = upper
    if node.stored is not None:
        upper.stored = node.stored.cut(0, at)
        node.stored = node.stored.cut(at, len(node.tokens))
    node.tokens, node.parent, node.start = node.tokens[at:], upper, node.start + at
    return upper


def _common(first: Sequence[int], second: Sequence[int]) -> int:
    """Length of the common beginning."""
    if first == second:
        return len(first)
    shorter = min(len(first), len(second))
    return next((i for i in range(shorter) if first[i] != second[i]), shorter)

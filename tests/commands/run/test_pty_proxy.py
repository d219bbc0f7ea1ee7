"""The proxy between the agent's terminal and the person's, without a process on either."""

from __future__ import annotations

import os

import pytest

from sentinel_guard.commands.run.pty_proxy import PtyProxy
from sentinel_guard.host.machine.pseudo_terminal import AgentTerminal, UserTerminal


class Outer(UserTerminal):
    """A terminal that our job has, or another one: nobody's controlling terminal, so the kernel cannot say."""

    ours = True

    def foreground(self) -> bool:
        return self.ours


@pytest.fixture
def screen():
    """What the person sees, their terminal, the agent's, and the proxy between them."""
    sees, fd = os.openpty()
    outer = Outer(fd)
    inner = AgentTerminal(outer)
    yield sees, outer, inner, PtyProxy(outer, inner, lambda _: None)
    inner.close()
    outer.close()
    os.close(sees)


def test_the_last_words_before_a_stop_are_whole_lines(screen):
    sees, _, inner, proxy = screen
    proxy.resume()
    os.write(inner.far, b"two\nlines\n")
    proxy.pause()
    assert os.read(sees, 100) == b"two\r\nlines\r\n", "the terminal is raw until they are there"


@pytest.mark.parametrize("before", ["given back", "taken away"])
def test_lines_of_an_agent_in_the_background_end_once(screen, before):
    sees, outer, inner, proxy = screen
    if before == "taken away":
        proxy.resume()
    outer.ours = False
    outer.restore()
    proxy.resume()
    os.write(inner.far, b"two\nlines\n")
    proxy.ready(inner.fd, proxy.interests()[inner.fd])
    # Nobody has changed this terminal's modes back in "taken away": what is read is what was written.
    ends = b"\r\n" if before == "given back" else b"\n"
    assert os.read(sees, 100) == b"two" + ends + b"lines" + ends

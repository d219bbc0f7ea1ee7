"""The file with which an interactive bash asks about each line, and the arguments that make bash read that file."""

from __future__ import annotations

import shlex
from pathlib import Path

NAME = ".bash_reader"
LINE = "sentinel-line"
"""The launcher's name for a line of a shell."""

# An interactive bash reads this in the place of its own startup file; @folder@ stands for the shims, quoted.
#
# 1. What bash would have read by itself comes first: SENTINEL_STARTUP names it. Where that is nothing, bash comes here
#    as a POSIX shell, which reads ENV and no other file, and is itself again.
# 2. Bash expands PS0 when a whole command is read, however many lines it has, and before any of it is done,
#    redirections too. The text is the newest entry of the history. SIGINT makes bash give up the line, as Ctrl-C does;
#    a trap on it would not, and then the shell ends.
# 3. Whatever ends the asking without a yes is a no. So is a text that is not known: the history must have grown since
#    the last line (HISTCMD), and what keeps lines or parts of them out of it is taken back at each prompt.
# 4. With the line goes what it means here: aliases, short functions (a long one is a program that was loaded), and the
#    variables that name a file; no other, since they may hold secrets.
# 5. It holds under set -eux, whatever IFS is, beside aliases and functions of any name; $?, $_ and PIPESTATUS stay.
READER = r"""if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 404)); then
    \builtin echo '403 SENTINEL BLOCKED: bash -i: older than 4.4, it cannot ask about lines. Instead: bash -c ls' >&2
    \builtin exit 126
fi
case ${SENTINEL_STARTUP-} in
login)
    [ ! -r /etc/profile ] || \builtin . /etc/profile
    if [ -r ~/.bash_profile ]; then \builtin . ~/.bash_profile
    elif [ -r ~/.bash_login ]; then \builtin . ~/.bash_login
    elif [ -r ~/.profile ]; then \builtin . ~/.profile
    fi
    ;;
rc) [ ! -r ~/.bashrc ] || \builtin . ~/.bashrc ;;
/*) [ ! -r "$SENTINEL_STARTUP" ] || \builtin . "$SENTINEL_STARTUP" ;;
none)
    \builtin set +o posix
    \builtin shopt -u inherit_errexit
    if [ "${HISTFILE-}" = ~/.sh_history ]; then HISTFILE=~/.bash_history; fi
    ;;&
none | posix) if [ "${SENTINEL_ENV+x}" ]; then ENV=$SENTINEL_ENV; else \builtin unset ENV; fi ;;
esac
\builtin unset SENTINEL_STARTUP SENTINEL_ENV SENTINEL_SHELL

__sentinel_ask() {
    POSIXLY_CORRECT=1 # where unset is no function, whatever was defined
    \unset -f builtin
    \unset POSIXLY_CORRECT
    \builtin local __sentinel_text='' __sentinel_state='' __sentinel_words __sentinel_word __sentinel_value IFS=' '
    if [[ -z ${HISTCONTROL-}${HISTIGNORE-} && $HISTCMD -gt ${__sentinel_number-0} ]] && \builtin shopt -q cmdhist; then
        __sentinel_text=$(HISTTIMEFORMAT= \builtin history 1)
        __sentinel_text=${__sentinel_text#*[0-9][* ] }
    fi
    __sentinel_words=${__sentinel_text:0:4096}
    for __sentinel_word in ${__sentinel_words//[!a-zA-Z0-9_]/ }; do
        [[ $__sentinel_word == [a-zA-Z_]* ]] || \builtin continue
        if [[ ${BASH_ALIASES[$__sentinel_word]+x} ]]; then
            __sentinel_state+="alias $__sentinel_word=${BASH_ALIASES[$__sentinel_word]@Q}"$'\n'
        fi
        if \builtin declare -F "$__sentinel_word" >/dev/null; then
            __sentinel_value=$(\builtin declare -f "$__sentinel_word")
            if ((${#__sentinel_value} < 2000)); then __sentinel_state+=$__sentinel_value$'\n'; fi
        fi
        __sentinel_value=${!__sentinel_word-}
        if [[ -e $__sentinel_value ]]; then
            __sentinel_state+="$__sentinel_word=${__sentinel_value@Q}"$'\n'
        fi
    done
    \builtin exec @folder@/sentinel-line "$$" "$__sentinel_text" "$__sentinel_state"
}

__sentinel_give_up() {
    POSIXLY_CORRECT=1
    \unset -f builtin
    \unset POSIXLY_CORRECT
    \builtin local __sentinel_trap="$(\builtin trap -p INT)" __sentinel_name __sentinel_mask IFS=$' \t\n'
    if [[ $__sentinel_trap == "trap -- '' "* ]]; then
        # INT was ignored when bash began, which an interactive bash takes back, or is by a trap.
        while \builtin read -r __sentinel_name __sentinel_mask; do
            [[ $__sentinel_name != SigIgn: ]] || \builtin break
        done <"/proc/$$/status"
        if ((16#${__sentinel_mask: -1} & 2)); then :; else __sentinel_trap=''; fi
    fi
    if [[ $__sentinel_trap ]]; then
        \builtin echo 'This shell has a trap on INT, which keeps it from giving up one line: it ends.' >&2
        \builtin kill -KILL "$$"
    fi
    \builtin kill -INT "$$"
}

__sentinel_prompt() {
    PS0=$__sentinel_ps0${PS0//"$__sentinel_ps0"/}
    \builtin shopt -s promptvars cmdhist
    if [[ ${HISTSIZE-1} == 0 ]]; then HISTSIZE=1; fi
    __sentinel_number=$HISTCMD
    if [[ ${HISTCONTROL-}${HISTIGNORE-} ]]; then HISTCONTROL='' HISTIGNORE=''; fi
}

__sentinel_ps0='$({ "builtin" set +x; } 2>/dev/null; ("__sentinel_ask") || "__sentinel_give_up")'
__sentinel_ps0+='${__sentinel_none[__sentinel_number = HISTCMD]-}'
\builtin readonly __sentinel_ps0
\builtin readonly -f __sentinel_ask __sentinel_give_up __sentinel_prompt
if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 501)); then
    PROMPT_COMMAND[99]='{ "__sentinel_prompt"; } >/dev/null 2>&1'
else
    PROMPT_COMMAND=${PROMPT_COMMAND:+$PROMPT_COMMAND$'\n'}'{ "__sentinel_prompt"; } >/dev/null 2>&1'
fi
{ __sentinel_prompt; } >/dev/null 2>&1
"""

_VALUED = ("-o", "+o", "-O", "+O")
"""Options whose value is the next word."""


def write(folder: Path) -> None:
    """Write the file into a session's folder of shims. Raises OSError."""
    (folder / NAME).write_text(READER.replace("@folder@", shlex.quote(str(folder))), errors="surrogateescape")


def start(argv: tuple[str, ...], folder: str, cwd: str, env: str | None) -> tuple[list[str], dict[str, str]]:
    """How an interactive bash that was called so starts with the reader: its arguments, and the environment to set.

    ``env`` is the variable ENV, None where it is not set. A login shell becomes one that is not, and reads the same
    files: no other bash can be told to read one of ours.
    """
    reader = f"{folder}/{NAME}"
    rest, flags, rcfile = _parts(argv[1:])
    login = argv[0].startswith("-") or "--login" in flags or "l" in flags
    if ("--noprofile" if login else "--norc") in flags or "--posix" in flags:
        kept = {} if env is None else {"SENTINEL_ENV": env}
        startup = "posix" if "--posix" in flags else "none"
        return [argv[0], "--posix", *argv[1:]], {"ENV": reader, "SENTINEL_STARTUP": startup, **kept}
    startup = "login" if login else str(Path(cwd or "/") / rcfile) if rcfile else "rc"
    return [argv[0].removeprefix("-"), "--rcfile", reader, *rest], {"SENTINEL_STARTUP": startup}


def _parts(words: tuple[str, ...]) -> tuple[list[str], set[str], str]:
    """The arguments without those that say which files are read, those as flags, and the file that was named."""
    rest: list[str] = []
    flags: set[str] = set()
    rcfile = ""
    left = iter(words)
    for word in left:
        if word in ("--rcfile", "--init-file"):
            rcfile = next(left, "")
        elif word in _VALUED:
            rest += [word, *filter(None, [next(left, "")])]
        elif word.startswith("--"):
            flags.add(word)
            rest += [word] if word != "--login" else []
        elif word.startswith("-") and len(word) > 1:
            flags |= set(word[1:])
            rest += [f"-{letters}"] if (letters := word[1:].replace("l", "")) else []
        else:
            rest.append(word)
    return rest, flags, rcfile

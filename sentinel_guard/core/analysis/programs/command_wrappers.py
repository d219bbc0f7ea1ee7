"""Table of wrapper commands (sudo, env, nohup, timeout, ssh …), which run the command in their arguments.

A row says which of its options take a value, how many operands stand before the command, and what it changes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from sentinel_guard.core.analysis.expansion.command_and_options import Options, options


@dataclass(frozen=True, slots=True)
class Wrapper:
    """One row of the table."""

    options: Options
    operands: int = 0
    """Operands before the command."""
    verbs: frozenset[str] = frozenset()
    """The first operand must be one of these (``run`` in ``uv run``); else it wraps nothing."""
    assignments: bool = False
    """``NAME=value`` may stand before the command."""
    text: tuple[str, ...] = ()
    """Options whose value is a shell text."""
    joined: bool = False
    """The rest is joined to a shell text (ssh, watch)."""
    each: bool = False
    """Every operand is a shell text (concurrently)."""
    named: tuple[str, ...] = ()
    """Options whose value is the program (start-stop-daemon)."""
    behind: tuple[str, ...] = ()
    """Words behind the first of which the command stands, whatever came before (nix develop PLACE -c)."""
    pairs: tuple[str, ...] = ()
    """Options with two values (bwrap)."""
    writes: tuple[str, ...] = ()
    """Options whose file it writes itself."""
    privilege: str = ""
    """What it gives (Kind.PRIVILEGE)."""
    cwd: tuple[str, ...] = ()
    """Options that change the directory."""
    elsewhere: bool = False
    """Runs on another machine or root: paths are not ours."""
    optional: re.Pattern[str] | None = None
    """The operand before the command may be left out; it is one of these, and options may follow it (setarch). One that
    is not known is taken for an empty one."""
    here: re.Pattern[str] | None = None
    """Where the operand is one of these, ``elsewhere`` does not hold: this very machine or root."""
    python: bool = False
    """A file ``x.py`` in the command's place is run by Python."""
    moves: tuple[str, ...] = ()
    """Options with which it does, whatever the operand: another port is another machine's as likely as not."""


def _row(
    table: str = "",
    *,
    operands: int = 0,
    verbs: str = "",
    assignments: bool = False,
    text: str = "",
    joined: bool = False,
    each: bool = False,
    named: str = "",
    behind: str = "",
    pairs: str = "",
    writes: str = "",
    privilege: str = "",
    cwd: str = "",
    elsewhere: bool = False,
    optional: str = "",
    here: str = "",
    moves: str = "",
    python: bool = False,
) -> Wrapper:
    split = replace(options(table), first=not each)
    return Wrapper(
        split,
        operands,
        frozenset(verbs.split()),
        assignments,
        tuple(text.split()),
        joined,
        each,
        tuple(named.split()),
        tuple(behind.split()),
        tuple(pairs.split()),
        tuple(writes.split()),
        privilege,
        tuple(cwd.split()),
        elsewhere,
        re.compile(optional) if optional else None,
        re.compile(here) if here else None,
        python,
        tuple(moves.split()),
    )


_SSH = "-B= -b= -c= -D= -E= -e= -F= -I= -i= -J= -L= -l= -m= -O= -o= -p= -Q= -R= -S= -W= -w="
_LOCALHOST = r"(?:ssh://)?(?:[^@/]+@)?(?:localhost(?:\.localdomain)?\.?|127(?:\.\d+){3}|::1|\[::1\])/?"
_MACHINES = (
    r"uname26|linux32|linux64|i[3-6]86|x86_64|amd64|athlon|aarch64|arm\w*|ppc\w*|s390x?|sparc\w*|mips\w*|alpha\w*"
    r"|parisc\w*|hppa\w*|ia64|riscv\w*|loongarch\w*"
)
"""The operand of setarch(8)."""
_BWRAP = "--tmpfs= --proc= --dev= --mqueue= --dir= --chdir= --unsetenv= --uid= --gid= --hostname= --seccomp= --perms= "
_BWRAP_PAIRS = "--bind --ro-bind --dev-bind --bind-try --ro-bind-try --dev-bind-try --symlink --setenv --file"
_TRACE = "-e= -o= -p= -s= -u= -E= -a= -O= -S= -P= -I= -b= -X= -U="

WRAPPERS: dict[str, Wrapper] = {
    "sudo": _row(
        "-u= --user= -g= --group= -h= --host= -p= --prompt= -C= --close-from= -D= --chdir= -R= --chroot= -r= --role= "
        "-t= --type= "
        "-T= --command-timeout= -U= --other-user= --login --shell --preserve-env --edit",
        assignments=True, privilege="sudo", cwd="-D --chdir",
    ),
    "doas": _row("-u= -C= -a=", privilege="doas"),
    "pkexec": _row("--user=", privilege="pkexec"),
    "su": _row("-c= --command= -s= --shell= -g= --group= -G= -w=", operands=1, text="-c --command", privilege="su"),
    "runuser": _row("-c= --command= -u= --user= -s= -g= -G= -w=", text="-c --command", privilege="su"),
    "gosu": _row(operands=1, privilege="su"),
    "su-exec": _row(operands=1, privilege="su"),
    "setpriv": _row("--reuid= --regid= --groups= --inh-caps= --ambient-caps= --bounding-set= --securebits=",
    privilege="setpriv"),
    "env": _row(
        "-u= --unset= -C= --chdir= -S= --split-string= -a= --argv0= --ignore-environment", assignments=True,
        cwd="-C --chdir"
    ),
    "command": _row(),
    "builtin": _row(),
    "exec": _row("-a="),
    "nohup": _row(),
    "setsid": _row(),
    "time": _row("-f= --format= -o= --output=", writes="-o --output"),
    "timeout": _row("-s= --signal= -k= --kill-after=", operands=1),
    "gtimeout": _row("-s= --signal= -k= --kill-after=", operands=1),
    "nice": _row("-n= --adjustment="),
    "ionice": _row("-c= --class= -n= --classdata= -p= --pid= -P= -u="),
    "stdbuf": _row("-i= --input= -o= --output= -e= --error="),
    "flock": _row("-w= --wait= --timeout= -E= --conflict-exit-code= -c= --command=", operands=1,
                  text="-c --command"),
    "chrt": _row("-T= --sched-runtime= -P= --sched-period= -D= --sched-deadline=", operands=1),
    "taskset": _row(operands=1),
    "numactl": _row("-m= --membind= -N= --cpunodebind= -C= --physcpubind= -i= --interleave= -p= --preferred="),
    "prlimit": _row("-p= --pid= -o= --output="),
    "cpulimit": _row("-l= --limit= -p= --pid= -e= --exe= -P="),
    "watch": _row("-n= --interval= -q= --equexit=", joined=True),
    "strace": _row(_TRACE, writes="-o"),
    "ltrace": _row(_TRACE + " -A= -F= -l= -x= -n=", writes="-o"),
    "valgrind": _row(),
    "gdb": _row("-x= -ex= -iex= --eval-command= -p= --pid= | words"),
    "perf": _row("-e= -o= -F= -g= -r=", verbs="stat record trace"),
    "unshare": _row("-R= --root= -w= --wd= -S= --setuid= -G= --setgid= --map-user= --map-group= --propagation=",
    privilege="unshare"),
    "nsenter": _row("-t= --target= -S= --setuid= -G= --setgid= -r= --root= -w= --wd=", privilege="nsenter"),
    "chroot": _row("--userspec= --groups=", operands=1, privilege="chroot", elsewhere=True, here=r"/[/.]*"),
    "script": _row("-c= --command= -o= -E= -I= -O= -B= -T= -m=", operands=1, text="-c --command"),
    "busybox": _row(),
    "toybox": _row(),
    "systemd-run": _row(
        "-p= --property= -u= --unit= --slice= --uid= --gid= -E= --setenv= --working-directory= -H= -M= --description= "
        "--on-active= --on-boot= --on-calendar= --on-unit-active= --timer-property= --nice=",
        cwd="--working-directory",
    ),
    "ssh": _row(_SSH, operands=1, joined=True, elsewhere=True, here=_LOCALHOST, moves="-p -F -J -W"),
    "mosh": _row("-p= --port= --ssh=", operands=1, elsewhere=True),
    "hyperfine": _row("-w= --warmup= -r= --runs= -m= --min-runs= -M= --max-runs= -p= --prepare= -c= --cleanup= -s= "
                      "--setup= -n= --command-name= --conclude= --reference= --reference-name= -S= --shell= -u= "
                      "--time-unit= --style= --sort= --input= --output= --export-json= --export-csv= -D= "
                      "--export-markdown= --export-asciidoc= --export-orgmode= --parameter-step-size=", each=True,
                      pairs="-L --parameter-list -P --parameter-scan",
                      text="-p --prepare -c --cleanup -s --setup --conclude --reference -S --shell"),
    "entr": _row("-s=", text="-s"),
    "watchexec": _row("-w= --watch= -e= --exts= -f= --filter= -i= --ignore= -s= --signal= -d= --debounce= --shell= -W=",
                      joined=True),
    "nodemon": _row("-x= --exec= -w= --watch= -e= --ext= -i= --ignore= -d= --delay= --signal=", text="-x --exec"),
    "chokidar": _row("-c= --command= -d= -t= -i= --ignore=", text="-c --command"),
    "concurrently": _row("-n= --names= -c= --prefix-colors= -p= --prefix= -s= --success= -m= --max-processes= "
                         "--kill-signal= -l= -t= --restart-tries= --teardown=", each=True, text="--teardown"),
    "cross-env": _row(assignments=True),
    "cross-env-shell": _row(assignments=True, joined=True),
    "env-cmd": _row("-f= --file= -e= --environments= -r= --rc-file="),
    "repo": _row("-r= -g= -j=", verbs="forall", behind="-c --command", joined=True),
    "gita": _row(verbs="shell", joined=True),
    "meta": _row("--include-only= --exclude=", verbs="exec", joined=True),
    "cargo-watch": _row("-s= --shell= -x= --exec= -w= --watch= -i= -d=", text="-s --shell"),
    "bwrap": _row(_BWRAP, pairs=_BWRAP_PAIRS, cwd="--chdir", elsewhere=True),
    "proot": _row("-r= --rootfs= -b= --bind= -w= --cwd= -q= --kernel-release= -R= -S="),
    "fakechroot": _row(),
    "start-stop-daemon": _row("-x= --exec= -p= --pidfile= -n= --name= -u= --user= -c= --chuid= -s= --signal= -a= "
                              "--start --stop --startas= -d= --chdir= -r= --chroot= -N= -R= --retry= -g= --group=",
                              named="-x --exec -a --startas", cwd="-d --chdir"),
    "systemd-nspawn": _row("-D= --directory= -i= --image= -M= --machine= -u= --user= --bind= --bind-ro= -E= --setenv= "
                           "--chdir=", elsewhere=True),
    "logsave": _row(operands=1),
    "schedtool": _row("-n= -p= -a= -r=", behind="-e"),
    "trickle": _row("-d= -u= -w= -t= -l= -n="),
    "softlimit": _row("-a= -c= -d= -f= -l= -m= -n= -o= -p= -r= -s= -t="),
    **dict.fromkeys(("i386", "x86_64", "aoss", "tsocks", "uutils", "sbase-box"), _row()),
    **dict.fromkeys(("ld-linux-x86-64.so.2", "ld-linux.so.2", "ld-linux-aarch64.so.1", "ld-musl-x86_64.so.1"),
                    _row("--library-path= --preload= --audit= --argv0=")),
    **dict.fromkeys(("qemu-x86_64", "qemu-aarch64", "qemu-arm", "qemu-i386"), _row("-L= -E= -U= -cpu= -g=")),
    "coreutils": _row("--coreutils-prog=", named="--coreutils-prog"),
    "sem": _row("-j= --jobs= --id=", joined=True),
    "run0": _row("-u= --user= -g= --group= -D= --chdir= --setenv= --unit= --property=", privilege="sudo",
                 cwd="-D --chdir"),
    **dict.fromkeys(("dotenvx", "infisical", "teller"),
                    _row("-f= --env-file= -e= --env= -p= --path=", verbs="run")),
    "sops": _row(verbs="exec-env exec-file", operands=1, joined=True),
    **dict.fromkeys(("pssh", "parallel-ssh"), _row("-H= --host= -h= --hosts= -l= --user= -p= -o= -t= --timeout=",
                    joined=True, elsewhere=True)),
    "clush": _row("-w= -g= -x= -l= -f= -t=", joined=True, elsewhere=True),
    "dsh": _row("-m= -g= -r= -F=", joined=True, elsewhere=True),
    "rsh": _row("-l= -p=", operands=1, joined=True, elsewhere=True),
    "start-server-and-test": _row(each=True),
    "lerna": _row("--scope= --ignore= --since= --concurrency=", verbs="exec", joined=True),
    "tox": _row("-e= -c= -x=", verbs="exec"),
    "onchange": _row("-i= -e= --exclude= -d= -f= -k= -p=", behind="--"),
    **dict.fromkeys(("wine", "wine64", "box64", "box86"), _row()),
    "choom": _row("-n= --adjust= -p= --pid="),
    "xterm": _row("-e= -T= -geometry= -title=", text="-e"),
    "gnome-terminal": _row("--working-directory= --title= -x"),
    "konsole": _row("--workdir= -p=", behind="-e"),
    "alacritty": _row("--working-directory= -t=", behind="-e --command"),
    "dtach": _row("-e= -r=", operands=1),
    "abduco": _row("-e=", operands=1),
    "capsh": _row("--user= --uid= --gid= --groups= --drop= --caps= --inh= --mode=", text="-c"),
    "chamber": _row("-b= --backend=", verbs="exec", behind="--"),
    "wsl": _row("-d= --distribution= -u= --user= --cd= -e= --exec=", named="-e --exec"),
    "fab": _row("-H= --hosts= -u= -i=", behind="--", joined=True, elsewhere=True),
    "salt": _row(verbs="", operands=2, joined=True, elsewhere=True),
    "shx": _row(),
    "watchmedo": _row("-c= --command= -p= --patterns= -i= -w", text="-c --command"),
    "daemonize": _row("-a= -c= -e= -E= -l= -o= -p= -u="),
    "sg": _row(operands=1, text="-c"),
    "runcon": _row("-t= --type= -u= --user= -r= --role= -l= --range="),
    "sandbox-exec": _row("-f= -p= -n= -D="),
    "arch": _row(),
    "sshpass": _row("-p= -f= -d= -P="),
    "autossh": _row("-M= " + _SSH, operands=1, joined=True, elsewhere=True),
    **dict.fromkeys(("parallel-ssh", "pssh", "clush", "csshx", "dssh"),
                    _row("-h= -H= -l= -p= -t= -o= -e= -w= -x= -g=", joined=True, elsewhere=True)),
    "mussh": _row("-h= -H= -l= -p= -t= -o= -m= -c= -C=", text="-c", elsewhere=True),
    "pdsh": _row("-w= -x= -g= -l= -f= -t= -u= -R=", joined=True, elsewhere=True),
    "lldb": _row("-o= --one-line= -p= --attach-pid= -n= -c= -s="),
    "rr": _row(verbs="record"),
    "heaptrack": _row("-o= -p="),
    "chpst": _row("-u= -U= -b= -e= -/= -n= -l= -L= -m= -d= -o= -p= -f= -c= -r= -t="),
    "setuidgid": _row(operands=1, privilege="su"),
    "s6-setuidgid": _row(operands=1, privilege="su"),
    "envdir": _row(operands=1),
    "foreman": _row("-e= --env= -f= -d=", verbs="run"),
    "honcho": _row("-e= --env= -f= -d=", verbs="run"),
    "nix": _row("--expr= -f= --file=", verbs="develop shell", behind="-c --command"),
    "guix": _row("-m= --manifest= -D= -e= -l= --load-path=", verbs="shell environment", behind="--"),
    "devbox": _row("-c= --config= -e= --env=", verbs="run"),
    "pixi": _row("-e= --environment= --manifest-path=", verbs="run exec"),
    "distrobox": _row("-n= --name=", verbs="enter", behind="--"),
    "toolbox": _row("-c= --container= -r= --release= -d=", verbs="run"),
    "flatpak-spawn": _row(),
    "docker-machine": _row(verbs="ssh", operands=1, joined=True, elsewhere=True),
    "xvfb-run": _row("-n= --server-num= -s= --server-args= -e= --error-file= -f="),
    "dbus-run-session": _row("--config-file= --dbus-daemon="),
    "dbus-launch": _row(),
    "caffeinate": _row("-t= -w="),
    "catchsegv": _row(),
    "proxychains": _row("-f="),
    "proxychains4": _row("-f="),
    "torsocks": _row(),
    "firejail": _row(),
    "fakeroot": _row("-l= -s= -i="),
    "eatmydata": _row(),
    "unbuffer": _row(),
    "rlwrap": _row("-f= -H= -C= -s="),
    "tini": _row("-e="),
    "dumb-init": _row("-r= --rewrite="),
    "setarch": _row("-p= --pid=", optional=rf"(?:{_MACHINES})?"),
    **dict.fromkeys(("linux32", "linux64", "uname26"), _row("-p= --pid=")),
    "pipenv": _row(verbs="run"),
    "poetry": _row("-C= --directory= -P= --project=", verbs="run"),
    "pdm": _row("-p= --project=", verbs="run"),
    "hatch": _row("-e= --env=", verbs="run"),
    "rye": _row(verbs="run"),
    "uv": _row("--directory= --project= --with= -p= --python= --extra= --group= --env-file= --with-requirements= "
               "--index= --default-index= --index-url= --with-editable= --only-group= --no-group= --package=",
               verbs="run", python=True),
    "uvx": _row("--from= --with= -p= --python="),
    "pipx": _row("--spec= --python= --with= --index-url= --pip-args=", verbs="run", python=True),
    "bundle": _row(verbs="exec"),
    "npx": _row("-p= --package= -c= --call= -w= --workspace= --prefix=", text="-c --call",
                cwd="-w --workspace --prefix"),
    "bunx": _row(),
    "pnpx": _row(),
    "conda": _row("-n= --name= -p= --prefix= --cwd=", verbs="run"),
    "micromamba": _row("-n= --name= -p= --prefix= --cwd=", verbs="run"),
    "direnv": _row(verbs="exec", operands=1),
    "mise": _row("-C= --cd=", verbs="exec x"),
    "asdf": _row(verbs="exec"),
    "rbenv": _row(verbs="exec"),
    "pyenv": _row(verbs="exec"),
    **dict.fromkeys(("dotenv", "dotenv-cli"), _row("-e= -f= --file= -p= -v=", optional="run")),
    "godotenv": _row("-f="),
    "envchain": _row("", operands=1),
    "doppler": _row("-p= --project= -c= --config= --command=", verbs="run", text="--command"),
    "op": _row("--env-file=", verbs="run"),
    "aws-vault": _row("-d= --duration=", verbs="exec", operands=1),
    "nix-shell": _row("-p= --run= --command= -A= -I=", text="--run --command"),
    "cgexec": _row("-g="),
    "ssh-agent": _row("-t= -a="),
    "faketime": _row("-f=", operands=1),
    "chronic": _row(),
    "ts": _row(),
    "nocorrect": _row(),
    "noglob": _row(),
    "rtk": _row(),
}  # fmt: skip

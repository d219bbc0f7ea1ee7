"""Tables of the one-liner languages: their syntax, and their functions' effects (verbs: function_effects.py)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sentinel_guard.core.analysis.languages.shared.tokenizer import Language, Quote

_C = r"//[^\n]*|/\*.*?(?:\*/|\Z)"


@dataclass(frozen=True, slots=True)
class Grammar:
    """What the reader needs to know of a language."""

    lexis: Language
    sinks: Mapping[str, str]
    """Function -> row for ``EffectCollector.do``."""
    methods: Mapping[str, str] = field(default_factory=dict)
    """The same for methods of a path object: the object is the first argument."""
    loose: frozenset[str] = frozenset()
    """Methods that mean ``fs.NAME`` whoever owns them."""
    access: frozenset[str] = frozenset((".",))
    """What stands between an owner and its member."""
    concat: frozenset[str] = frozenset(("+",))
    bare: bool = False
    """Calls need no parentheses: ``unlink $f``."""
    sends: bool = False
    """A member is always called: ``path.delete``."""
    sigils: str = ""
    """What begins a variable."""
    ends: frozenset[str] = frozenset()
    """Words that open a block which ``end`` closes."""


_FS = {
    "unlink": "delete", "rm": "delete recursive", "rmdir": "delete recursive", "remove": "delete recursive",
    "rimraf": "delete recursive", "emptyDir": "delete recursive contents", "del": "delete recursive",
    "writeFile": "write truncate", "appendFile": "write append", "truncate": "write truncate",
    "createWriteStream": "write truncate", "outputFile": "write truncate", "outputJson": "write truncate",
    "writeJson": "write truncate", "writeJSON": "write truncate", "chmod": "write mode", "chown": "write owner",
    "lchown": "write owner", "mkdir": "write append", "ensureDir": "write append", "utimes": "write append",
    "rename": "move", "move": "move", "copyFile": "copy", "cp": "copy", "copy": "copy", "symlink": "link",
    "link": "link", "open": "open", "readFile": "read", "createReadStream": "read", "readJson": "read",
}  # fmt: skip
_CHILD = {
    "exec": "shell", "execSync": "shell", "spawn": "argv", "spawnSync": "argv", "execFile": "argv",
    "execFileSync": "argv",
}  # fmt: skip
_DENO = {
    "Deno.remove": "delete recursive", "Deno.writeTextFile": "write truncate", "Deno.writeFile": "write truncate",
    "Deno.truncate": "write truncate", "Deno.create": "write truncate", "Deno.rename": "move",
    "Deno.chmod": "write mode",
    "Deno.copyFile": "copy", "Deno.symlink": "link", "Deno.link": "link", "Deno.readTextFile": "read",
    "Deno.readFile": "read", "Deno.run": "argv", "Deno.kill": "signal", "Deno.mkdir": "write append",
    "Deno.open": "open", "Bun.write": "write truncate", "Bun.spawn": "argv", "Bun.$": "shell", "bun.$": "shell",
    "bun.spawn": "argv", "bun.write": "write truncate", "Bun.file": "read", "Bun.spawnSync": "argv",
    "Deno.chown": "write owner", "Deno.Command": "argv",
}  # fmt: skip
_JS_SINKS = {
    **{f"fs.{name}": row for name, row in _FS.items()},
    **{f"child_process.{name}": row for name, row in _CHILD.items()},
    **_DENO,
    "rimraf": "delete recursive", "rimraf.rimraf": "delete recursive", "del": "delete recursive",
    "trash": "delete", "shelljs.rm": "delete-all recursive", "shelljs.exec": "shell", "shelljs.mv": "move",
    "execa": "argv", "execa.execa": "argv", "execa.execaCommand": "shell", "execa.command": "shell", "zx.$": "shell",
    "execa.$": "shell", "execa.commandSync": "shell", "execa.execaCommandSync": "shell", "execa.sync": "argv",
    "execa.execaSync": "argv", "cross-spawn": "argv", "cross-spawn.spawn": "argv",
    "eval": "eval", "Function": "eval last", "vm.runInThisContext": "eval", "vm.runInNewContext": "eval",
    "vm.runInContext": "eval", "vm.Script": "eval", "process.binding": "hidden", "process.dlopen": "hidden",
    "process.kill": "signal", "process.chdir": "chdir", "Deno.chdir": "chdir", "fetch": "network",
    "http.get": "network", "https.get": "network",
    "http.request": "network", "https.request": "network", "axios": "network", "axios.get": "network",
    "axios.post": "network data", "axios.put": "network data", "net.connect": "network", "got": "network",
    "got.post": "network data", "net.createConnection": "network",
}  # fmt: skip
_JS = Grammar(
    Language(
        "js",
        rf"{_C}|\A#![^\n]*",
        (Quote("'", "'"), Quote('"', '"'), Quote("`", "`", inner="${")),
        word=r"[^\W\d$]*[\w$]+|#\w+",
        regex=True,
    ),
    _JS_SINKS,
    loose=frozenset(
        [
            "unlinkSync",
            "rmSync",
            "rmdirSync",
            "writeFileSync",
            "appendFileSync",
            "truncateSync",
            "renameSync",
            "copyFileSync",
            "chmodSync",
            "chownSync",
            "readFileSync",
            "removeSync",
            "emptyDirSync",
            "outputFileSync",
            "createWriteStream",
            "writeFile",
            "symlinkSync",
            "linkSync",
            "unlink",
            "rimraf",
            "execSync",
            "spawnSync",
            "execFileSync",
            "execFile",
            "cpSync",
        ]
    ),
    access=frozenset((".", "?.")),
)

_PERL = Grammar(
    Language(
        "perl",
        r"\#[^\n]*|^=[a-zA-Z].*?(?:^=cut[^\n]*|\Z)|^__(?:END|DATA)__\b.*",
        (Quote("'", "'", escapes=False), Quote("`", "`",
        "shell", inner="@{ ${ $ @"), Quote('"', '"', inner="@{ ${ $ @")),
        word=r"[$@%&](?:\^\w|[^\W\d]\w*(?:::\w+)*|\d+|[_!0&@/\\,;.]|(?=[{$]))|[^\W\d]\w*(?:(?:::|')[^\W\d]\w*)*(?:::)?",
        regex=True,
        letters="perl",
        heredoc=r"<<(?P<indent>~?)(?P<quote>[\"'`]?)(?P<tag>[A-Za-z_]\w*)(?P=quote)",
    ),
    {
        "unlink": "delete-all", "rmdir": "delete-all", "rmtree": "delete-all recursive",
        "remove_tree": "delete-all recursive", "File.Path.rmtree": "delete-all recursive",
        "File.Path.remove_tree": "delete-all recursive", "File.Remove.remove": "delete-all recursive",
        "rename": "move", "File.Copy.move": "move", "File.Copy.copy": "copy", "copy": "copy", "move": "move",
        "cp": "copy", "mv": "move", "dircopy": "copy", "truncate": "write truncate", "chmod": "write mode 1",
        "chown": "write owner 2", "utime": "write append 2", "mkdir": "write append", "symlink": "link",
        "link": "link", "system": "run", "exec": "run", "readpipe": "shell", "CORE.system": "run",
        "CORE.GLOBAL.system": "run", "kill": "signal", "chdir": "chdir", "eval": "eval", "do": "load",
        "syscall": "hidden", "open": "perl-open",
        "write_file": "write truncate", "append_file": "write append", "read_file": "read", "spew": "write truncate",
        "slurp": "read", "IPC.Open3.open3": "run", "sysopen": "write truncate 1", "path.remove": "delete",
    },
    methods={
        "remove": "delete", "remove_tree": "delete recursive", "spew": "write truncate", "append": "write append",
        "touch": "write append", "move": "move", "copy": "copy", "slurp": "read", "spew_utf8": "write truncate",
    },
    access=frozenset(("->",)),
    concat=frozenset((".",)),
    bare=True,
    sigils="$@%",
)  # fmt: skip

_FILEUTILS = {
    "rm": "delete-all", "rm_f": "delete-all force", "rm_r": "delete-all recursive",
    "rm_rf": "delete-all recursive force", "rmtree": "delete-all recursive force", "remove": "delete-all",
    "remove_dir": "delete recursive", "remove_entry": "delete recursive", "remove_file": "delete",
    "remove_entry_secure": "delete recursive", "safe_unlink": "delete-all", "rmdir": "delete-all", "mv": "move",
    "move": "move", "cp": "copy", "cp_r": "copy", "copy": "copy", "copy_file": "copy", "touch": "write append",
    "install": "copy", "ln": "link", "ln_s": "link", "ln_sf": "link", "chmod": "write mode 1",
    "chmod_R": "write mode recursive 1", "chown": "write owner 2", "chown_R": "write owner recursive 2",
    "mkdir_p": "write append", "copy_entry": "copy", "makedirs": "write append", "copy_stream": "copy",
}  # fmt: skip
_RUBY_METHODS = {
    "delete": "delete", "unlink": "delete", "rmtree": "delete recursive", "rmdir": "delete",
    "write": "write truncate", "binwrite": "write truncate", "truncate": "write truncate", "rename": "move",
    "chmod": "write mode", "read": "read", "open": "open", "make_symlink": "link", "mkpath": "write append",
    "readlines": "read",
}  # fmt: skip
_RUBY = Grammar(
    Language(
        "ruby",
        r"\#[^\n]*|^=begin\b.*?(?:^=end[^\n]*|\Z)|^__END__\b.*",
        (Quote("'", "'", escapes=False), Quote("`", "`", "shell", inner="#{"), Quote('"', '"', inner="#{")),
        word=r"[$@]{0,2}[^\W\d]\w*[?!]?(?:::[^\W\d]\w*[?!]?)*|\$[_!0~]",
        regex=True,
        letters="ruby",
        heredoc=r"<<(?P<indent>[~-]?)(?P<quote>[\"'`]?)(?P<tag>[A-Z_]\w*)(?P=quote)",
    ),
    {
        **{f"FileUtils.{name}": row for name, row in _FILEUTILS.items()},
        **{f"FileUtils.{name}": row for name, row in (("rm_rf!", "delete-all recursive force"),)},
        **{name: _FILEUTILS[name] for name in ("rm_rf", "rm_r", "rm_f", "mkdir_p", "remove_entry_secure", "cp_r")},
        "File.delete": "delete-all", "File.unlink": "delete-all", "File.rename": "move", "File.write": "write truncate",
        "File.binwrite": "write truncate", "IO.write": "write truncate", "IO.binwrite": "write truncate",
        "File.truncate": "write truncate", "File.open": "open", "File.new": "open", "open": "open",
        "Kernel.open": "open", "File.chmod": "write mode 1", "File.chown": "write owner 2", "File.symlink": "link",
        "File.link": "link", "File.read": "read", "IO.read": "read", "File.readlines": "read", "IO.readlines": "read",
        "File.foreach": "read", "IO.sysopen": "open", "IO.copy_stream": "copy",
        "Dir.chdir": "chdir", "Dir.rmdir": "delete", "Dir.delete": "delete", "Dir.unlink": "delete",
        "Dir.mkdir": "write append",
        "system": "run", "exec": "run", "spawn": "run", "Kernel.system": "run", "Kernel.exec": "run",
        "Kernel.spawn": "run", "Process.spawn": "run", "Process.exec": "run", "IO.popen": "run",
        "Open3.capture2": "run", "Open3.capture2e": "run", "Open3.capture3": "run", "Open3.popen3": "run",
        "Open3.popen2": "run", "Open3.popen2e": "run", "PTY.spawn": "run", "Process.kill": "signal", "sh": "run",
        "eval": "eval", "instance_eval": "eval", "class_eval": "eval", "Kernel.eval": "eval", "load": "load",
        "Net.HTTP.post": "network data", "Net.HTTP.get": "network", "URI.open": "network", "syscall": "hidden",
        "Net.HTTP.post_form": "network data",
    },
    methods=_RUBY_METHODS,
    access=frozenset((".", "&.")),
    bare=True,
    sends=True,
    ends=frozenset("do def class module begin case if unless while until for".split()),  # noqa: SIM905
)  # fmt: skip

_PHP = Grammar(
    Language(
        "php",
        rf"{_C}|\#(?!\[)[^\n]*",
        (Quote("'", "'", escapes=False), Quote("`", "`", "shell", inner="{$ ${ $"), Quote('"', '"', inner="{$ $")),
        word=r"\$?[^\W\d]\w*(?:\\\w+)*|\\[^\W\d]\w*(?:\\\w+)*|\$(?=[{$])",
        heredoc=r"<<<[ \t]*(?P<quote>[\"']?)(?P<indent>)(?P<tag>[A-Za-z_]\w*)(?P=quote)",
    ),
    {
        "unlink": "delete", "rmdir": "delete", "rename": "move", "copy": "copy", "link": "link", "symlink": "link",
        "file_put_contents": "write truncate", "fopen": "open", "touch": "write append", "mkdir": "write append",
        "chmod": "write mode", "chown": "write owner", "chgrp": "write owner", "move_uploaded_file": "move",
        "file_get_contents": "read", "readfile": "read", "file": "read", "exec": "shell", "shell_exec": "shell",
        "system": "shell", "passthru": "shell", "popen": "shell", "proc_open": "shell", "pcntl_exec": "argv",
        "eval": "eval", "assert": "eval", "create_function": "eval last", "include": "load", "require": "load",
        "include_once": "load", "require_once": "load", "SplFileObject": "open", "posix_kill": "signal",
        "chdir": "chdir",
        "curl_init": "network", "fsockopen": "network", "ftp_put": "network data", "mail": "network data",
        "mysqli_query": "database 1", "File.delete": "delete", "File.deleteDirectory": "delete recursive",
        "File.put": "write truncate",
    },
    access=frozenset(("->", "::", "?->")),
    concat=frozenset((".",)),
    sigils="$",
)  # fmt: skip

_LUA = Grammar(
    Language(
        "lua",
        r"--\[(?P<eq>=*)\[.*?(?:\](?P=eq)\]|\Z)|--[^\n]*|\A#[^\n]*",
        (Quote("'", "'"), Quote('"', '"')),
        letters="lua",
    ),
    {
        "os.remove": "delete", "os.rename": "move", "os.execute": "shell", "io.popen": "shell", "io.open": "open",
        "io.output": "write truncate", "io.lines": "read", "io.input": "read", "load": "eval", "loadstring": "eval",
        "dofile": "load", "loadfile": "load", "lfs.chdir": "chdir", "lfs.rmdir": "delete",
        "lfs.mkdir": "write append", "lfs.link": "link",
        "vim.fn.delete": "delete", "vim.fn.system": "run", "vim.fn.writefile": "write truncate 1",
    },
    access=frozenset((".", ":")),
    concat=frozenset(("..",)),
    ends=frozenset(("function", "do", "if", "repeat")),
)  # fmt: skip

_R = Grammar(
    Language("r", r"\#[^\n]*", (Quote("'", "'"), Quote('"', '"')), word=r"[^\W\d][\w.]*|\.[^\W\d][\w.]*"),
    {
        "unlink": "delete recursive", "file.remove": "delete-all", "base.unlink": "delete recursive",
        "fs.file_delete": "delete",
        "fs.dir_delete": "delete recursive", "file.rename": "move", "file.copy": "copy", "file.symlink": "link",
        "file.create": "write truncate", "file.append": "write append", "writeLines": "write truncate 1",
        "write": "write truncate 1", "write.csv": "write truncate 1", "saveRDS": "write truncate 1",
        "sink": "write truncate",
        "save": "write truncate 9", "file": "open", "cat": "write truncate 99", "readLines": "read", "read.csv": "read",
        "Sys.chmod": "write mode", "setwd": "chdir", "system": "shell", "system2": "argv", "shell": "shell",
        "eval": "eval", "source": "load",
        "pipe": "shell", "dir.create": "write append", "download.file": "network", "dbExecute": "database 1",
    },
    access=frozenset(("::", "$")),
    concat=frozenset(),
)  # fmt: skip

_JULIA = Grammar(
    Language(
        "julia",
        r"\#=.*?(?:=\#|\Z)|\#[^\n]*",
        (Quote('"""', '"""', inner="$( $"), Quote("`", "`", "shell", inner="$( $"), Quote('"', '"', inner="$( $")),
        word=r"[^\W\d]\w*!?",
    ),
    {
        "rm": "delete recursive", "Base.rm": "delete recursive", "Base.Filesystem.rm": "delete recursive", "mv": "move",
        "cp": "copy", "write": "write truncate", "open": "open", "chmod": "write mode", "touch": "write append",
        "symlink": "link", "cd": "chdir", "mkpath": "write append", "run": "run", "read": "read", "include": "load",
        "Base.run": "run", "download": "network",
    },
    concat=frozenset(("*",)),
)  # fmt: skip

_ELIXIR = Grammar(
    Language(
        "elixir",
        r"\#[^\n]*",
        (Quote('"""', '"""', inner="#{"), Quote("'", "'", inner="#{"), Quote('"', '"', inner="#{")),
        word=r":?[^\W\d]\w*[?!]?",
    ),
    {
        **dict.fromkeys(("File.rm_rf", "File.rm_rf!"), "delete recursive force"),
        **dict.fromkeys(("File.rm", "File.rm!", "File.rmdir", "File.rmdir!"), "delete"),
        **dict.fromkeys(("File.write", "File.write!"), "write truncate"), "File.touch": "write append",
        **dict.fromkeys(("File.rename", "File.rename!"), "move"), **dict.fromkeys(("File.cp", "File.cp!"), "copy"),
        **dict.fromkeys(("File.read", "File.read!", "File.stream!"), "read"), "File.open": "open",
        **dict.fromkeys(("File.ln_s", "File.ln_s!", "File.ln"), "link"), "File.chmod": "write mode",
        "System.cmd": "argv", "System.shell": "shell", ":os.cmd": "shell", "Code.eval_string": "eval",
        ":file.delete": "delete", ":file.del_dir_r": "delete recursive", "Port.open": "hidden",
    },
    concat=frozenset(("<>",)),
)  # fmt: skip

_ERLANG = Grammar(
    Language("erlang", r"%[^\n]*", (Quote('"', '"'), Quote("'", "'"))),
    {
        "os.cmd": "shell", "file.delete": "delete", "file.del_dir": "delete", "file.del_dir_r": "delete recursive",
        "file.write_file": "write truncate", "file.rename": "move", "file.copy": "copy", "file.read_file": "read",
        "file.open": "open",
    },
    access=frozenset((":",)),
    concat=frozenset(("++",)),
)  # fmt: skip

_GROOVY = Grammar(
    Language(
        "groovy",
        _C + r"|\A#![^\n]*",
        (Quote("'''", "'''"), Quote('"""', '"""', inner="${ $"), Quote("'", "'"), Quote('"', '"', inner="${ $")),
    ),
    {
        "Files.delete": "delete", "Files.deleteIfExists": "delete", "Files.write": "write truncate",
        "Files.writeString": "write truncate", "Files.move": "move", "Files.copy": "copy", "ProcessBuilder": "run",
        "Runtime.getRuntime.exec": "run", "evaluate": "eval", "Eval.me": "eval", "FileWriter": "write truncate",
        "FileUtils.deleteDirectory": "delete recursive", "FileOutputStream": "write truncate",
    },
    methods={
        "delete": "delete", "deleteDir": "delete recursive", "write": "write truncate", "append": "write append",
        "renameTo": "move", "getText": "read", "withWriter": "write truncate", "deleteOnExit": "delete",
        "createNewFile": "write append", "setText": "write truncate", "execute": "shell",
    },
    access=frozenset((".", "?.")),
)  # fmt: skip

_VIM = Grammar(
    Language("vim", r"(?!)", (Quote("'", "'", escapes=False), Quote('"', '"')), word=r"[^\W\d][\w:#]*"),
    {
        "delete": "delete recursive", "system": "run", "systemlist": "run", "writefile": "write truncate 1",
        "rename": "move", "filecopy": "copy", "job_start": "run", "jobstart": "run", "term_start": "run",
        "termopen": "run", "readfile": "read", "libcall": "hidden", "execute": "eval", "luaeval": "hidden",
        "mkdir": "write append", "setfperm": "write mode",
    },
    concat=frozenset((".", "..")),
)  # fmt: skip
_APPLESCRIPT = Grammar(Language("applescript", r"--[^\n]*|\(\*.*?(?:\*\)|\Z)", (Quote('"', '"'),)), {})

GRAMMARS: dict[str, Grammar] = {
    "js": _JS, "perl": _PERL, "ruby": _RUBY, "php": _PHP, "lua": _LUA, "r": _R, "julia": _JULIA, "elixir": _ELIXIR,
    "erlang": _ERLANG, "groovy": _GROOVY, "vim": _VIM, "applescript": _APPLESCRIPT,
}  # fmt: skip

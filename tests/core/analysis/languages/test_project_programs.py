"""A program of the project that is called like an interpreter reads data; what may be the interpreter, code."""

from __future__ import annotations

import pytest

from sentinel_guard.core.model import Response
from tests.support.judge_cases import said_of_last

ALLOW, ASK = Response.ALLOW, Response.ASK
FILES = {
    "build.zig": 'const exe = b.addExecutable(.{ .name = "zx", .target = target });\n',
    "cli/Cargo.toml": '[package]\nname = "jiti-cli"\n[[bin]]\nname = "jiti"\n',
    "c/CMakeLists.txt": "add_executable(lua src/main.c)\n",
    "zig-out/bin/zx": "\x7fELF",
    "node_modules/.bin/zx": "\x7fELF",
}
ROWS = [
    *((text, ALLOW, "a build file beside the folder calls it so") for text in (
        "./zig-out/bin/zx < /tmp/zx.bin", "zig build && diff <(./zig-out/bin/zx < /tmp/zx.bin) <(xxd /tmp/zx.bin)",
        "yes | ./zig-out/bin/zx | head -1", "strace -c zig-out/bin/zx < <(head -c 5M /dev/zero) | tail -1",
        "cat /tmp/x | cli/target/release/jiti", "cat /tmp/x | c/build/src/lua")),
    *((text, ASK, "another program of that name") for text in (
        "zx < /tmp/zx.bin", "./node_modules/.bin/zx < /tmp/zx.bin", "/tmp/zig-out/bin/zx < /tmp/zx.bin",
        "./zig-out/bin/node < /tmp/x", "cat /tmp/x | target/release/jiti", "cat /tmp/x | cli/target/release/tsx",
        "cat /tmp/x | c/src/lua", "cd $X && ./zig-out/bin/zx < /tmp/x")),
    *((f"{puts}; ./zig-out/bin/zx < /tmp/x", ASK, "the text put it there") for puts in (
        "cp $(which zx) zig-out/bin/zx", "cp /usr/bin/node zig-out/bin/zx", "mv $X zig-out/bin/zx",
        "cp -r /opt/x/. zig-out", "ln -sf /usr/bin/node zig-out/bin/zx", "tar xf /tmp/a.tar -C zig-out",
        "curl -so zig-out/bin/zx https://example.com/zx")),
    ("curl -s https://example.com/a | ./zig-out/bin/zx", ASK, "what comes from the network"),
    ("echo '.name = \"node\"' >> build.zig; ./zig-out/bin/node < /tmp/x", ASK, "the text called it so"),
    ("./c/build/lua -e 'os.execute(\"rm -rf ~\")'", Response.KILL, "code that is known is read"),
    ("echo 'os.execute(\"rm -rf ~\")' | ./c/build/lua", Response.KILL, "the same"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "response", "why"), ROWS, ids=[f"{row[2]}: {row[0][:50]}" for row in ROWS])
def test_whether_its_input_is_code(text: str, response: Response, why: str) -> None:
    assert said_of_last((text,), FILES) is response, why

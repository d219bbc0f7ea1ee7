"""What texts for Windows' cmd do, as WSL starts it."""

import pytest

from sentinel_guard.core.model import Kind
from tests.support.analysis_effects import REPO, effects_of, repository, told

WORLD = repository({"src/a.py": "x\n"}, folders=(f"{REPO}/src",))
ROWS = [
    (r'cmd.exe /c "rd /s /q C:\Users\ann\x"', ["delete /mnt/c/Users/ann/x force recursive"], "a folder of Windows"),
    (r"cmd.exe /c rd /s /q C:\\Users\\ann\\x", ["delete /mnt/c/Users/ann/x force recursive"], "in many words"),
    (r'cmd.exe /C "del /f /s /q %USERPROFILE%\Docs"', ["delete /mnt/c/Users/person/Docs force recursive"],
     "a variable"),
    (r'cmd.exe /c "del src\a.py"', ["delete src/a.py"], "a file of the repository"),
    (r'cmd.exe /c "cd src & del a.py && rd x"', ["delete a.py", "delete x empty"], "several commands"),
    ('cmd.exe /c "git reset --hard"', ["git-rewrite worktree force", "git-rewrite index"], "a program"),
    ('cmd.exe /c "copy a.txt b.txt"', ["write b.txt truncate"], "a copy"),
    ('cmd.exe /c "format d: /y"', ["write /dev/disk mkfs"], "a file system"),
    ('cmd.exe /c "dir /b src"', [], "a listing"),
    ("cmd.exe /c ver", [], "a question"),
    (r"robocopy.exe 'C:\e' 'D:\w' /MIR", ["write /mnt/d/w recursive truncate", "delete /mnt/d/w contents recursive"],
     "what is not at the source goes"),
    (r"robocopy.exe 'C:\e' 'D:\w' /E", ["write /mnt/d/w recursive truncate"], "a copy of a folder"),
    (r"robocopy.exe 'C:\e' 'D:\w' /MIR /L", [], "only listed"),
    (r"powershell.exe -c 'Remove-Item C:\Users\ann\x'", ["delete /mnt/c/Users/ann/x"], "PowerShell on the same place"),
    ("git.exe reset --hard", ["git-rewrite worktree force", "git-rewrite index"], "a program of Windows"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), [row[:2] for row in ROWS], ids=[row[2] for row in ROWS])
def test_what_a_text_does(text: str, expected: list[str]) -> None:
    assert told(effects_of(text, WORLD), Kind.DELETE, Kind.WRITE, Kind.GIT_REWRITE) == expected

"""Code that walks through a folder and deletes what it finds there, in languages that no reader follows by name.

Told by two things in one text: what lists a folder, and what removes a file. The folder is known where the text says it
in plain words, or as the home and a name below.
"""

from __future__ import annotations

import re

_WALKS = re.compile(
    r"(?:\bFiles\.(?:walk|list|find|newDirectoryStream|walkFileTree)|\b(?:recursive_)?directory_iterator|\bWalkDir::new"
    r"|\bfilepath\.Walk(?:Dir)?|\bos\.ReadDir|\bioutil\.ReadDir|\bfs::read_dir|\bDirectory\.(?:GetFiles|EnumerateFiles"
    r"|GetDirectories)|\bFileManager\.default\.(?:contentsOfDirectory|enumerator)|\blistFiles|\bdirectory-files(?:-recursively)?)\s*\(?(?P<place>[^;{\n]{0,160})"
)
_REMOVES = re.compile(
    r"\bFiles(?:::|\.)delete|\.delete(?:IfExists|Recursively)?\(\)|\bfs::remove(?:_all|_file|_dir_all)?\b|\bremove_all\("
    r"|\bos\.Remove(?:All)?\(|\b(?:File|Directory)\.Delete\(|\bremoveItem\(|\bdelete-(?:file|directory)\b"
)
_HOME = re.compile(r"user\.home|homedir|home_dir|UserHomeDir|UserProfile|NSHomeDirectory|homeDirectory|\bHOME\b")
_LITERAL = re.compile(r"\"([^\"\n]*)\"")
_OF_HOME = frozenset(("user.home", "HOME", "USERPROFILE"))


def emptied_folder(code: str, home: str) -> str | None:
    """The folder, absolute or below the current one; empty where it is not known, None where nothing is deleted so."""
    if (match := _WALKS.search(code)) is None or not _REMOVES.search(code):
        return None
    names = [name for name in _LITERAL.findall(match["place"]) if name not in _OF_HOME]
    if _HOME.search(match["place"]):
        return "/".join((home, *names))
    path = "/".join(names)
    return home + path[1:] if path.startswith("~/") else path

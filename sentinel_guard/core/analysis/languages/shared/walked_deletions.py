"""Code that walks through a folder and deletes what it finds there, in languages that no reader follows by name.

Told by two things in one text: what lists a folder, and what removes a file. The folder is known where the text says it
in plain words, or as the home and a name below.
"""

from __future__ import annotations

import re

_WALKS = re.compile(
    r"(?P<member>\.(?:eachFile|eachDir|traverse|walk(?:TopDown|BottomUp)?\(\)|children\b|each_child\b|listFiles\(\)))|"
    r"(?:\bFiles\.(?:walk|list|find|newDirectoryStream|walkFileTree)|\b(?:recursive_)?directory_iterator|\bWalkDir::new"
    r"|\bfilepath\.Walk(?:Dir)?|\bos\.ReadDir|\bioutil\.ReadDir|\bfs::read_dir|\bDirectory\.(?:GetFiles|EnumerateFiles"
    r"|GetDirectories)|\bFileManager\.default\.(?:contentsOfDirectory|enumerator)|\blistFiles|\bdirectory-files(?:-recursively)?|\bwalkDir(?:Rec)?\b|\bdirEntries|\bwalkTopDown|\bwalkBottomUp"
    r"|\bSys\.readdir|\blistDirectory|\bgetDirectoryContents|\bos\.walk\b|\bos\.ls\b|\bopenDir|\bopenIterableDir|\bDirectory(?=\([^)]*\)\.list)|\bin-directory"
    r"|\bdirectory-list|\bfile-seq|\bn?ftw|\bscandir|\bos/dir|\(os\.listdir|\(glob\.glob|\bfs/(?:glob|list-dir)|\(directory"
    r"|\bFile\.ls!?|\bPath\.wildcard|\bfilelib:wildcard|\bfile:list_dir|\bDir\.(?:each_child|children)|\bwalkPattern"
    r")\s*\(?(?P<place>[^;{\n]{0,160})"
)
_REMOVES = re.compile(
    r"\bFiles(?:::|\.)delete|\.delete(?:IfExists|Recursively|Dir)?\(\)|\bfs::remove(?:_all|_file|_dir_all)?\b|\bremove_all\("
    r"|\bos\.Remove(?:All)?\(|\b(?:File|Directory)\.[Dd]elete\(|\bremoveItem\(|\bdelete-(?:file|directory)\b"
    r"|\bremove(?:File|Dir|DirectoryRecursive|PathForcibly)\b|\bdelete(?:File|Tree|Sync)\(|\bSys\.remove\b|\bos\.(?:rm|rmdir_all)\("
    r"|\bWriteAll(?:Text|Lines|Bytes)\s*\(\s*\w+\s*,\s*(?:\"\"|\[\|?\|?\]|String\.Empty|string\.Empty|Array\.empty)"
    r"|\bos\.WriteFile\(\s*\w+\s*,\s*(?:nil|\[\]byte\(?\{?\}?)|\bos\.Truncate\(|\bfs::write\(\s*&?\w+\s*,\s*b?\"\"|\.writeText\(\"\"\)"
    r"|\bwriteFile\(\s*\w+\s*,\s*\"\"|\bFiles\.write(?:String)?\(\s*\w+\s*,\s*(?:\"\"|new byte\[0\])|\bset_len\(0\)"
    r"|\bFile\.rm(?:_rf)?!?(?=[(/ ])|\bfile:del\w+\(|\bos/rm\b|\(os\.(?:remove|unlink)\b|\bfs/delete[\w-]*"
    r"|&:(?:rmtree|delete|unlink)\b"
)
"""What removes a file, or leaves nothing of it."""
_READS = re.compile(
    r"\breadFile\b|\bread_to_string\b|\bReadAll(?:Text|Lines|Bytes)\b|\bos\.ReadFile\(|\breadText\(|\breadLines\(|\bFiles\.read\w+\("
    r"|\bfile->(?:string|lines)\b|\bslurp\b|\breadAsString\w*\(|\bread_file\(|\breadFileAlloc\(|\bopen_in\b|\bcontentsOf(?:File)?:"
)
_HOME = re.compile(
    r"user\.home|getHomeDir|homedir|home_dir|UserHomeDir|UserProfile|NSHomeDirectory|homeDirectory|\bHOME\b"
)
_LITERAL = re.compile(r"[\"']([^\"'\n]*)[\"']")
_BEFORE = 120
"""Characters before a method in which its object stands."""
_OF_HOME = frozenset(("user.home", "HOME", "USERPROFILE"))


def emptied_folder(code: str, home: str) -> str | None:
    """The folder, absolute or below the current one; empty where it is not known, None where nothing is deleted so."""
    return _folder(code, home, _REMOVES)


def read_folder(code: str, home: str) -> str | None:
    """The folder whose files are read one by one, as `emptied_folder` gives it."""
    return _folder(code, home, _READS)


def _folder(code: str, home: str, act: re.Pattern[str]) -> str | None:
    if (match := _WALKS.search(code)) is None or not act.search(code):
        return None
    place = match["place"]
    if match["member"]:
        place = re.split(r"[;{}\n]", code[max(0, match.start() - _BEFORE) : match.start()])[-1]
    names = [name for name in _LITERAL.findall(place) if name not in _OF_HOME and "*" not in name]
    if _HOME.search(place):
        return "/".join((home, *names))
    path = "/".join(names)
    return home + path[1:] if path.startswith("~/") else path

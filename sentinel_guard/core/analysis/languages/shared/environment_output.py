"""Whether code in any language prints variables of the environment that may hold secrets.

Looked for in what a printing call is given, up to the end of its brackets or its line: the environment as a whole
(``print(os.environ)``), one variable after the other (``process.env[k]``), or one that is called like a secret. That a
variable is set, its length, or its names print nothing of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sentinel_guard.core.analysis.languages.shared import child_environments
from sentinel_guard.core.analysis.secret_names import names_credential

_PRINTS = re.compile(
    r"(?<![\w.])(?:f?print(?:ln|f)?|pprint|pp|puts|p|say|warn|echo|var_dump|print_r|die|"
    r"console\.(?:log|error|info|warn|dir|table|debug)|(?:process|sys|STD)\.?(?:stdout|stderr|OUT|ERR)\.(?:write|print|puts)|"
    r"System\.out\.print(?:ln|f)?|fmt\.(?:Fprint|Print)(?:ln|f)?|println!|dbg!|IO\.(?:puts|inspect)|json\.dump)(?![\w.])"
)
_LOOPS = (
    re.compile(
        r"\bfor\b\s*\(?(?:const|let|var)?\s*[\[(]?\s*\$?\w+\s*,\s*\$?(?P<name>\w+)[\])]?\s*(?:in|of|:=\s*range)\s*"
        r"(?P<value>[^\n{]*)"
    ),
    re.compile(
        r"(?P<value>\bENV\.\w+|\bObject\.entries\(process\.env\)\.\w+)\s*[({]\s*[({|\[]+\s*\w+\s*,\s*(?P<name>\w+)"
    ),
)
"""Loops over pairs: the second name holds the values."""
_ALIASES = re.compile(
    r"\bimport\s+(?:(?P<value>dotenv_values)\s+as\s+(?P<name>\w+)|\{\s*(?P<load>load\w*)\s*\}\s*from\s*['\"](?P<std>[^'\"]*@std/dotenv))"
)
_PIPED = re.compile(r"(?P<value>[^\n;]*)\|>\s*(?:IO\.(?:inspect|puts)|print\w*|cat|dump)\b")
"""A value that is handed on to what prints it: Elixir, Julia, R."""
_NAMES_ALONE = re.compile(r"\bMap\.keys\b|\bmap_size\b|\b(?:names|length|count)\(")
_BROWSERS = re.compile(r"\bimport\s+(?:browser_cookie3|rookiepy)\s+as\s+(?P<name>\w+)")
_SETS = re.compile(
    r"(?:\b(?:const|let|var|my|our)\s+)?[$%@]?(?P<name>\b\w+)(?:\s*,\s*\w+)?\s*:?=(?![=~>])\s*(?P<value>[^\n;]*)"
)
_WHOLE = re.compile(
    r"(?<!keys\()(?<!in )(?<!list\()(?<!sorted\()(?<!len\()(?<!set\()\bos\.environ(?![\w.\[])"
    r"|\bos\.environ\.(?:items|values|copy)\(|\bos\.environ\[(?!\s*['\"])[a-z_]\w*\]"
    r"|(?<!keys\()\bprocess\.env\b(?!\s*[.\[?])|\bprocess\.env\[(?!\s*['\"`])"
    r"|\bENV\.(?:to_h|to_a|inspect|each\w*|map|sort\w*|select|values|filter)\b(?!\s*\(&:first\))"
    r"|\bENV\s*(?:$|[)\n;])|\bENV\[[a-z]"
    r"|(?<!keys )%ENV\b|\$ENV\{\$|\$_ENV\b(?!\s*\[)|\bgetenv\(\s*\)|\bphpinfo\("
    r"|(?<!keys\()(?<!list\()(?<!sorted\()(?<!len\()(?<!set\()\bdotenv_values\b(?!\([^()]*\)\.keys\(\))|(?<!keys\(require\('dotenv'\)\.)\bdotenv\.parse\("
    r"|(?<!keys\()\brequire\(['\"]dotenv['\"]\)\.(?:config\([^()]*\)\.parsed\b|parse\()|(?<![)\w]\.)\bconfig\(\)\.parsed\b"
    r"|(?<!keys\()\bparse_ini_(?:file|string)\(\s*['\"][^'\"]*\.env\b|\bDotenv\.(?:parse|load)\b(?!\([^()]*\)\.keys\b)"
    r"|\bDotenv\b[^\n;]*->(?:safe)?[lL]oad\(|\bDotenv::parse\(|\bRepositoryEnv\(|\be(?:nv)?\.ENVIRON\b|\bgodotenv\.(?:Read|Parse|Unmarshal)\("
    r"|\bDotenvy\.source|\bdotenvy?::(?:from_\w+_iter|dotenv_iter|vars)\(|@std/dotenv['\"]|\bdotenv::vars\("
    r"|\bos\.Environ\(\)|\benv::vars\(|\bSystem\.getenv\(\s*\)|\bSystem\.get_env\(\s*\)|\bDeno\.env\.toObject\("
    r"|\bBun\.env\b(?!\s*[.\[?])|\b(?:import\.meta|globalThis\.process)\.env\b(?!\s*[.\[?])"
)
_NAMED = re.compile(
    r"(?P<before>!!|\bbool\(|\bBoolean\(|\blen\(|\btypeof\s+|\bin\s+|!)?\s*"
    r"(?:\bos\.environ(?:\.get\(|\[)|\bos\.getenv\(|\bENV(?:\[|\.fetch\()|\bgetenv\(|\bSystem\.getenv\(|\bos\.Getenv\(|"
    r"\bprocess\.env(?:\.|\?\.|\[)|\$ENV\{|\$_(?:ENV|SERVER)\[|\bDeno\.env\.get\(|\bBun\.env\.|\bimport\.meta\.env\.)"
    r"\s*['\"`]?(?P<name>[A-Za-z_]\w*)(?P<after>['\"`]?[^)\]}]{0,40}[)\]}]?\s*(?:\?|\.length|\.size|is\b|[!=]=|\[|\.slice|"
    r"\.substr|\.startsWith|\.nil\?|\.empty\?|&&|and\b))?"
)
_CLOSING = {"(": ")", "[": "]", "{": "}"}
LONGEST = 2000
"""Characters of one printing call that are looked at."""


def prints_environment(code: str) -> bool:
    """Whether a program's text prints the environment, or a variable of it that may hold a secret."""
    if "env" not in code.lower() and not _KEYRING.search(code) and not _FILLS.search(code):
        return False
    code = child_environments.left_out(code)
    piped = [match["value"] for match in _PIPED.finditer(code)]
    if any(_tells(value) and not _NAMES_ALONE.search(value) for value in piped):
        return True
    sets = [m for m in _SETS.finditer(code) if not _PRINTS.match(m["value"])]
    ends = {m["name"] for m in sets if _CONNECTS.match(m["value"]) and not _tells(_CONNECTS.sub("", m["value"]))}
    held = {m["name"] for m in sets if _tells(m["value"]) and (m["name"] not in ends or _is_shown(m["name"], code))}
    held |= {m["name"] or m["load"] for m in _ALIASES.finditer(code)}
    held |= {m["name"] for m in _BROWSERS.finditer(code)}
    pairs = [m for loop in _LOOPS for m in loop.finditer(code)]
    held |= {m["name"] for m in pairs if _tells(m["value"]) or _uses(m["value"], held)}
    if _FILLS.search(code) and _PRINTS.search(code):
        return True
    return any(_tells(given) or _uses(given, held) for given in _given(code))


_CONNECTS = re.compile(
    r"\s*(?:await\s+)?(?:new\s+)?(?:\w+\.)*\w*(?:[cC]onnect|[cC]lient|[pP]ool|[eE]ngine|Sequelize|drizzle|postgres)\w*"
    r"\((?:[^()]|\([^()]*\)){0,300}\)"
)
"""A connection that is opened by what is given: it is no text."""


def _is_shown(name: str, code: str) -> bool:
    """Whether a connection is named in any other way than to ask it something: ``c.query(…)``."""
    uses = re.findall(rf"(?<![\w.'\"]){re.escape(name)}\b(?!\s*=(?!=))(\s*(?:\.\w+)*\s*\(?)", code)
    return any(not re.fullmatch(r"\s*\.\w+\s*\(", use) or _SAYS_ADDRESS.search(use) for use in uses)


_SAYS_ADDRESS = re.compile(r"(?i)ur[il]|option|config|param|dsn|string|render|repr|inspect|secret|pass|cred")
_HANDED_ON = re.compile(r"\.then\(\s*console\.\w+\s*\)")
"""``promise.then(console.log)``: what is printed stands before it."""


def _given(code: str) -> Iterator[str]:
    for match in _HANDED_ON.finditer(code):
        yield code[max(0, match.start() - LONGEST) : match.start()]
    for match in _PRINTS.finditer(code):
        rest = code[match.end() : match.end() + LONGEST]
        yield rest[: _end(rest)]


def _end(text: str) -> int:
    """Where the call ends that begins here: at its closing bracket, else at the end of the statement."""
    bare = text[:1] != "(" and not text[:1].isspace()
    opened: list[str] = []
    for at, char in enumerate(text):
        if char in _CLOSING:
            opened.append(_CLOSING[char])
        elif opened and char == opened[-1]:
            opened.pop()
            if not opened and text[:1] == "(":
                return at + 1
        elif not opened and (char in "\n;" or (bare and char == ")")):
            return at
    return len(text)


_KEYRING = re.compile(
    r"\bget_(?:frozen_)?credentials\(|\bcredentials\.(?:access_?[kK]ey\w*|secret\w*|token|refresh_token)\b|\bget_secret_value\(|\b(?:access|read)_secret(?:_version)?\(|"
    r"\bRails\.application\.(?:credentials|secrets)\b|\bgetSecretValue\(|\bGetSecretValueCommand\(|\bDefaultAzureCredential\(\)\.get_token\(|\bget_parameter\([^)]*WithDecryption|\bid_token\b|"
    r"\bkeyring\.get_(?:password|credential)\(|\bgetPassword\(|\bSecretService\b|\bsecretmanager\b.*access_secret|\.get_secret\(\s*\)|"
    r"\bfindCredentials\(|\bKeychain\b[^\n;]*\bpasswords?\b|\b(?:keyring::)?key_get\(|"
    r"\bCredRead\w*\(|\bCredEnumerate\w*\(|\bkeyring\.Get\(|\bEntry::new\([^\n;]*\.get_password\(|"
    r"\bbrowser_cookie3?\b|\brookiepy\b|\bpycookiecheat\b|\bchrome_cookies\("
)
"""Secrets that a library of a keyring, of a browser or of a cloud gives."""
_FILLS = re.compile(r"\bSecItemCopyMatching\(|\bSecKeychainFind\w+\(|\bCryptUnprotectData\(")
"""Functions that put a secret into a variable that they are handed."""


def _tells(text: str) -> bool:
    if _WHOLE.search(text) or _KEYRING.search(text):
        return True
    return any(names_credential(m["name"]) and not (m["before"] or m["after"]) for m in _NAMED.finditer(text))


def _uses(text: str, names: set[str]) -> bool:
    return any(
        re.search(rf"(?<![\w.'\"]){re.escape(name)}\b(?!\s*(?:\?|\.length|is\b|in\b|[!=]=|\[:?\d))", text)
        and not re.search(rf"(?:len|bool|Boolean|typeof|!!)\W*{re.escape(name)}\b", text)
        for name in names
    )


_JQ_WHOLE = re.compile(r"(?<![\w.\"$])(?:\$ENV|env)\b(?!\s*\.\s*[A-Za-z_]|\s*\[|\s*\|\s*keys|\w)")
_JQ_NAMED = re.compile(r"(?<![\w.\"])(?:\$ENV|env)\s*\.\s*(\w+)")


def jq_prints_environment(program: str) -> bool:
    """The same of a program of jq: ``env``, ``$ENV``, ``env.NAME``."""
    return _JQ_WHOLE.search(program) is not None or any(map(names_credential, _JQ_NAMED.findall(program)))


_AWK = re.compile(r"\bENVIRON\[\s*(?:(?P<any>[a-z]\w*)|\"(?P<name>\w+)\")")


def awk_prints_environment(program: str) -> bool:
    """The same of a program of awk: ``ENVIRON[k]``, ``ENVIRON["NAME"]``."""
    return any(m["any"] or names_credential(m["name"]) for m in _AWK.finditer(program))

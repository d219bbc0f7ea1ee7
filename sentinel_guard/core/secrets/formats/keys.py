"""Secret formats of no single provider: private key files, JWT, HTTP headers, command lines, Kubernetes manifests."""

from __future__ import annotations

from sentinel_guard.core.secrets.formats.base import BASE64, HEX, LOWER, URL, assigned, fake, login, token
from sentinel_guard.core.secrets.model import Format, Grade

KEY_FILE = 1 << 14
"""Characters that a key of many lines may take."""
BODY = "\\n".join(fake(64, BASE64)[n:] + fake(64, BASE64)[:n] for n in range(4))
BECH32 = "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"
JWT_HEAD = "eyJhbGciOiJIUzI1NiJ9"
PEM_IN_BASE64 = (
    "BQUklWQVRF|BSU0EgUFJJVkFURS|BFQyBQUklWQVRF|BEU0EgUFJJVkFURS|BPUEVOU1NIIFBSSVZBVEU|BFTkNSWVBURUQgUFJJVkFUR"
)
"""``PRIVATE``, ``RSA PRIVATE``, ``EC``, ``DSA``, ``OPENSSH``, ``ENCRYPTED`` behind ``-----BEGIN``, encoded."""
VERBATIM = r"""[^\s"'`$<>{}\\]"""
CURL_USER = r"[\s\"'](?:-u|--user|--proxy-user)[\s\"',=]{1,6}"
"""The command itself is asked for by the needle alone: its options may stand on other lines, or in a list of words."""
SECRET_KIND = ("kind: secret", "kind: 'secret'", 'kind: "secret"')
ENTRY = r"[ \t]{1,12}[\w.-]{1,80}:[ \t]{0,4}"
SHORT_ENTRY = ENTRY + r"[\"']?[A-Za-z0-9+/]{0,9}={0,2}[\"']?[ \t]{0,20}\n"
OPEN_ENTRY = (
    r"[ \t]{1,12}[\w.-]{0,30}(?i:user|username|login|e?mail|host|hostname|port|database|db|dbname|name):[^\n]*\n"
)
DATA = rf"data:[ \t]{{0,20}}\n(?:{SHORT_ENTRY}|{OPEN_ENTRY}|[ \t]{{0,12}}#[^\n]*\n){{0,10}}{ENTRY}"
"""The first entry that is long enough, behind entries that are too short or no secrets, and comments."""
ENCODED = r"(?:\|-?\s{1,12})?[\"']?(?P<value>[A-Za-z0-9+/]{10,1000}={0,3})"

FORMATS: tuple[Format, ...] = (
    Format(
        "private-key", "a private key", ("private key",),
        r"-----BEGIN[ A-Z0-9_-]{0,60}PRIVATE KEY(?: BLOCK)?-----"
        r"(?P<value>(?:[\s\\\"'A-Za-z0-9+/=:,.;()@<>]|-[\s\\\"'A-Za-z0-9+/=:,]){60,})",
        (f"-----BEGIN RSA PRIVATE KEY-----\n{BODY}\n-----END RSA PRIVATE KEY-----",
         f"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,{fake(8, HEX)}\n\n{BODY}\n--",
         f"-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\n\n{BODY}\n-----END PGP PRIVATE KEY BLOCK-----",
         f"-----BEGIN OPENSSH PRIVATE KEY-----\\n{BODY}\\n-----END OPENSSH PRIVATE KEY-----"),
        ("-----BEGIN OPENSSH PRIVATE KEY----------END OPENSSH PRIVATE KEY-----",
         "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
         f"-----BEGIN PUBLIC KEY-----\n{BODY}\n-----END PUBLIC KEY-----"), 3.5, reach=KEY_FILE,
    ),
    Format(
        "putty-key", "a PuTTY private key", ("private-lines:",),
        r"Private-Lines: \d{1,3}\s{1,4}(?P<value>[A-Za-z0-9+/=\s]{60,1000})",
        (f"PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nPrivate-Lines: 4\n{BODY}\nPrivate-MAC: 1",),
        ("Private-Lines: how many follow",), 3.5, reach=2000,
    ),
    token("age-key", "an age private key", f"AGE-SECRET-KEY-1[{BECH32}]{{58}}", "AGE-SECRET-KEY-1" + fake(58, BECH32),
          miss=("AGE-SECRET-KEY-1" + fake(30, BECH32),), entropy=0.0),
    token("age-plugin-key", "an age plugin's identity", f"AGE-PLUGIN-[A-Z0-9-]{{2,30}}-1[{BECH32}]{{20,300}}",
          "AGE-PLUGIN-YUBIKEY-1" + fake(40, BECH32), grade=Grade.WARN),
    token("private-key-base64", "a private key in base 64",
          f"LS0tLS1CRUdJTi(?:{PEM_IN_BASE64})[A-Za-z0-9+/=]{{60,1000}}",
          "LS0tLS1CRUdJTiBSU0EgUFJJVkFURS" + fake(120, BASE64), needles=("ls0tls1crudjti",)),
    Format(
        "jwk-private", "a private key of JWK", ('"kty"',),
        r"\"kty\"\s{0,3}:\s{0,3}\"(?:RSA|EC|OKP)\"[^{}]{0,1000}?\"d\"\s{0,3}:\s{0,3}\"(?P<value>[A-Za-z0-9_-]{40,1000})\"",
        (f'{{"kty": "EC", "crv": "P-256", "d": "{fake(43, URL)}"}}',), ('{"kty": "EC", "x": "abc", "d": "short"}',),
        4.0, reach=2000,
    ),
    token(
        "jwt", "a JSON Web Token",
        r"ey[A-Za-z0-9]{17,1000}\.ey[A-Za-z0-9/\\_-]{17,1000}(?:\.[A-Za-z0-9/\\_=-]{0,1000})?",
        f"{JWT_HEAD}.eyJ{fake(60, URL)}.{fake(43, URL)}", f"{JWT_HEAD}.eyJ{fake(60, URL)}.",
        miss=("eyJAAAA.eyJBBB", "keyboard.eyes"), needles=(".ey",), entropy=3.5, grade=Grade.WARN,
    ),
    token("jwt-base64", "a JSON Web Token in base 64", r"ZXlK[A-Za-z0-9+/=\\_-]{60,1000}",
          "ZXlKaGJHY2lPaU" + fake(120), needles=("zxlk",), entropy=3.5, grade=Grade.WARN),
    Format(
        "curl-user", "a password of a curl command", ("curl",),
        CURL_USER + r"[^\s\"':$<{\[]{0,60}:(?P<value>[^\s\"'$<{\[][^\s\"'<{\[]{2,100})(?:[\s\"']|$)",
        (f"curl -u me:{fake(12)} https://x.io", f"curl https://x.io \\\n  --user 'me:{fake(20)}'",
         f'["curl", "-u", "me:{fake(12)}"]'),
        ("curl -u $USER:$PASSWORD https://x.io", "curl -u me https://x.io", "curl --user me:[PASSWORD] https://x.io",
         "curl -u username:token https://x.io", "curl -u username:password https://x.io"), 2.8,
    ),
    Format(
        "curl-token", "a token in place of a user in a curl command", ("curl",),
        CURL_USER + r"(?P<value>[^\s\"':$<{\[]{10,200}):(?:[\s\"']|$)", (f"curl -u {fake(20)}: https://x.io",),
        ("curl -u $TOKEN: https://x.io", "curl -u administrator: https://x.io"), 3.2,
    ),
    Format(
        "curl-header", "a credential in a header of a curl command", ("curl",),
        r"[\s\"'](?:-H|--header)[\s\"',=]{0,6}[\"']"
        r"(?:(?i:Authorization):\s{0,5}(?i:Basic|Bearer|Token|ApiKey)?\s{0,5}"
        r"|[A-Za-z0-9-]{0,20}(?i:api|private|access|auth)[_-]?(?i:key|token):\s{0,5})(?P<value>[\w=~@.+/-]{8,1000})[\"']",
        (f"curl -X POST --header 'Api-Token: {fake(20)}' https://x.io",
         f'curl -s \\\n  -H "Authorization: Bearer {fake(30)}" https://x.io'),
        ('curl -H "Authorization: Bearer $API_KEY" x.io', 'curl -H "Content-Type: application/json" x.io'), 2.75,
    ),
    Format(
        "basic-header", "a user's password in a header", ("basic ",),
        r"(?i:authorization)[\"']?\s{0,3}[:=,]\s{0,3}[\"'`]?(?i:basic)\s{1,3}(?P<value>[A-Za-z0-9+/]{12,400}={0,2})",
        (f"Authorization: Basic {login()}",), ("Authorization: Basic ${AUTH}", "Authorization: Basic realm"),
        3.0, grade=Grade.WARN,
    ),
    Format(
        "bearer-header", "a token in a header", ("bearer ",),
        r"(?i:authorization)[\"']?\s{0,3}[:=,]\s{0,3}[\"'`]?(?i:bearer)\s{1,3}"
        r"(?P<value>[A-Za-z0-9_.~+/-]{20,1000}={0,2})",
        (f"Authorization: Bearer {fake(40)}",), ("Authorization: Bearer ${TOKEN}", "Authorization: Bearer <token>"),
        3.5, grade=Grade.WARN,
    ),
    Format(
        "htpasswd", "a hashed password of a web server", (":$apr1$", ":$2y$", ":{sha}"),
        r"(?:^|[\s\"'])[\w.@-]{1,60}:(?:\$apr1\$|\$2y\$|\{SHA\})(?P<value>[A-Za-z0-9./]{1,8}\$[A-Za-z0-9./]{22}"
        r"|[0-9]{2}\$[A-Za-z0-9./]{53}|[A-Za-z0-9+/]{27}=)",
        (f"me:$apr1${fake(8)}${fake(22)}", f"me:$2y$10${fake(53)}"), ("me:$apr1$short",), 3.0, grade=Grade.WARN,
    ),
    Format(
        "unix-password-hash", "a hashed password of a system", (":$1$", ":$5$", ":$6$", ":$y$"),
        r"(?:^|\s)[a-z_][\w-]{0,31}:\$(?:1|5|6|y)\$(?P<value>[^\s:]{20,160}):[0-9]{0,6}:",
        (f"me:$6$rounds=5000${fake(16)}${fake(86)}:19000:0:99999:7:::",), ("me:!:19000:0:99999:7:::",), 3.5,
        grade=Grade.WARN,
    ),
    Format(
        "netrc-password", "a password of a .netrc file", ("machine ",),
        r"\bmachine\s{1,4}[\w.-]{1,100}\s{1,8}login\s{1,4}\S{1,100}\s{1,8}"
        rf"password\s{{1,4}}(?P<value>{VERBATIM}{{6,200}})",
        (f"machine api.x.io login me password {fake(20)}",), ("machine api.x.io login me",), 2.5,
    ),
    Format(
        "pgpass-password", "a password of a .pgpass file", (":5432:",),
        rf"(?:^|\n)[\w.*-]{{1,100}}:5432:[\w*-]{{1,60}}:[\w*-]{{1,60}}:(?P<value>{VERBATIM}{{6,100}})",
        (f"db.x.io:5432:shop:me:{fake(16)}",), ("db.x.io:5432:shop:me:$PASSWORD",), 2.5,
    ),
    Format(
        "kubernetes-secret", "a value of a Kubernetes Secret", SECRET_KIND,
        rf"(?i:kind):[ \t]{{0,3}}[\"']?(?i:secret)[\"']?[ \t]{{0,20}}\n(?:[^\n]*\n){{0,12}}?{DATA}{ENCODED}",
        (f"apiVersion: v1\nkind: Secret\nmetadata:\n  name: x\ndata:\n  password: {fake(24, BASE64)}\n",),
        ('kind: Secret\nmetadata:\n  name: x\ndata:\n  htpasswd: ""\n', "kind: Secret\ndata:\n  extra: YmFyCg==\n",
         "kind: Secret\ndata:\n  password: {{ .Values.Password }}\n", "kind: Secret\ndata:\n  password: Y2hhbmdlbWU=\n",
         "kind: Secret\ndata:\n  password: cG9zdGdyZXMK\n  token: c2VjcmV0LXRva2Vu\n",
         "kind: Secret\ndata:\n  DB_USER: cHJvZF91c2VyXzc3NA==\n",
         f"kind: SecretStore\ndata:\n  key: {fake(20)}\n"), 2.5, reach=2000,
    ),
    Format(
        "kubernetes-secret-first", "a value of a Kubernetes Secret", ("data:",),
        rf"(?:^|\n){DATA}{ENCODED}[\"']?[ \t]{{0,20}}\n(?:[^\n]*\n){{0,12}}?"
        r"(?i:kind):[ \t]{0,3}[\"']?(?i:secret)[\"'\s]",
        (f"apiVersion: v1\ndata:\n  password: {fake(24, BASE64)}\nkind: Secret\n",),
        ("data:\n\textra: YmFyCg==\nkind: secret\n", "data:\n  password: {{ .Values.Password }}\nkind: Secret\n",
         "data:\n  name: someLongValueHere\nkind: ConfigMap\n"), 2.5, reach=2000,
    ),
    assigned("django-secret-key", "a Django secret key", "secret[_-]?key",
             "(?:django-insecure-)?[a-z0-9!@#$%^&*(_=+-]{50}", fake(50, LOWER), words="",
             needles=("secret_key", "secret-key", "secretkey"), entropy=3.8, grade=Grade.WARN),
    assigned("laravel-app-key", "a Laravel application's key", "app[_-]?key", "base64:[A-Za-z0-9+/]{43}=",
             f"base64:{fake(43, BASE64)}=", words="", needles=("app_key", "appkey", "app-key"), entropy=4.0),
    assigned("rails-master-key", "a Rails key", "rails[_-]?master[_-]?key secret[_-]?key[_-]?base",
             "(?:[0-9a-f]{128}|[0-9a-f]{32})", fake(32, HEX), words="", needles=("master_key", "key_base")),
)  # fmt: skip

"""The check ``rules`` on effects made by hand: what is found, how hard, and why."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sentinel_guard.core.analysis.analyse import analyse
from sentinel_guard.core.checks.base import Case, GuardResources
from sentinel_guard.core.checks.rules import rules
from sentinel_guard.core.model import Action, Ask, Command, Effect, Finding, Kind, Layer, Response
from sentinel_guard.core.policy.policy import Paths, Policy, Rule
from sentinel_guard.core.session.session import Session
from tests.support.fakes import FakeWorld

HOME = "/home/user"
ROOT = "/home/user/project"
STATE = f"{HOME}/.local/state/sentinel-guard"
GUARDED = GuardResources(folders=(STATE,), settings=(f"{ROOT}/sentinel.toml",), pids=(4242,))
POLICY = Policy(
    paths=Paths((".env", ".env.*", "!.env.example", "secrets/"), ("private/",)),
    confirm={"deploy": ("deploy", "./scripts/deploy*", "npm run deploy"), "delete_database": ()},
    rules=(
        Rule(
            "t.kill",
            Response.KILL,
            "it is fatal",
            effect=("delete",),
            target=("{root}", "{system}"),
            how=frozenset({"recursive"}),
        ),
        Rule(
            "t.ask",
            Response.ASK,
            "it is risky",
            action="PUSH",
            program=("git",),
            subcommand=("push",),
            any_flag=frozenset({"-f"}),
        ),
        Rule(
            "t.flags",
            Response.DENY,
            "no",
            program=("x*",),
            all_flags=frozenset({"-a", "-b"}),
            no_flag=frozenset({"-n"}),
        ),
        Rule("t.operand", Response.HINT, "oh", program=("y",), operand=("*.txt",)),
        Rule(
            "t.outside",
            Response.ASK,
            "away",
            action="GO",
            effect=("delete",),
            not_target=("{inside}", "{tmp}"),
            sure=True,
        ),
    ),
)


def case(
    *effects: Effect,
    policy: Policy = POLICY,
    strikes: tuple[str, ...] = (),
    tool: str = "shell",
    layer: Layer = Layer.SHELL,
    **arguments: object,
) -> Case:
    action = Action("a", "s", layer, tool, arguments, ROOT, 0.0, ROOT)
    restricted = (f"{ROOT}/config/.env", f"{ROOT}/.env")
    session = Session("s", ROOT, strikes=strikes)
    return Case(action, effects, session, policy, restricted=restricted, guarded=GUARDED, home=HOME)


def found(*effects: Effect, **more: object) -> list[tuple[str, Response]]:
    return [(f.rule, f.response) for f in rules(case(*effects, **more))]  # type: ignore[arg-type]


def effect(kind: Kind, target: str, *how: str, sure: bool = True) -> Effect:
    return Effect(kind, target, sure, frozenset(how), Command("cmd", ("cmd", target)))


def run(text: str, subcommand: str = "") -> Effect:
    argv = tuple(text.split())
    flags = frozenset(w for w in argv[1:] if w.startswith("-"))
    operands = tuple(w for w in argv[1:] if not w.startswith("-") and w != subcommand)
    program = argv[0].rpartition("/")[2]
    return Effect(Kind.EXECUTE, program, command=Command(program, argv, subcommand, flags, operands))


ROWS = [
    (effect(Kind.WRITE, f"{ROOT}/.env"), [("paths.restricted", Response.DENY)], "a restricted file is not written"),
    (effect(Kind.DELETE, f"{ROOT}/.env"), [("paths.restricted", Response.DENY)], "nor deleted"),
    (effect(Kind.DELETE, f"{ROOT}/.env", sure=False), [("paths.restricted", Response.DENY)], "a guess is refused too"),
    (effect(Kind.READ, f"{ROOT}/.env", "link"), [("paths.restricted", Response.DENY)], "nor linked to"),
    (effect(Kind.READ, f"{ROOT}/.env"), [], "reading it is allowed"),
    (effect(Kind.READ, f"{ROOT}/private/x"), [("paths.hidden", Response.DENY)], "a hidden file is not read"),
    (effect(Kind.WRITE, f"{ROOT}/.env.example"), [], "a negation takes it back"),
    (effect(Kind.WRITE, f"{ROOT}/src/x.py"), [], "ordinary work"),
    (effect(Kind.DELETE, f"{ROOT}/config", "recursive"), [("paths.restricted", Response.DENY)], "a folder with one"),
    (effect(Kind.DELETE, f"{ROOT}/config", "move"), [("paths.restricted", Response.DENY)], "moved away with it"),
    (effect(Kind.WRITE, f"{ROOT}/config", "mode", "recursive"), [("paths.restricted", Response.DENY)], "rights below"),
    (effect(Kind.WRITE, f"{ROOT}/config", "append"), [], "a write into the folder leaves it alone"),
    (effect(Kind.WRITE, ROOT, "recursive"), [], "copying into the root is no attack on what it holds"),
    (effect(Kind.DELETE, f"{ROOT}/src", "recursive"), [], "a folder that holds none"),
    (effect(Kind.DELETE, ROOT, "recursive"), [("t.kill", Response.KILL)], "the root: the fatal rule speaks alone"),
    (effect(Kind.DELETE, ROOT, "recursive", sure=False), [("t.kill", Response.DENY)], "fatal on a guess is a refusal"),
    (effect(Kind.DELETE, "/etc", "recursive"), [("t.kill", Response.KILL), ("t.outside", Response.ASK)], "the system"),
    (effect(Kind.DELETE, "/etc"), [("t.outside", Response.ASK)], "not all words of how"),
    (effect(Kind.DELETE, "/tmp/x"), [], "not_target leaves it alone"),
    (effect(Kind.DELETE, f"{HOME}/x", sure=False), [], "sure = true does not match a guess"),
    (run("git push -f", "push"), [("t.ask", Response.ASK)], "a flag of several"),
    (run("git push", "push"), [], "without the flag"),
    (run("git pull -f", "pull"), [], "another subcommand"),
    (run("xyz -a -b"), [("t.flags", Response.DENY)], "a program by pattern, all flags"),
    (run("xyz -a"), [], "not all flags"),
    (run("xyz -a -b -n"), [], "a flag that takes the rule back"),
    (run("y a.txt"), [("t.operand", Response.HINT)], "an operand by pattern"),
    (run("y a.md"), [], "no such operand"),
    (run("deploy production"), [("confirm.deploy", Response.ASK)], "the gate by program"),
    (run("./scripts/deploy.sh production"), [("confirm.deploy", Response.ASK)], "the gate by path"),
    (run(f"{ROOT}/scripts/deploy.sh"), [("confirm.deploy", Response.ASK)], "the same, absolute"),
    (run("npm run deploy"), [("confirm.deploy", Response.ASK)], "the gate by first words"),
    (run("npm run build"), [], "other words"),
    (run("cat deploy"), [], "an operand is no program"),
    (effect(Kind.WRITE, f"{STATE}/audit.sqlite3"), [("guard.folders", Response.KILL)], "own store"),
    (effect(Kind.DELETE, STATE, "recursive"),
     [("guard.folders", Response.KILL), ("t.outside", Response.ASK)], "own folder"),
    (effect(Kind.WRITE, f"{STATE}/x", sure=False), [("guard.folders", Response.DENY)], "on a guess"),
    (effect(Kind.DELETE, f"{HOME}/.local", "recursive"),
     [("guard.folders", Response.DENY), ("t.outside", Response.ASK)], "a folder above is not aimed at the guard"),
    (effect(Kind.READ, f"{STATE}/x"), [], "reading is no attack"),
    (effect(Kind.SIGNAL, "4242"), [("guard.process", Response.KILL)], "the daemon's pid"),
    (effect(Kind.SIGNAL, "-4242"), [("guard.process", Response.KILL)], "its process group"),
    (effect(Kind.SIGNAL, "sentinel-guard"), [("guard.process", Response.KILL)], "its name"),
    (effect(Kind.SIGNAL, "4243"), [], "another process"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "wanted"), [r[:2] for r in ROWS], ids=[r[2] for r in ROWS])
def test_an_effect_gives(given: Effect, wanted: list[tuple[str, Response]]) -> None:
    assert found(given) == wanted


def test_a_second_try_at_the_settings_is_fatal_where_sure() -> None:
    for strikes, sure, response in (
        ((), True, Response.DENY),
        (("guard.settings",), True, Response.KILL),
        (("guard.settings",), False, Response.DENY),
    ):
        written = effect(Kind.WRITE, f"{ROOT}/sentinel.toml", sure=sure)
        assert found(written, strikes=strikes, command="tee sentinel.toml") == [("guard.settings", response)]


CONFIG = f"{HOME}/.config/sentinel-guard"
OWN = GuardResources((STATE,), (CONFIG, f"{ROOT}/sentinel.toml", f"{ROOT}/.git/hooks"))
NOTHING: list[tuple[str, Response]] = []
SWEPT = [("paths.restricted", Response.DENY)]
FATAL = [("guard.settings", Response.KILL)]
MEANT = [
    ("chmod -R u+w .", NOTHING, "rights below a folder"),
    ("chmod -R 000 .", NOTHING, "whatever rights: the watcher keeps the bytes"),
    ("chown -R me .", NOTHING, "owners below a folder"),
    ("chmod -R go-w .git", NOTHING, "the hooks among them"),
    ("chmod -R u+w /home/user", NOTHING, "the guard's own folder among them"),
    ("touch *", NOTHING, "a time by a glob"),
    ("touch a.txt sentinel.toml", NOTHING, "one of several"),
    ("touch /home/user/.local/state/*", NOTHING, "the time of the guard's folder, by a glob"),
    ("chmod +x *", NOTHING, "a right that comes on top"),
    ("chmod -x *", NOTHING, "a right that a text has no need of"),
    ("chmod go-rwx,u=rw *", NOTHING, "rights of others"),
    ("chmod 644 *", NOTHING, "rights in digits, the owner can read"),
    ("chmod 0644 *", NOTHING, "four digits, the owner can read"),
    ("chmod 4044 *", SWEPT, "four digits, the owner cannot"),
    ("chmod 4 *", SWEPT, "one digit is of all others"),
    ("chmod +x .git/hooks/*", NOTHING, "a hook that can run"),
    ("chmod 044 *", SWEPT, "rights in digits, the owner cannot"),
    ("chmod a-r *", SWEPT, "the right to read goes"),
    ("chmod -r *", SWEPT, "the same, written as an option"),
    ("chmod u=w *", SWEPT, "the same, by another sign"),
    ("chmod --reference=a.txt *", SWEPT, "rights that are not known"),
    ("chmod -x .git/hooks/*", SWEPT, "hooks that cannot run any more, said once"),
    ("tee -a *", SWEPT, "bytes on top"),
    ("sed -i s/a/b/ *.toml", SWEPT, "a glob that gives this one file"),
    ("for f in *; do sed -i s/a/b/ $f; done", SWEPT, "a name from a loop"),
    ("find . -name '*.toml' -delete", SWEPT, "a name from a search"),
    ("mv .git/hooks/* docs", SWEPT, "the hooks by a glob, said once"),
    ("mv .git x", SWEPT, "a folder above"),
    ("rm a.txt sentinel.toml", SWEPT, "one of several"),
    ("rm -rf /home/user/.config", SWEPT, "the user's own policy along with a folder"),
    ("rm sentinel.toml", FATAL, "deleted by name"),
    ("mv sentinel.toml x", FATAL, "moved"),
    ("chmod 644 sentinel.toml", FATAL, "rights, by name"),
    ("touch sentinel.toml", FATAL, "any write, by name"),
    ("echo x >sentinel.toml", FATAL, "a redirection"),
    ("python -c \"open('sentinel.toml','w')\"", FATAL, "another language"),
    ("cd .git/hooks && echo x >pre-commit", FATAL, "a file inside of a folder of settings"),
    ("rm -rf .git/hooks", FATAL, "the folder itself"),
    ("chmod -R 000 /home/user/.config/sentinel-guard", FATAL, "recursion from the setting itself"),
]


@pytest.mark.parametrize(("command", "wanted"), [m[:2] for m in MEANT], ids=[f"{m[0]}: {m[2]}" for m in MEANT])
def test_settings_that_are_reached_but_not_named_are_no_strike(
    command: str, wanted: list[tuple[str, Response]]
) -> None:
    names = ("a.txt", "sentinel.toml", "src/x", ".git/hooks/pre-commit", ".git/hooks/pre-push", "docs/y")
    world = FakeWorld(
        {**{f"{ROOT}/{n}": "" for n in names}, f"{CONFIG}/sentinel.toml": "", f"{STATE}/audit": ""}, home=HOME
    )
    action = Action("a", "s", Layer.SHELL, "shell", {"command": command}, ROOT, 0.0, ROOT)
    session = Session("s", ROOT, strikes=("guard.settings",))
    policy = Policy(paths=Paths(("/sentinel.toml",)))
    restricted = (f"{ROOT}/sentinel.toml",)
    judged = Case(action, analyse(action, world), session, policy, restricted=restricted, guarded=OWN, home=HOME)
    seen = [(f.rule, f.response) for f in rules(judged)]
    assert [s for s in seen if s not in SWEPT or wanted == SWEPT] == wanted
    assert bool(seen) is bool(wanted)


def test_what_is_swept_along_is_named_with_the_way_out() -> None:
    finding = only(effect(Kind.DELETE, f"{ROOT}/a.txt"), effect(Kind.DELETE, f"{ROOT}/sentinel.toml"), command="rm *")
    assert finding.why == "it takes sentinel.toml along, which is restricted (the guard's settings)"
    assert finding.instead == "name the files that you mean, without sentinel.toml"


def test_every_effect_is_judged() -> None:
    assert [r for r, _ in found(run("git push -f", "push"), effect(Kind.DELETE, f"{ROOT}/.env"))] == [
        "t.ask",
        "paths.restricted",
    ]


def only(*effects: Effect, **more: object) -> Finding:
    (one,) = rules(case(*effects, **more))  # type: ignore[arg-type]
    return one


def test_the_gate_shows_the_action_and_its_target() -> None:
    assert only(run("./scripts/deploy.sh production")).ask == Ask("DEPLOY", "PRODUCTION", "HIGH")
    assert only(run("deploy")).ask == Ask("DEPLOY", "DEPLOY", "HIGH")
    assert only(run("git push -f origin main", "push")).ask == Ask("PUSH", "origin", "HIGH")


TOOLS = [
    ("deploy", {"environment": "production"}, Ask("DEPLOY", "PRODUCTION"), "R7's tool by name"),
    ("mcp__ops__delete_database", {"name": "users"}, Ask("DELETE_DATABASE", "USERS"), "an MCP tool"),
    ("mcp__ops__delete-database", {}, Ask("DELETE_DATABASE", "DELETE_DATABASE"), "another spelling, no argument"),
]


@pytest.mark.parametrize(("tool", "arguments", "ask"), [t[:3] for t in TOOLS], ids=[t[3] for t in TOOLS])
def test_a_tool_with_an_actions_name_is_asked_about(tool: str, arguments: dict[str, object], ask: Ask) -> None:
    assert only(tool=tool, layer=Layer.HOOK, **arguments).ask == ask


def test_an_ordinary_tool_is_not() -> None:
    assert not found(tool="Write", file_path="x")


def test_a_refusal_names_path_and_pattern() -> None:
    finding = only(effect(Kind.DELETE, f"{ROOT}/config", "recursive"))
    assert "config holds config/.env" in finding.why
    assert "pattern .env" in finding.why
    assert finding.instead


def test_the_projects_own_patterns_restrict_too() -> None:
    policy = replace(POLICY, project=Paths(("*.key", "!.env")))
    assert found(effect(Kind.WRITE, f"{ROOT}/a.key"), policy=policy) == [("paths.restricted", Response.DENY)]
    assert found(effect(Kind.WRITE, f"{ROOT}/.env"), policy=policy) == [("paths.restricted", Response.DENY)]


def test_without_policy_the_guard_still_guards_itself() -> None:
    assert found(effect(Kind.SIGNAL, "4242"), policy=Policy()) == [("guard.process", Response.KILL)]


HOOK = f"{ROOT}/.git/hooks/pre-commit"
INSTALLS = [
    ("/v/bin/python3 /v/bin/pre-commit install", HOOK, Response.ASK, "the repository's own manager of hooks"),
    ("lefthook install -f", HOOK, Response.ASK, "as often as it is tried: it is no strike"),
    ("node husky.js", HOOK, Response.KILL, "another program; the second try"),
    ("/v/bin/python3 -I -m pre_commit install", HOOK, Response.ASK, "by its module"),
    ("cp evil .git/hooks/pre-commit", HOOK, Response.KILL, "a file that is called as one is"),
    ("python3 evil.py husky", HOOK, Response.KILL, "an argument"),
    ("python3 -W husky evil.py", HOOK, Response.KILL, "an option's value"),
    ("pre-commit install", f"{HOME}/.claude/hooks/guard.sh", Response.KILL, "an agent's own hooks"),
    ("pre-commit install", f"{ROOT}/sentinel.toml", Response.KILL, "another file of the guard's settings"),
]


@pytest.mark.parametrize(("program", "target", "response", "why"), INSTALLS, ids=[row[-1] for row in INSTALLS])
def test_who_installs_the_repositorys_own_hooks_is_asked_about(program, target, response, why):
    guarded = GuardResources(settings=(f"{ROOT}/.git/hooks", f"{ROOT}/sentinel.toml", f"{HOME}/.claude"))
    told = {"object": target, "program": program}
    action = Action("k", "s", Layer.KERNEL, "make", told, ROOT, 1.0, ROOT, "call")
    session = Session("s", ROOT, strikes=("guard.settings",))
    case = Case(action, (Effect(Kind.WRITE, target),), session, POLICY, home=HOME, guarded=guarded)
    assert [f.response for f in rules(case)] == [response], why

"""opencode: it gives its shell the model's command as it is."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping

from sentinel_guard.agents.base import CodingAgent, Start, given, subcommand
from sentinel_guard.agents.hook_dialect import CallEnd, HookDialect, HookEvent, Moment, Places, Word, text


def _start(words: tuple[str, ...]) -> Start:
    return Start(words, refused=subcommand(words, ("attach",)) or given(words, "--attach"))


_BEFORE, _AFTER, _IDLE = "tool.execute.before", "tool.execute.after", "event.session.idle"
# An error that is thrown is a refusal, and its words reach the model. Whatever is no clear answer is one.
_PLUGIN = """// sentinel-guard put this hook here; `sentinel-guard uninstall --agent opencode` takes it away.
import { spawn } from "node:child_process"

const refused = (why) => ({ deny: `403 SENTINEL BLOCKED: the call was not run: ${why}` })

const ask = (event, payload) =>
  new Promise((resolve) => {
    let said = "", wrong = ""
    const hook = spawn(@command@, ["opencode", event], { stdio: ["pipe", "pipe", "pipe"] })
    hook.on("error", (e) => resolve(refused(`the hook program does not start (${e.message}).`)))
    hook.stdout.on("data", (data) => (said += data))
    hook.stderr.on("data", (data) => (wrong += data))
    hook.on("close", (code) => {
      if (code !== 0) return resolve(refused(wrong || `the hook program ended with ${code}.`))
      if (!said.trim()) return resolve({})
      try {
        resolve(JSON.parse(said))
      } catch {
        resolve(refused("the hook program's answer is not understood."))
      }
    })
    hook.stdin.on("error", () => {})
    hook.stdin.end(JSON.stringify(payload))
  })

const parents = new Map()

// A subagent works in a session of its own.
const parent = async (client, id) => {
  if (!parents.has(id)) {
    const found = await client.session.get({ path: { id } }).catch(() => undefined)
    if (!found?.data) return ""
    parents.set(id, found.data.parentID ?? "")
  }
  return parents.get(id)
}

export const SentinelGuard = async ({ client, directory }) => ({
  "tool.execute.before": async (input, output) => {
    const above = await parent(client, input.sessionID)
    const asked = { input, output: { args: output.args }, cwd: directory, parent: above }
    const said = await ask("tool.execute.before", asked)
    if (said.over) client.session.abort({ path: { id: input.sessionID } }).catch(() => {})
    if (said.deny) throw new Error(said.deny)
  },
  "tool.execute.after": async (input, output) => {
    const { metadata, output: text } = output
    const ended = { metadata: { exit: metadata?.exit }, output: text }
    const asked = { input, output: ended, cwd: directory, parent: await parent(client, input.sessionID) }
    const said = await ask("tool.execute.after", asked)
    if (said.deny) output.output = said.deny
    else if (said.hint) output.output = `${text}\\n${said.hint}`
  },
  event: async ({ event }) => {
    if (event.type !== "session.idle") return
    await ask(
      "event.session.idle",
      { ...event, cwd: directory, parent: await parent(client, event.properties.sessionID) },
    )
  },
})
"""


class _Hooks(HookDialect):
    """It has no hooks that are programs: a plugin of ours asks, and reads answers of a form of our own."""

    client = "opencode"
    events = {_BEFORE: Moment.CALL, _AFTER: Moment.RESULT, _IDLE: Moment.RESTS}  # noqa: RUF012 - nobody changes it
    places = Places(".opencode/plugin", ".config/opencode/plugin", variable="")
    shell = "bash"
    fails_open = "started with --pure it loads no plugin; it fetches @opencode-ai/plugin from npm once, for any plugin"

    def parse(self, name: str, payload: Mapping[str, object]) -> HookEvent:
        moment, cwd = self.moment(name), text(payload, "cwd", "")
        parent = text(payload, "parent", "")
        if moment is Moment.RESTS:
            session = text(_object(payload, "properties"), "sessionID")
            return HookEvent(moment, session, cwd, subagent=session if parent else "", parent=parent)
        asked, output = _object(payload, "input"), _object(payload, "output")
        given = _object(output if moment is Moment.CALL else asked, "args")
        end = self.end(name, output) if moment is Moment.RESULT else None
        session, ident = text(asked, "sessionID"), text(asked, "callID", "")
        sub = session if parent else ""
        return HookEvent(moment, session, cwd, text(asked, "tool"), given, ident, sub, end, parent=parent)

    def end(self, name: str, payload: Mapping[str, object]) -> CallEnd:
        del name
        code, said = _object(payload, "metadata").get("exit"), str(payload.get("output", ""))
        number = code if isinstance(code, int) else 0
        return CallEnd(number, "" if number else said, said if number else "")

    def sample(self, name: str, session: str, folder: str, command: str) -> dict[str, object]:
        del name
        asked = {"tool": self.shell, "sessionID": session, "callID": session}
        return {"input": asked, "output": {"args": {"command": command}}, "cwd": folder}

    def scripts(self, command: str) -> Mapping[str, str]:
        (program,) = shlex.split(command)
        return {"sentinel-guard.js": _PLUGIN.replace("@command@", json.dumps(program))}

    def runs(self, script: str) -> str:
        """The hook program that the plugin starts."""
        name = f'sed -n \'s/.*spawn(\\("[^"]*"\\), .*/\\1/p\' {shlex.quote(script)}'
        return f'program=$({name}); eval "exec $program opencode {_BEFORE}"'

    def _said(self, moment: Moment, name: str, word: Word) -> Mapping[str, object]:
        del name
        if word.blocked and moment in (Moment.CALL, Moment.RESULT):
            return {"deny": word.text, **({"over": True} if word.over else {})}
        return {"hint": word.text} if word.text and moment is Moment.RESULT else {}


def _object(payload: Mapping[str, object], name: str) -> Mapping[str, object]:
    """An object in a payload. Raises ValueError where there is none."""
    found = payload.get(name)
    if not isinstance(found, Mapping):
        raise ValueError(f"{name} is no object")  # noqa: TRY004 - of a payload that a client sent
    return found


AGENT = CodingAgent(
    "opencode",
    frozenset({"opencode", "opencode-ai"}),
    patience=110.0,  # ends a call after 120
    start=_start,
    servers=r"^[^\0]+\0(?:serve|web)\0",
    hooks=_Hooks(),
)

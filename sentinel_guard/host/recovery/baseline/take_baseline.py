"""Takes a baseline: the state of a repository at the start of a session (DESIGN section 8, R10).

Rules of this file:
1. ``begin`` is what the agent waits for; ``complete`` is the rest, while it works already.
2. Repositories in the repository (submodules, embedded ones) have baselines of their own, in folders of this one.
3. What is not kept is named, and why.
"""

from __future__ import annotations

import itertools
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from sentinel_guard.errors import HostError
from sentinel_guard.host.git.flatten_ignore_rules import flatten
from sentinel_guard.host.git.private_git_dir import Layout, PrivateGitDir, layout
from sentinel_guard.host.git.repository import commit
from sentinel_guard.host.git.run_git import Setting, settings
from sentinel_guard.host.machine import birth_time, deep_folders
from sentinel_guard.host.machine.content_addressed_store import (
    MAX_FILE,
    UNKEPT,
    ContentAddressedStore,
    Kept,
    Linked,
)
from sentinel_guard.host.machine.started_call import StartedCall
from sentinel_guard.host.machine.symlink_safe_folder import SymlinkSafeFolder
from sentinel_guard.host.recovery.baseline import backup_pack as packs
from sentinel_guard.host.recovery.baseline import (
    borrowed_objects,
    early_objects,
    folder_modes,
    folder_survey,
    gitdir_backup,
    late_files,
    object_backup,
    other_stores,
    user_git_config,
)
from sentinel_guard.host.recovery.baseline.session_baseline import (
    MANIFEST,
    USUAL,
    Baseline,
    Completion,
    earlier,
    save,
    save_rest,
)
from sentinel_guard.host.recovery.baseline.shared_refs import other_worktrees
from sentinel_guard.host.recovery.baseline.walk_again import walk_again
from sentinel_guard.host.recovery.baseline.worktree_inventory import (
    EVERYTHING,
    Inventory,
    entries,
    inventory,
    tracked,
    walk,
)

DEPTH, COUNT = 3, 50
"""How deep repositories in repositories are kept, and how many in one."""
IDLE = 1000
"""Files in the folders of submodules that are not checked out that are kept at once; more of them are kept later."""
TOTAL = 2 << 30
"""Bytes of files that are kept; of what comes after, only size and time are remembered."""
SHOWN = 5
"""Names that a note tells."""
NO_ROOM = "Make room, or set SENTINEL_HOME to a folder on a file system that has some."


def take(
    root: str,
    folder: Path,
    restricts: Callable[[str], bool],
    session: str = "",
    *,
    patterns: Iterable[str] = EVERYTHING,
    deep: bool = False,
) -> Baseline:
    """Keep the present state of a repository, whole: ``begin``, then ``complete``. Raises HostError."""
    return complete(begin(root, folder, restricts, session, patterns=patterns), deep=deep)


def begin(
    root: str,
    folder: Path,
    restricts: Callable[[str], bool],
    session: str = "",
    *,
    patterns: Iterable[str] = EVERYTHING,
) -> Baseline:
    """Keep what an agent could change at once of the repository whose top is ``root``; ``folder`` is made, private.

    ``restricts``, ``patterns``: see ``inventory``. ``session`` names the refs of a later rollback. Raises HostError.
    """
    root = os.path.realpath(root)
    _make(folder, root)
    try:
        taking = _Taking(restricts, session or folder.name)
        return taking.begin(root, folder, tuple(patterns), DEPTH, earlier(folder, root))
    except OSError as e:
        raise HostError(f"The state of {root} cannot be kept in {folder}: {e.strerror}.", NO_ROOM) from e


@dataclass(frozen=True, slots=True)
class _Taking:
    """What the baselines of a repository and of those in it have in common."""

    restricts: Callable[[str], bool]
    session: str

    def begin(self, root: str, folder: Path, patterns: Iterable[str], depth: int, before: Baseline | None) -> Baseline:
        (where, at), tree = _held(root, folder), SymlinkSafeFolder(root, folder)
        shadow, vault = PrivateGitDir(where, folder / "git"), _vault(folder, before)
        (refs, branch, head), given = _heads(where), settings(where.git)
        keep_own = partial(gitdir_backup.keep, SymlinkSafeFolder(where.git_dir, folder), vault)
        keep_user = partial(user_git_config.keep, vault, where, given, folder)
        with StartedCall(keep_user if depth == DEPTH else dict[str, Kept]) as user, StartedCall(keep_own) as own:
            found = self._look(shadow, head, patterns, given)
        nested, notes = self._nested(root, folder, found, depth, before)
        restricted, touched = (*found.restricted, *_restricted(nested)), _touched(root, found)
        names = (*restricted, *touched, *found.untracked, *found.ignores, *_idle(root, found, nested))
        files, linked = _kept(vault, tree, names, frozenset(found.staged))
        baseline = Baseline(
            folder=folder,
            session=self.session,
            taken=at,
            head=head,
            branch=branch,
            where=where,
            dot=vault.keep(tree, ".git"),
            own=own.result(),
            shared=_shared(where, folder, vault),
            refs=refs,
            files=files,
            dirty=touched,
            ignored=found.ignored,
            restricted=restricted,
            displaced=tuple(n for n in (*found.tracked, *found.flagged) if n not in {*files, *found.staged}),
            flagged=found.flagged,
            embedded=(*found.embedded, *found.submodules),
            nested=tuple(nested),
            doors=folder_modes.of_git_folders(where),
            user=user.result(),
            taken_from=user_git_config.folders(where, given, folder) if depth == DEPTH else (),
            notes=(*notes, *_unkept(files), *_unkept(own.result(), ".git/"), *_noted(nested)),
            before=before,
            linked=linked,
            elsewhere=other_worktrees(where, nested),
        )
        vault.flush()
        return save(baseline)

    def _look(self, shadow: PrivateGitDir, head: str, patterns: Iterable[str], given: Iterable[Setting]) -> Inventory:
        shadow.make(given, head=head, farm=shadow.folder.parent / "objects")
        shadow.copy_index()
        found = inventory(shadow, self.restricts, patterns)
        _freeze(shadow, found, given)
        return found

    def _nested(
        self, root: str, folder: Path, found: Inventory, depth: int, before: Baseline | None
    ) -> tuple[dict[str, Baseline], list[str]]:
        """Baselines of the repositories in this one, and words about those that get none."""
        names = [*found.embedded, *(n for n in found.submodules if os.path.lexists(f"{root}/{n}/.git"))]
        most, known = COUNT if depth else 0, _below(before)
        taken: dict[str, Baseline] = {}
        notes = [
            f"{name} is a repository of its own, too deep or one too many: kept as files only." for name in names[most:]
        ]
        for name in names[:most]:
            inside = folder / "nested" / str(len(taken))
            try:
                inside.mkdir(mode=0o700, parents=True, exist_ok=True)
                taken[name] = self.begin(f"{root}/{name}", inside, EVERYTHING, depth - 1, known.get(name))
            except HostError as e:
                notes.append(f"{name} is a repository of its own and could not be kept: {e}")
        return taken, notes


def _vault(folder: Path, before: Baseline | None) -> ContentAddressedStore:
    """What an earlier baseline holds of files that were not touched since is shared with it."""
    if before is None:
        return ContentAddressedStore(folder / "vault", packed=True)
    known, states = {**before.own, **before.raw}, before.rest.packs
    return ContentAddressedStore(folder / "vault", before.vault, known, packed=True, states=states)


def _below(before: Baseline | None) -> dict[str, Baseline]:
    try:
        return dict(before.below()) if before else {}
    except HostError:
        return {}


def _held(root: str, folder: Path) -> tuple[Layout, float]:
    """Hold on to git's objects; with the time after, from which on a change is none of the start's."""
    where = layout(root)
    early_objects.hold(f"{where.common_dir}/objects", folder)
    return where, time.time()


def _touched(root: str, found: Inventory) -> tuple[str, ...]:
    """Tracked files that are not as the index says, or of which git does not tell."""
    return (*found.tracked, *found.flagged, *_usurped(root, found.submodules))


def _usurped(root: str, submodules: Iterable[str]) -> list[str]:
    """Submodules in whose place something else than a folder stands: git status passes over that."""
    return [n for n in submodules if os.path.lexists(path := f"{root}/{n}") and not _is_folder(path)]


def _idle(root: str, seen: Inventory, nested: Mapping[str, Baseline]) -> list[str]:
    """Files in the folders of submodules that are not checked out: nothing is expected there, and git shows none."""
    folders = (n for n in seen.submodules if n not in nested)
    found = (f"{at}/{name}" for n in folders for at, _, names in deep_folders.walk(f"{root}/{n}") for name in names)
    return [path[len(root) + 1 :] for path in itertools.islice(found, IDLE)]


def _is_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)  # noqa: PTH112, PTH114 - text with surrogates


def _heads(where: Layout) -> tuple[dict[str, str], str, str]:
    """All refs, the branch that HEAD stands on (empty where it is detached), and its commit. Raises HostError."""
    refs, stands_on = gitdir_backup.refs(where.common_dir, where.git_dir), gitdir_backup.symbolic(where.git_dir)
    return refs, stands_on, refs.get(stands_on or "HEAD", "") or commit(where.git, "HEAD")


def _freeze(shadow: PrivateGitDir, found: Inventory, given: Iterable[Setting]) -> None:
    """Write down which names are ignored at the start."""
    where, pairs = shadow.where, [(s.key, s.value) for s in given]
    shadow.frozen.write_bytes(flatten(where.root, found.ignores, where.common_dir, pairs, found.ignored))


def _restricted(nested: Mapping[str, Baseline]) -> list[str]:
    return [f"{name}/{n}" for name, baseline in nested.items() for n in baseline.restricted]


def _noted(nested: Mapping[str, Baseline]) -> list[str]:
    return [f"In {name}: {note}" for name, baseline in nested.items() for note in baseline.notes]


def complete(baseline: Baseline, *, deep: bool = False) -> Baseline:
    """Keep the rest: objects, odd modes, empty folders; with ``deep`` an independent pack of the start, too.

    May run while the agent works: what was changed since the start is not believed. Raises HostError.
    """
    notes = []
    for name, inside in baseline.below():
        try:
            complete(inside, deep=deep)
        except HostError as e:
            notes.append(f"The rest of {name} was not kept: {e}")
    try:
        return _completed(baseline, notes, deep=deep)
    except OSError as e:
        raise HostError(f"The rest of {baseline.root} cannot be kept: {e.strerror or e}.", NO_ROOM) from e


def _completed(baseline: Baseline, notes: list[str], *, deep: bool) -> Baseline:
    before = baseline.before or earlier(baseline.folder, baseline.root)
    farmed, unkept = _objects(baseline, before, deep=deep)
    known = tracked(baseline.shadow)
    again = walk_again(baseline, before, known) if before else None
    found = again or walk(baseline.root, baseline.taken, known, baseline.files, folder_survey.covered_folders(baseline))
    vault = _vault(baseline.folder, before)
    late = late_files.keep(baseline, vault, [*found.git_files, *found.git_folders], known, found.recent)
    vault.flush()
    usual = before.rest.usual if before and again else _usual(found.modes, known)
    rest = Completion(
        complete=True,
        empty=(*found.empty, *late.empty),
        modes={n: m for n, m in found.modes.items() if m != usual[known[n]]},
        folders=found.folders,
        stamps=found.stamps if folder_survey.keeps_times(baseline.root) else {},
        usual=usual,
        recent=entries(baseline.shadow, found.recent),
        farmed=farmed,
        late=late.kept,
        special=tuple(found.special),
        pipes=tuple(found.pipes),
        git_files=tuple(found.git_files),
        git_folders=tuple(n for n in found.git_folders if not _is_younger(baseline, n)),
        links=_groups(baseline.linked, found.linked, late.linked),
        shut=found.shut,
        unsettled=tuple(late.unsettled),
        generated=tuple(late.generated),
        elsewhere=_elsewhere(baseline),
        borrowed=borrowed_objects.fingerprint(f"{baseline.where.common_dir}/objects"),
        lost=tuple(early_objects.lost(baseline.where.git, baseline.folder, baseline.farm)),
        packs=vault.packs.states(),
        notes=(*notes, *unkept, *late.notes, *_shut(found.shut), *_early(found.early)),
    )
    done = replace(baseline, rest=rest, before=None, linked={})
    save_rest(done)
    early_objects.forget(baseline.folder)
    return done


def _objects(baseline: Baseline, before: Baseline | None, *, deep: bool) -> tuple[int, list[str]]:
    """Keep what is no metadata of the git directory. Returns ``Completion.farmed``, and what is not kept, in words."""
    since, earlier_farm = round(baseline.taken * 1e9), before.farm if before else None
    store = f"{baseline.where.common_dir}/objects"
    farmed = object_backup.back_up_objects(store, baseline.farm, baseline.head, since, earlier_farm)
    # Afterwards: git may prune until all that is there has a second name.
    if early_objects.take_over(store, baseline.folder, baseline.farm):
        early_objects.release(baseline.folder)
    else:
        farmed = 0
    notes = packs.make(baseline.shadow, baseline.deep, baseline.refs.values()) if deep or not farmed else []
    apart = {inside.where.git_dir for _, inside in baseline.below()}
    return farmed, notes + other_stores.keep(baseline.where, baseline.stores, apart, since)


def _is_younger(baseline: Baseline, name: str) -> bool:
    return birth_time.is_younger(f"{baseline.root}/{name}", baseline.taken)


def _groups(*found: Mapping[tuple[int, int], list[str]]) -> tuple[tuple[str, ...], ...]:
    """Names that are hard links of each other."""
    together: Linked = {}
    for some in found:
        for inode, names in some.items():
            together.setdefault(inode, []).extend(names)
    return tuple(tuple(sorted(names)) for names in together.values() if len(names) > 1)


def _shut(folders: Iterable[str]) -> list[str]:
    return [f"{n} cannot be read: what is in it was not kept." for n in folders]


def _elsewhere(baseline: Baseline) -> tuple[str, ...]:
    """As they were when the session began; as they are where a daemon that fell had begun it."""
    known = baseline.elsewhere
    return other_worktrees(baseline.where, baseline.nested) if known is None else known


def _early(names: list[str]) -> list[str]:
    if not names:
        return []
    some = ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")
    words = "modes, and what git does not know of there, may not be what they were."
    return [f"Changed before all of the baseline was kept: {some}; {words}"]


def _usual(modes: Mapping[str, int], executable: Mapping[str, bool]) -> tuple[int, int]:
    """The commonest mode of plain and of executable files."""
    counted = Counter(zip(map(executable.__getitem__, modes), modes.values(), strict=True)).most_common()
    found = {kind: mode for (kind, mode), _ in reversed(counted)}
    return found.get(False, USUAL[0]), found.get(True, USUAL[1])


def _shared(where: Layout, folder: Path, vault: ContentAddressedStore) -> dict[str, Kept]:
    return (
        gitdir_backup.keep_shared(SymlinkSafeFolder(where.common_dir, folder), vault, Path(where.git_dir).name)
        if where.linked
        else {}
    )


def _kept(
    vault: ContentAddressedStore, tree: SymlinkSafeFolder, names: Iterable[str], in_git: frozenset[str]
) -> tuple[dict[str, Kept], Linked]:
    """``in_git``: what need not be kept, as it is staged and was not changed after."""
    kept: dict[str, Kept] = {}
    linked: Linked = {}
    room, real, wanted = TOTAL, dict[str, bool](), dict.fromkeys(names)
    known = vault.keep_known(tree, wanted, real)
    for name in wanted:
        found = known.get(name) or vault.keep(tree, name, None if room > MAX_FILE else max(room, 0), real, linked)
        room -= found.size if found else 0
        if found is not None and not (found.kind == UNKEPT and name in in_git):
            kept[name] = found
    return kept, linked


def _unkept(kept: Mapping[str, Kept], prefix: str = "") -> list[str]:
    unkept = [(n, k.size) for n, k in kept.items() if k.kind == UNKEPT]
    return [f"{prefix}{n} was not kept: too large ({size} bytes) or not readable." for n, size in unkept]


def _make(folder: Path, root: str) -> None:
    if folder.absolute().is_relative_to(root):
        raise HostError(f"{folder} lies inside {root}.", "Set SENTINEL_HOME to a folder outside of the repository.")
    if (folder / MANIFEST).exists():
        raise HostError(f"{folder} holds a baseline already.", "Take each session's baseline in a folder of its own.")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as e:
        hint = "Set SENTINEL_HOME to a folder that you can write."
        raise HostError(f"Cannot make the folder {folder}: {e.strerror}.", hint) from e

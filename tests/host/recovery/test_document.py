"""Each claim of docs/recovery.md beside the tests that hold it: neither goes without the other being looked at."""

from __future__ import annotations

from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[3]
TEXT = " ".join((PROJECT / "docs/recovery.md").read_text().split())
R, B, S, H = "host/recovery/rollback/", "host/recovery/baseline/", "host/recovery/snapshots/", "host/recovery/"
C = "commands/rollback/"

CLAIMS = (
    (
        "the index byte for byte, all refs, the stash",
        R + "test_rollback.py::test_a_persons_uncommitted_work_comes_back_bit_for_bit",
    ),
    (
        "never through a filter), with mode and time",
        R + "test_documented_limits.py::test_what_is_kept_raw_comes_back_with_its_time",
    ),
    (
        "files at which git was told not to look",
        H + "test_random_actions.py::test_whatever_is_done_the_end_is_the_start_and_nothing_is_lost",
    ),
    (
        "your submodules and the repositories that lie inside of yours",
        H + "test_nested_repositories.py::test_repositories_in_the_repository_come_back",
    ),
    ("your global git settings", H + "test_unusual_machines.py::test_48_the_users_own_settings_come_back"),
    ("modes of folders", R + "test_nothing_lost.py::test_modes_are_no_obstacle_and_come_back"),
    ("copied, once for all sessions", R + "test_unrecoverable_damage.py::test_a_pack_is_copied_once_for_all_sessions"),
    (
        "small objects are copied",
        R + "test_unrecoverable_damage.py::test_46_an_object_damaged_in_place_comes_back_from_its_copy",
    ),
    (
        "a pack of their own as well",
        H + "test_unusual_machines.py::test_46b_an_object_damaged_in_place_comes_back_from_the_pack",
    ),
    ("up to 50 MB each and 200 MB together", R + "test_nothing_lost.py::test_ignored_files_come_back"),
    ("| what git shows nobody |", R + "test_hidden_files.py::test_what_git_does_not_show_comes_back"),
    (
        "| `.git/lfs`, `.git/annex`, `.git/svn`, `.git/modules` |",
        R + "test_nothing_lost.py::test_the_stores_of_large_files_come_back",
    ),
    (
        "those of linked worktrees too",
        R + "test_other_worktrees.py::test_the_whole_repository_comes_back_where_the_session_ran_in_a_linked_worktree",
    ),
    (
        "joined again, once both have their content",
        R + "test_unkept_files.py::test_attributes_and_hard_links_come_back",
    ),
    ("their bytes: line ends, filters", R + "test_nothing_lost.py::test_a_clean_file_comes_back_byte_for_byte"),
    (
        "those come from git's own object",
        R + "test_nothing_lost.py::test_a_staged_file_that_is_too_large_comes_from_gits_own_object",
    ),
    ("Access control lists", R + "test_unkept_files.py::test_attributes_and_hard_links_come_back"),
    (
        "where one was changed the report names it",
        R + "test_nothing_lost.py::test_what_is_too_large_is_named_where_it_was_changed_and_only_there",
    ),
    (
        "What is not kept is named where it is lost",
        R + "test_unkept_files.py::test_what_had_not_been_kept_is_named_where_it_is_lost_and_only_there",
    ),
    (
        "a file that was being written to as the session began",
        R + "test_unkept_files.py::test_a_log_that_is_written_to_as_the_session_begins_comes_back_if_it_is_gone",
    ),
    (
        "borrows from another one",
        R + "test_unkept_files.py::test_a_repository_that_borrows_objects_is_not_sound_without_them",
    ),
    (
        "is named by its file or folder",
        H + "test_unusual_machines.py::test_what_the_agent_does_before_the_baseline_is_complete_is_not_the_start",
    ),
    (
        "the folder of another worktree that was removed",
        R + "test_other_worktrees.py::test_another_worktree_that_is_gone_is_known_again_and_named",
    ),
    (
        "Size and times are remembered of up to 20,000 files",
        R + "test_documented_limits.py::test_where_more_is_ignored_than_is_remembered_that_is_said",
    ),
    ("Caches that tools fill anew", R + "test_unkept_files.py::test_caches_that_tools_fill_anew_are_no_loss"),
    (
        "modification time that alone was changed",
        R + "test_documented_limits.py::test_a_time_that_alone_was_changed_is_no_difference",
    ),
    (
        "A restricted file that is new goes",
        R + "test_rollback.py::test_a_new_restricted_file_goes_though_git_ignores_it",
    ),
    (
        "what was checked out since in submodules",
        R + "test_nothing_lost.py::test_the_repository_of_an_idle_submodule_comes_back_and_a_new_one_goes",
    ),
    (
        "made in other ignored places stays",
        R + "test_nothing_lost.py::test_what_an_agent_builds_stays_and_its_version_of_a_file_is_kept",
    ),
    (
        "in the session's private folder",
        H + "test_baseline_and_snapshots.py::test_taking_one_changes_nothing_and_is_private",
    ),
    (
        "the rest is done in the background",
        "daemon/test_prune_old_sessions.py::test_the_rest_of_a_baseline_waits_until_the_agent_was_started",
    ),
    ("HEAD and branch at START_HASH", R + "test_rollback.py::test_clean_start_is_reset_to_the_start_hash"),
    (
        "processes are stopped, then ended",
        "daemon/test_verdict_reactions.py::test_rule_2_everything_has_ended_before_anything_is_restored",
    ),
    ("before git is asked anything", H + "test_hostile_repositories.py::test_a_named_pipe_is_not_waited_for"),
    ("What is there is kept", R + "test_rollback.py::test_what_the_agent_made_can_be_had_back"),
    (
        "Nothing is deleted but new folders that are empty",
        R + "test_nothing_lost.py::test_new_folders_that_are_empty_go_and_the_persons_own_stay",
    ),
    ("The whole is looked at again", B + "test_folder_survey.py::test_it_finds_what_a_look_at_all_finds"),
    ("What still does is reported in words", H + "test_unusual_machines.py::test_53_who_still_writes_is_told"),
    ("remotes are never touched", R + "test_rollback.py::test_pushed_commits_stay_known_as_pushed"),
    ("Reflogs begin with the lines of the start", R + "test_nothing_lost.py::test_reflogs_begin_as_they_did"),
    (
        "A link in the place of the whole repository",
        R + "test_nothing_lost.py::test_a_repository_whose_place_a_link_took_comes_back_and_the_link_is_kept",
    ),
    (
        "another one in the same repository wait",
        "daemon/test_verdict_reactions.py::test_beside_a_rollback_another_sessions_commands_wait_and_nothing_is_called_verified",
    ),
    (
        "A session ends when its reports are on the disk",
        "daemon/test_verdict_reactions.py::test_a_session_ends_when_its_reports_are_on_the_disk",
    ),
    ("that it shares with the repository come back too", R + "test_linked_worktree.py::test_what_it_shares_comes_back"),
    ("that came meanwhile stay on top", R + "test_linked_worktree.py::test_a_stash_that_came_meanwhile_stays_on_top"),
    ("one that is gone comes back", R + "test_linked_worktree.py::test_what_it_shares_comes_back"),
    (
        "that nobody was at work there since; else it is named",
        R + "test_other_worktrees.py::test_the_main_worktree_goes_on_beside_a_session_in_a_linked_one",
    ),
    (
        "of which alone the state is gone, and all where `HEAD` or the index differ or there is no reflog",
        R + "test_other_worktrees.py::test_what_a_person_ended_in_another_worktree_stays_ended_and_is_named",
    ),
    (
        "(`config.worktree`) come back, for they may name programs",
        R + "test_other_worktrees.py::test_another_worktree_that_is_gone_is_known_again_and_named",
    ),
    (
        "objects come back, and all where its git directory is gone; what else is gone of it is named",
        R + "test_other_worktrees.py::test_a_submodule_in_another_worktree_goes_on_and_comes_back_where_it_is_gone",
    ),
    (
        "and so are hooks that changed in another worktree",
        R + "test_other_worktrees.py::test_hooks_in_another_worktree_are_left_and_named",
    ),
    (
        "whoever has it checked out besides",
        R + "test_linked_worktree.py::test_what_another_worktree_has_checked_out_is_left_and_named",
    ),
    ("part of it, and comes back whole", R + "test_hidden_files.py::test_what_git_does_not_show_comes_back"),
    (
        "(a file that came into such a folder goes, where",
        R + "test_hidden_files.py::test_what_git_does_not_show_comes_back",
    ),
    (
        "of a folder around the repository, such as a home, nothing is kept",
        H + "test_unusual_repositories.py::test_it_is_as_it_was",
    ),
    (
        "packs of git's objects come back even then",
        R + "test_quick_agents.py::test_objects_that_are_pruned_before_they_were_kept_come_back_or_are_named",
    ),
    (
        "is on another file system, what is lost with one is named",
        R + "test_quick_agents.py::test_a_pack_that_goes_and_can_have_no_second_name_is_named",
    ),
    (
        "(`multi-pack-index`, bitmaps) and that are new, or were moved in, go",
        R + "test_unrecoverable_damage.py::test_an_index_over_packs_that_is_moved_in_goes_and_the_persons_own_stays",
    ),
    (
        "stays where it is, and is named",
        R + "test_nothing_lost.py::test_a_branch_of_another_worktree_stays_where_it_is_and_is_named",
    ),
    ("It may be broken off anywhere and run again", H + "test_killed_rollback.py::test_54_killed_again_and_again"),
    ("names the command that brings each back", C + "test_by_hand.py::test_the_report_says_how_to_have_things_back"),
    (
        "else it refuses and names them",
        C + "test_work_after_the_session.py::test_what_was_committed_after_the_session_is_not_undone_in_passing",
    ),
    ("it is known by its place", C + "test_deleted_folders.py::test_what_was_deleted_whole_comes_back"),
    ("is passed over, and said", C + "test_by_hand.py::test_a_baseline_that_cannot_be_read_is_passed_over_in_words"),
    (
        "It names each commit that leaves a branch",
        C + "test_by_hand.py::test_commits_that_leave_a_branch_are_named_and_kept",
    ),
    (
        "Where no snapshot can be taken",
        "daemon/test_verdict_reactions.py::test_rule_1_where_the_snapshot_fails_the_action_does_not_run",
    ),
    (
        "HEAD, index and work tree are not touched",
        H + "test_baseline_and_snapshots.py::test_a_rescue_holds_the_work_tree_and_leaves_all_else_alone",
    ),
    (
        "runs or is believed",
        H + "test_baseline_and_snapshots.py::test_a_rescue_in_a_session_runs_nothing_that_was_planted",
    ),
    (
        "(`skip-worktree`, `assume-unchanged`)",
        S + "test_take_snapshot.py::test_files_at_which_git_is_not_to_look_are_in_it",
    ),
    ("delete or write over: up to 50 MB", S + "test_take_snapshot.py::test_ignored_files_in_danger_are_in_it"),
    ("tips of all branches", H + "test_baseline_and_snapshots.py::test_a_branch_that_is_deleted_next_stays_reachable"),
    ("never as a git object", S + "test_take_snapshot.py::test_restricted_files_go_to_the_vault_and_into_no_object"),
    ("| left out, and named |", S + "test_take_snapshot.py::test_what_does_not_fit_is_named"),
    (
        "The commit's message says before which command",
        S + "test_take_snapshot.py::test_the_message_tells_the_occasion_in_one_redacted_visible_line",
    ),
    ("or a place in the list", S + "test_snapshot_store.py::test_the_newest_comes_first_and_ids_tell_them_apart"),
    ("`--json` is there for `list` and `show`", "commands/test_snapshots.py::test_the_list_for_programs"),
    ("a restore can be undone", S + "test_restore_from_snapshot.py::test_a_restore_can_be_undone"),
    (
        "one that is there is left alone",
        S + "test_restore_from_snapshot.py::test_a_deleted_branch_comes_back_and_one_that_is_there_is_left_alone",
    ),
    ("as `kept of the session: ...`", S + "test_snapshot_store.py::test_commits_that_a_rollback_kept_are_listed_too"),
    (
        "No ordinary push, fetch or clone takes snapshots along",
        S + "test_snapshot_store.py::test_no_ordinary_push_or_clone_takes_them_along",
    ),
    (
        "in linked worktrees, which share their snapshots",
        "commands/test_snapshots.py::test_in_a_linked_worktree_the_same_snapshots_are_seen",
    ),
    (
        "It may not drop",
        "commands/test_snapshots.py::test_from_inside_a_session_nothing_restricted_is_written_and_nothing_dropped",
    ),
    ("older than `recovery.keep_days`", S + "test_snapshot_store.py::test_the_oldest_are_collected"),
    ("until the rest hold no more than", S + "test_snapshot_store.py::test_as_many_go_as_must_for_the_rest_to_fit"),
    (
        "The folder of a session stays",
        "daemon/test_prune_old_sessions.py::test_of_old_sessions_only_what_nobody_else_has_stays",
    ),
    (
        "equal content gives equal hashes",
        "host/git/test_worktree_tree_hash.py::test_equal_trees_are_equal_files_and_the_reverse",
    ),
    (
        "No filter runs: files are hashed as they lie there",
        "host/git/test_worktree_tree_hash.py::test_the_persons_own_filter_does_not_run_and_a_touch_is_no_change",
    ),
    ("Of files over 4 MB", "host/git/test_worktree_tree_hash.py::test_large_files_count_by_size_and_time"),
    ("twice in a row it rests", "host/git/test_worktree_tree_hash.py::test_what_is_dear_rests_and_says_so_once"),
)


@pytest.mark.parametrize(("words", "test"), CLAIMS, ids=[words for words, _ in CLAIMS])
def test_a_claim_stands_in_the_document_and_has_its_test(words, test):
    assert words in TEXT
    file, name = test.split("::")
    assert f"def {name}(" in (PROJECT / "tests" / file).read_text()

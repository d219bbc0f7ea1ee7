"""Option tables of git and of its subcommands."""

from __future__ import annotations

from sentinel_guard.core.analysis.expansion.command_and_options import options

OPTIONS = {
    "git": options(
        "-C= -c= --git-dir= --work-tree= --namespace= --exec-path --super-prefix= --config-env= --attr-source= "
        "--no-pager --bare | sub first"
    ),
    "git push": options(
        "-o= --push-option= --repo= --receive-pack= --exec= --recurse-submodules= --force --force-with-lease "
        "--force-if-includes "
        "--delete --mirror --prune --no-verify --dry-run --all --tags --follow-tags --set-upstream --atomic"
    ),
    "git commit": options(
        "-m= --message= -F= --file= -C= --reuse-message= -c= --reedit-message= -t= --template= --author= --date= "
        "--trailer= "
        "--fixup= --squash= --cleanup= --pathspec-from-file= --no-verify --amend --all --no-edit --allow-empty"
    ),
    "git reset": options("--pathspec-from-file= --hard --soft --mixed --merge --keep --quiet"),
    "git checkout": options(
        "-b= -B= --orphan= --conflict= --pathspec-from-file= --force --detach --ours --theirs --merge --track"
    ),
    "git switch": options(
        "-c= -C= --create= --force-create= --orphan= --conflict= --force --discard-changes --detach --merge --track"
    ),
    "git restore": options(
        "-s= --source= --conflict= --pathspec-from-file= --staged --worktree --ours --theirs --quiet"
    ),
    "git clean": options("-e= --exclude= --force --dry-run --quiet --interactive"),
    "git branch": options(
        "-u= --set-upstream-to= --contains= --format= --sort= --points-at= --delete --force --move --copy"
    ),
    "git tag": options(
        "-m= --message= -F= --file= -u= --local-user= --sort= --format= --contains= --delete --force --list"
    ),
    "git merge": options(
        "-m= -s= --strategy= -X= --strategy-option= -F= --file= --no-verify --no-ff --ff-only --abort --squash "
        "--continue"
    ),
    "git rebase": options(
        "-x= --exec= --onto= -s= --strategy= -X= --strategy-option= -C= --abort --continue --skip --quit "
        "--interactive --autosquash"
    ),
    "git stash": options("-m= --message= --pathspec-from-file= --include-untracked --all --keep-index --patch"),
    "git config": options(
        "-f= --file= --blob= --type= --default= -t= --get --get-all --get-regexp --list --unset --unset-all --add "
        "--global --local "
        "--system --replace-all --remove-section --rename-section --edit"
    ),
    "git clone": options(
        "-b= --branch= -o= --origin= --depth= -u= --upload-pack= --reference= -c= --config= -j= --jobs= --template= "
        "--separate-git-dir= --filter= --shallow-since= --shallow-exclude= --server-option="
    ),
    "git init": options("-b= --initial-branch= --template= --separate-git-dir= --object-format= --ref-format="),
    "git fetch": options("--depth= -j= --jobs= --upload-pack= --refmap= -o= --server-option= --force --prune --tags"),
    "git fetch-pack": options("--upload-pack= --exec= --depth="),
    "git notes": options("-m= --message= -F= --file= -C= --reuse-message= -c= --reedit-message= --ref="),
    "git commit-tree": options("-m= -F= -p= -S="),
    "git ls-remote": options("--upload-pack= --exec= --sort= -o= --server-option="),
    "git pull": options(
        "--depth= -j= --jobs= --upload-pack= -s= --strategy= -X= --strategy-option= -o= --server-option= --rebase "
        "--force"
    ),
    "git apply": options(
        "-p= -C= --directory= --exclude= --include= --whitespace= --check --stat --numstat --summary --cached --index "
        "--reverse"
    ),
    "git am": options(
        "-p= -C= --directory= --exclude= --include= --whitespace= --patch-format= --abort --continue --skip --quit "
        "--no-verify"
    ),
    "git filter-branch": options(
        "--env-filter= --tree-filter= --index-filter= --parent-filter= --msg-filter= --commit-filter= "
        "--tag-name-filter= "
        "--subdirectory-filter= --setup= --original= -d="
    ),
    "git update-ref": options("-m="),
    "git update-index": options("--cacheinfo= --index-version= --chmod="),
    "git log": options(
        "-n= -S= -G= -L= --author= --grep= --format= --since= --until= --max-count= --output= --diff-filter="
    ),
    "git worktree": options("-b= -B= --reason= --force --expire="),
    "git add": options("--pathspec-from-file= --chmod= --force --dry-run --all --update --patch --intent-to-add"),
    "git rm": options("--pathspec-from-file= --cached --force --dry-run --quiet"),
    "git diff": options("--output= -S= -G= -O= --diff-filter= -U= --unified= --stat --no-index"),
    "git show": options("--output= -n= -S= -G= --format= --diff-filter= -U= --unified="),
    "git format-patch": options("-o= --output-directory= --output= --subject-prefix= -v= --to= --cc= -n="),
    "git archive": options("-o= --output= --format= --prefix= --remote= --add-file= --exec="),
    "git grep": options("-e= -f= -m= --max-count= -A= -B= -C= --threads= --max-depth="),
    "git difftool": options("-t= --tool= -x= --extcmd= --dir-diff --no-prompt --gui --cached"),
    "git submodule": options("-b= --branch= --name= --depth= --reference= -j= --jobs= --force --recursive --init"),
    "git cherry-pick": options(
        "-m= --mainline= -s= --strategy= -X= --strategy-option= --abort --continue --skip --quit"
    ),
    "git revert": options("-m= --mainline= --strategy= -X= --strategy-option= --abort --continue --skip --quit"),
    "git send-email": options(
        "--to= --cc= --bcc= --from= --subject= --in-reply-to= --smtp-server= --smtp-user= --smtp-pass= --dry-run"
    ),
    "git gc": options("--prune --aggressive --auto --quiet"),
}

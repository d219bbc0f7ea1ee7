#!/bin/sh
# The whole suite. Usage: run_suite.sh PYTHON FOLDER, from the project's root; FOLDER keeps what failed.
#
# The stories wait more than they work: they run beside the rest. Tests of terminals count in tenths of a second: they have only
# those beside them. Tests of the core are many and short: to find them and hand them out costs more, worker by worker, than they do.
# The tests' own bytecode is kept (make rewritten): to make it is half of what a worker needs to find its tests.
#
# Tests of real processes share two processors with others of their kind. One that fails is run once more with nothing beside it,
# and fails the suite if it fails again; one that passes then is named at the end: its cause is to be found, but it holds up nobody.
python=$1 folder=$2
terminals='tests/commands/run tests/launcher'
unset PYTHONDONTWRITEBYTECODE
# Where no terminal is, the kernel may hang up all of this process group: tests stop processes in it (tests/conftest.py).
trap '' HUP
rm -rf "$folder" && mkdir -p "$folder" || exit 1

part() { # NAME ARGUMENTS...
    name=$1
    shift
    "$python" -m pytest --dist worksteal -o cache_dir="$folder/$name" "$@"
    echo $? >"$folder/$name.code"
}

part stories -n 3 tests/e2e >"$folder/stories.log" 2>&1 &
# shellcheck disable=SC2086
part terminals -n 2 $terminals
part core -n 0 tests/core >"$folder/core.log" 2>&1 &
part rest -n 4 --ignore tests/core --ignore tests/e2e --ignore tests/real_agents --ignore tests/commands/run --ignore tests/launcher
wait
cat "$folder/stories.log" "$folder/core.log"

code=0
for name in stories terminals core rest; do
    case $(cat "$folder/$name.code") in
    0) ;;
    1)
        printf '\nThese failed once (%s), and are run again with nothing beside them:\n' "$name"
        sed -n 's/^  "\(.*\)": true,\{0,1\}$/  \1/p' "$folder/$name/v/cache/lastfailed"
        "$python" -m pytest -o cache_dir="$folder/$name" --last-failed --last-failed-no-failures none --maxfail 1 || code=1
        ;;
    *) code=1 ;; # collection failed, a wrong argument, an interrupt: nothing to run again
    esac
done
exit $code

#!/usr/bin/env bash
# A coding agent, reduced to what matters here: it runs one command after the other, whatever it is told.
while IFS= read -r line; do
  case $line in
    '') ;;
    '# '*) printf '\n\033[1;36m%s\033[0m\n' "${line#\# }"; sleep 0.3 ;;
    'wait '*) sleep "${line#wait }" ;;
    *)
      printf '\033[1magent>\033[0m %s\n' "$line"
      bash -c "$line"
      code=$?
      [ "$code" = 0 ] || printf '\033[2m(exit code %s)\033[0m\n' "$code"
      ;;
  esac
done <"$1"

#!/usr/bin/env bash
# Converts many traces on all cores of a machine, and makes one file of rows.
#
#     convert_parts.sh KIND OUTPUT [OPTION...] < LIST
#
# KIND is nat or telemetry, LIST names a trace a line, and the options are those
# of the converter. Rows of each trace go to OUTPUT.parts/: whole, or not at
# all, and what is there is not made again. So after a failure, or a power cut,
# the same command goes on where it was; one with other options is refused.
# $JOBS says how many run at a time.
set -euo pipefail
kind=$1 output=$2
shift 2
parts=$output.parts jobs=${JOBS:-$(nproc)}
asked=$(printf '%q ' "$kind" "$@")
mkdir -p "$parts"
[ -e "$parts/options" ] || printf '%s\n' "$asked" >"$parts/options"
if [ "$asked" != "$(cat "$parts/options")" ]; then
    echo "$parts has parts that were made by other options; remove it" >&2
    exit 2
fi
cat >"$parts/list"

# A part is called after the path of its trace, so it is found again.
part_of() { printf '%s/%s.jsonl.zst' "$parts" "$(sha256sum <<<"$1" | head -c 16)"; }

convert() {
    local trace=$1 part
    part=$(part_of "$trace")
    [ -e "$part" ] || "${TRACEBAKE:-tracebake}" "$kind" "$trace" \
        --ids content --session-prefix path --threads 1 --quiet \
        --output-file "$part" "${options[@]}"
}

# Options as one text that a shell takes apart again, for the shells below.
printf -v quoted '%q ' "$@"
export -f convert part_of
export kind parts
export OPTIONS=$quoted
task='eval "options=($OPTIONS)"; convert "$1"'
if command -v parallel >/dev/null; then
    parallel --will-cite --jobs "$jobs" --halt soon,fail=1 \
        bash -c "$(printf %q "$task")" convert {} <"$parts/list"
else
    xargs -d '\n' -n 1 -P "$jobs" bash -c "$task" convert <"$parts/list"
fi
while IFS= read -r trace; do
    part_of "$trace"
    echo
done <"$parts/list" >"$parts/merged"
"${TRACEBAKE:-tracebake}" merge --files-from "$parts/merged" \
    --output-file "$output"

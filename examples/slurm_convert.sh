#!/usr/bin/env bash
# One of many tasks of a Slurm array: converts its share of the traces in LIST.
#
#     sort -V -o LIST LIST
#     array=$(sbatch --parsable --array=0-63 slurm_convert.sh nat LIST PARTS \
#                 --tokenizer meta-llama/Llama-3.1-8B-Instruct)
#     sbatch --dependency=afterok:"$array" --wrap \
#         "tracebake merge PARTS/*.jsonl.zst --output-file rows.jsonl.zst"
#
# KIND is nat or telemetry, LIST names a trace a line, PARTS is a folder that
# all machines see, and the options are those of the converter. A task whose
# rows are there has nothing to do, so an array may be started again.
#SBATCH --cpus-per-task=4
#SBATCH --mem=2G
set -euo pipefail
kind=$1 list=$2 parts=$3
shift 3
task=${SLURM_ARRAY_TASK_ID:?is set by Slurm} count=${SLURM_ARRAY_TASK_COUNT:?}
printf -v part '%s/part-%05d.jsonl.zst' "$parts" "$task"
[ ! -e "$part" ] || exit 0
mkdir -p "$parts"
# Lines that follow each other, so that sessions of a part are in order.
lines=$(wc -l <"$list")
first=$((lines * task / count)) last=$((lines * (task + 1) / count))
[ "$first" -lt "$last" ] || exit 0
sed -n "$((first + 1)),${last}p" "$list" |
    "${TRACEBAKE:-tracebake}" "$kind" --files-from - --ids content \
        --session-prefix path --threads "${SLURM_CPUS_PER_TASK:-1}" --quiet \
        --output-file "$part" "$@"

#!/bin/sh
# A campaign as a Slurm array, one slice of it in each task:
#   sbatch examples/campaign_slurm.sh examples/campaign.toml
# After a lost task, `sbatch --array=3 …` runs the missing cases of slice 3.
#SBATCH --job-name=campaign
#SBATCH --array=0-9
#SBATCH --cpus-per-task=4
#SBATCH --time=01:00:00
#SBATCH --signal=B:TERM@60
set -eu
# The size of the whole array. SLURM_ARRAY_TASK_COUNT would be wrong if only some tasks run again.
slices=10
exec hardstand campaign "$@" --shard "$SLURM_ARRAY_TASK_ID/$slices" --jobs "$SLURM_CPUS_PER_TASK"

#!/bin/sh
# A campaign as a Slurm array, one slice of it in each task:
#   sbatch examples/campaign_slurm.sh examples/campaign.toml
# A task that was lost: `sbatch --array=3 …` runs what is missing of slice 3.
#SBATCH --job-name=campaign
#SBATCH --array=0-9
#SBATCH --cpus-per-task=4
#SBATCH --time=01:00:00
#SBATCH --signal=B:TERM@60
set -eu
# As many as the array has, also when only some of its tasks run again: so not SLURM_ARRAY_TASK_COUNT.
slices=10
exec hardstand campaign "$@" --shard "$SLURM_ARRAY_TASK_ID/$slices" --jobs "$SLURM_CPUS_PER_TASK"

# fish completion of --sync-guard for srun, sbatch and salloc: added to what others define for them.

function __syncguard_policies
    printf '%s\n' on\t'the default policy' off\t'no guard' help\t'describe the option'
    sgctl --complete sgctl policy show '' 2>/dev/null
end

for command in srun sbatch salloc
    complete -c $command -l sync-guard -x -a '(__syncguard_policies)' -d 'guard the job, by a policy'
end

# bash completion of --sync-guard for srun, sbatch and salloc, added to what Slurm's own completion offers.
# That is loaded at the first use, as bash-completion would have; this file goes where bash-completion reads all files
# when it starts (/etc/bash_completion.d), or is sourced from ~/.bashrc.

declare -gA _syncguard_slurm=() # command: Slurm's function, '' where there is none

_syncguard_load() {
    local spec='' own=''
    complete -r "$1" 2>/dev/null
    if declare -F _comp_load >/dev/null; then # bash-completion 2.12
        _comp_load -- "$1"
    elif declare -F __load_completion >/dev/null; then
        __load_completion "$1"
    fi
    spec=$(complete -p "$1" 2>/dev/null)
    [[ $spec =~ ' -F '([^ ]+) ]] && own=${BASH_REMATCH[1]}
    [[ $own == _minimal || $own == _comp_complete_minimal || $own == _syncguard_srun ]] && own=''
    _syncguard_slurm[$1]=$own
    # With the options that Slurm's has, as `-o filenames`.
    if [[ $own ]]; then
        eval "${spec/ -F $own/ -F _syncguard_srun}"
    else
        complete -o default -F _syncguard_srun "$1"
    fi
}

_syncguard_srun() {
    local command=${1##*/} line=${COMP_LINE:0:COMP_POINT} cur
    COMPREPLY=()
    [[ -v _syncguard_slurm[$command] ]] || _syncguard_load "$command"
    [[ ${_syncguard_slurm[$command]} ]] && "${_syncguard_slurm[$command]}" "$@"
    cur=${line##*[[:space:]]}
    if [[ $cur == --sync-guard=* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "on off help $(sgctl --complete sgctl policy show '' 2>/dev/null | cut -f1)" -- "${cur#*=}")
        [[ $COMP_WORDBREAKS != *=* ]] && COMPREPLY=("${COMPREPLY[@]/#/--sync-guard=}")
    elif [[ $cur == -* && --sync-guard == "$cur"* ]]; then
        COMPREPLY+=(--sync-guard --sync-guard=)
    fi
    return 0
}

complete -o default -F _syncguard_srun srun sbatch salloc

#!/bin/bash
# Completion as bash, zsh and fish do it, of our programs and of srun's --sync-guard.  No controller is asked but a made-up one.
. "${top_srcdir:=$PWD}/tests/tap.sh" || exit 99
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

mkdir "$dir/bin" "$dir/files"
# What a controller would add: its jobs and policies.
cat >"$dir/bin/sgctl" <<END
#!/bin/bash
case "\$*" in
    '--complete sgctl job -'*) ;;
    '--complete sgctl job '*) for id in 12.0 13.1; do [[ \$id == "\$4"* ]] && printf '%s\tits name\n' "\$id"; done; exit 0 ;;
    '--complete sgctl policy show '*) printf 'balanced\tThe default\nobserve\n'; exit 0 ;;
esac
exec "$top_builddir/sgctl" "\$@"
END
chmod +x "$dir/bin/sgctl"
PATH=$dir/bin:$top_builddir:$PATH
touch "$dir/files/good.conf" "$dir/files/other.conf"
cd "$dir/files" || exit 1

# Cases that the three shells share: the line, and the words that are offered, sorted.
cases() {
    cat <<'END'
sgctl do|doctor
sgctl jo|job jobs
sgctl job |12.0 13.1
sgctl job 12|12.0
sgctl jobs --f|--finished
sgctl job --f|--full
sgctl --conf good|good.conf
sgctl config check |good.conf other.conf
sgctl policy ex|explain
sgctl policy set 1 Hang|HangTimeout=
sgctl action 1 re|requeue
sgctl help policy sh|show
sgctl top --re|--replay=
sgplan stra|straggler
sgplan collective --op all|allgather allreduce alltoall
sgtop --rep|--replay=
sgring --ev|--events=
syncguardd --conf g|good.conf
sgrun --po|--policy=
sgrun mpirun go|good.conf
END
}
sorted() { sed 's/\t.*//' | tr ' ' '\n' | grep . | sort | tr '\n' ' ' | sed 's/ $//'; }

# ---- bash ----
completed() { # completed LINE: as bash would when TAB is pressed at its end
    local function words
    read -ra words <<<"$1"
    function=$(complete -p "${words[0]}" 2>/dev/null | sed 's/.* -F \([^ ]*\) .*/\1/')
    COMP_LINE=$1 COMP_POINT=${#1} COMPREPLY=()
    $function "${words[0]}" "${words[-1]}" '' 2>/dev/null
    printf '%s\n' "${COMPREPLY[@]}" | sorted
}
for program in sgctl sgtop sgplan sgring sgrun syncguardd; do
    # shellcheck disable=SC1090
    . "$top_builddir/completion/bash/$program"
done
while IFS='|' read -r line words; do
    is "$(completed "$line")" "$words" "bash: $line"
done < <(cases)
is "$(completed 'sgplan collective --op=allr')" allreduce "bash: a value behind ="
is "$(completed 'sgctl --conf=goo')" good.conf "bash: a file behind ="
is "$(COMP_WORDBREAKS=' ' completed 'sgctl --conf=goo')" --conf=good.conf "bash: a file behind = that ends no word"

# srun: what Slurm's own completion offers is still there.
_srun() { COMPREPLY=(--switches= --job-name=); }
complete -o filenames -F _srun srun
complete -p srun >"$dir/slurm"
_comp_load() { [ "$2" = srun ] && eval "$(cat "$dir/slurm")"; }
. "$top_srcdir/completion/srun.bash" || exit 99
is "$(completed 'srun --s')" "--job-name= --switches= --sync-guard --sync-guard=" "bash: srun's own options and ours"
completed 'srun --s' >/dev/null
is "$(completed 'srun --s')" "--job-name= --switches= --sync-guard --sync-guard=" "bash: the same once it is loaded"
is "$(completed 'srun --sync-guard=b')" balanced "bash: policies of --sync-guard"
is "$(completed 'sbatch --sync-guard=o')" "observe off on" "bash: sbatch, where Slurm brings no completion"
is "$(complete -p srun)" "complete -o filenames -F _syncguard_srun srun" "bash: the settings of srun's own completion stay"

# ---- zsh ----
zsh_completed() { # one TAB in an interactive shell; zsh prints what compadd is given
    zsh -f "$top_srcdir/tests/completion/capture.zsh" "$top_srcdir/completion" "$1" 2>/dev/null | sorted
}
if command -v zsh >/dev/null; then
    while IFS='|' read -r line words; do
        is "$(zsh_completed "$line")" "$words" "zsh: $line"
    done < <(cases)
    is "$(zsh_completed 'sgplan collective --op=allr')" allreduce "zsh: a value behind ="
    is "$(zsh_completed 'srun --sync-guard=b')" balanced "zsh: policies of --sync-guard"
    is "$(zsh_completed 'srun --sy')" "--sync-guard --sync-guard=" "zsh: srun's option"
else
    skip "zsh: completion" "there is no zsh"
fi

# ---- fish ----
fish_completed() {
    HOME=$dir fish --no-config -c "
        for f in $top_builddir/completion/fish/*.fish $top_srcdir/completion/syncguard.fish; source \$f; end
        complete -c srun -l switches -x
        complete -C '$1'" 2>/dev/null | sorted
}
if command -v fish >/dev/null; then
    while IFS='|' read -r line words; do
        is "$(fish_completed "$line")" "$words" "fish: $line"
    done < <(cases)
    is "$(fish_completed 'sgplan collective --op=allr')" --op=allreduce "fish: a value behind ="
    is "$(fish_completed 'sgctl --conf=goo')" --conf=good.conf "fish: a file behind ="
    is "$(fish_completed 'srun --s')" "--switches --sync-guard" "fish: srun's own options and ours"
    is "$(fish_completed 'srun --sync-guard=b')" --sync-guard=balanced "fish: policies of --sync-guard"
else
    skip "fish: completion" "there is no fish"
fi
done_testing

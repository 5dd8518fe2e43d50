#!/bin/bash
# sgctl doctor finds the plugin in plugstack.conf where Slurm does: srun --help lists the option of a plugin that it loaded. Needs no running
# Slurm, only srun and the plugin that was built for it.
. "${top_srcdir:=$PWD}/tests/tap.sh" || exit 99

plugin=$(cd "$top_builddir" && pwd)/.libs/syncguard.so
[ -e "$plugin" ] || skip_all "the plugin is not built"
command -v srun >/dev/null || skip_all "Slurm is not installed"
dir=$(mktemp -d "${TMPDIR:-/tmp}/sg-plugstack.XXXXXX") || bail_out "no temporary folder"
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/d" "$dir/lib"
export SLURM_CONF=$dir/slurm.conf
echo Controller=127.0.0.1:1 >"$dir/syncguard.conf"

# Writes slurm.conf, with further lines, and the lines of plugstack.conf: escapes of printf are replaced.
conf() { # OF-SLURM OF-PLUGSTACK
    printf "ClusterName=x\nSlurmctldHost=localhost\n$1" >"$SLURM_CONF"
    printf "$2" >"$dir/plugstack.conf"
}

slurm_loads() {
    timeout 60 srun --help 2>/dev/null | grep -c -- --sync-guard
}

doctor_finds() {
    "$top_builddir/sgctl" --conf "$dir/syncguard.conf" --timeout 1 doctor >"$dir/out" 2>&1
    grep -cE "^ok  *plugin|^missing  *plugin .*(names it again|the last argument|with 'required')" "$dir/out"
}

# Whether Slurm loads it is what is expected, and the doctor says the same.
compare() { # WANTED OF-SLURM OF-PLUGSTACK WHAT
    conf "$2" "$3"
    is "$(slurm_loads) $(doctor_finds)" "$1 $1" "$4" || show "$dir/out"
}

conf '' "optional $plugin\n"
[ "$(slurm_loads)" = 1 ] || skip_all "srun --help does not list this plugin's option: another Slurm, or no configuration of its own"

compare 1 '' "optional $plugin\n" "one line"
compare 1 '' "\t required\t$plugin  default=off # ours\n" "a required plugin, with tabs, an argument and a comment"
compare 0 '' "#optional $plugin\n" "a line that is a comment"
compare 0 '' "Optional $plugin\n" "a keyword in upper case"
compare 0 '' "optional \"$plugin\"\n" "a quoted name"
compare 0 '' "optional \\\\\n$plugin\n" "a line that a backslash would continue"
compare 0 '' "optional $plugin\r\n" "a carriage return behind the name"
compare 1 '' "optional $plugin default=off\r\n" "a carriage return behind an argument"
compare 1 '' "optional $plugin\noptional $plugin\n" "two lines"
compare 0 '' "optional ${plugin%/*}/nosuch/syncguard.so\n" "a plugin that does not exist"
compare 1 '' "optional $plugin" "a last line without an end"

printf 'optional %s\n' "$plugin" >"$dir/d/ours.conf"
cp "$dir/d/ours.conf" "$dir/other.conf"
compare 1 '' 'include d/*.conf\n' "a pattern beside the file"
compare 1 '' "include $dir/d/o*\n" "a pattern with its path"
compare 0 '' 'Include d/*.conf\n' "an include in upper case"
compare 0 '' 'include d/*.conf\r\n' "a carriage return behind a pattern"
compare 0 '' 'include nosuch.conf\n' "a pattern without matches"

compare 1 "PlugStackConfig=$dir/other.conf\n" '' "PlugStackConfig"
compare 1 "plugstackconfig = \"$dir/other.conf\"  # there\n" '' "PlugStackConfig in lower case, with blanks, quotes and a comment"
compare 1 "PlugStackConfig=$dir/other.conf\r\n" '' "PlugStackConfig with a carriage return"
compare 1 "PlugStackConfig=\\\\\n$dir/other.conf\n" '' "PlugStackConfig with a value on the next line"
compare 0 "PlugStackConfig=$dir/nosuch.conf\n" "optional $plugin\n" "PlugStackConfig: the file beside slurm.conf is not read"
echo "PlugStackConfig=$dir/other.conf" >"$dir/more.conf"
compare 1 'Include more.conf\n' '' "PlugStackConfig in a file that slurm.conf includes"
compare 1 "Include $dir/more.conf\n" '' "PlugStackConfig in a file that is included by its path"

# Bare names: Slurm needs its own plugins, too.
own=$(dirname "$(find /usr/lib /usr/lib64 -name auth_munge.so -path '*slurm*' 2>/dev/null | head -1)")
if [ -d "$own" ]; then
    compare 0 "PluginDir=$own\n" 'optional syncguard.so\n' "a bare name that is not in PluginDir"
    cp "$plugin" "$dir/lib/"
    compare 1 "PluginDir=$own:$dir/lib\n" 'optional syncguard.so\n' "a bare name in a second directory of PluginDir"
else
    skip "bare names" "Slurm's plugins were not found"
fi

conf '' "optional $plugin\n# ours\noptional $plugin\n"
doctor_finds >/dev/null
is "$(grep -A1 '^missing  *plugin' "$dir/out" | tail -1 | grep -o "next: .*")" "next: sed -i '3d' $dir/plugstack.conf" \
    "two lines: the doctor names the one to delete"
done_testing

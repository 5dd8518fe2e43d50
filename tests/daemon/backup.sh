#!/bin/bash
# Backup of a running controller's databases and the way back: what was there stays, and what is no sound backup is refused.
. "${top_srcdir:=$PWD}/tests/tap.sh" || exit 99
command -v jq >/dev/null || skip_all "jq is not installed"
. "$top_srcdir/tests/controller.sh" || exit 99
on_failure() { show "$dir/out"; }
sgctl() { timeout 120 "$top_builddir/sgctl" --timeout 60 "$@"; }
daemon() { timeout 120 "$top_builddir/syncguardd" --conf "$SYNCGUARD_CONF" "$@" >"$dir/out" 2>&1; }
said() { cat "$dir/out"; }
# Steps in the history and actions in the audit log, as the controller says that runs; and as one does that is started for it.
has() { echo "$(sgctl jobs --finished --newest 1000 --json | jq '.jobs | map(select(.state == "finished")) | length') $(sgctl actions --json | jq '.actions | length')"; }
kept() {
    controller_start && has
    kill -TERM "$controller" && wait "$controller"
}
known() { sgctl job 4242 >/dev/null 2>&1; }
added() { [ "$(has)" = "21 2" ]; }
state=$dir/state
content() { (cd "$state" && find . ! -name in-use -printf '%p\n' | sort && sha256sum history.sqlite audit.sqlite); }

"$top_builddir/tests/daemon/fill" "$SYNCGUARD_CONF" 20 "$(id -u)" >"$dir/out"
controller_start
is "$? $(has)" "0 20 2" "the controller has the history that was filled"
daemon --backup "$dir/first/"
is "$? $(said)" "0 $dir/first/ has the databases of $state" "--backup beside a running controller succeeds"
is "$(cd "$dir/first" && stat -c '%n %a' . ./*)" $'. 700\n./audit.sqlite 600\n./history.sqlite 600' "the backup is two files that nobody else may read"
sums=$(sha256sum "$dir"/first/*)
daemon --backup "$dir/first"
is "$?" 1 "--backup to a name that exists is refused"
like "$(said)" "first exists: a backup needs a new name" "it says that the name exists"
is "$(sha256sum "$dir"/first/*)" "$sums" "the backup of that name is as before"
daemon --backup "$dir/none/second"
is "$?" 1 "--backup to a folder that does not exist fails"
daemon --restore "$dir/first"
is "$?" 1 "--restore while a controller runs is refused"
like "$(said)" "a controller runs on it; stop it first" "it says that a controller runs"
job_start --nodes 1
wait_for 120 known
job_end
wait_for 120 added
is $? 0 "a step that ends after the backup is added to the history"
# What it wrote last may be in its WAL alone.
kill -KILL "$controller"
wait "$controller" 2>/dev/null

# refused FOLDER PATTERN WHAT
refused() {
    local before

    before=$(content)
    daemon --restore "$1"
    is $? 1 "--restore of $3 is refused"
    like "$(said)" "$2" "--restore of $3 says why"
    is "$(content)" "$before" "--restore of $3 changes nothing"
}
refused "$dir/nothing" "nothing/history.sqlite: unable to open" "a folder that is not there"
cp -r "$dir/first" "$dir/half" && rm "$dir/half/audit.sqlite"
refused "$dir/half" "half/audit.sqlite: unable to open" "half a backup"
cp -r "$dir/first" "$dir/empty" && : >"$dir/empty/history.sqlite"
refused "$dir/empty" "empty/history.sqlite: it is no database of this program" "an empty file"
cp -r "$dir/first" "$dir/text" && echo "some text, which is longer than a header of SQLite's would have to be to be one" >"$dir/text/audit.sqlite"
refused "$dir/text" "text/audit.sqlite: .*not a database" "a file of text"
# The version is at this place of the file's header, the highest byte first.
cp -r "$dir/first" "$dir/newer" && printf '\0\0\3\347' | dd of="$dir/newer/history.sqlite" bs=1 seek=60 conv=notrunc status=none
refused "$dir/newer" "newer/history.sqlite: its version is 999, from a newer program" "a newer program's backup"
cp -r "$dir/first" "$dir/damaged"
tr '\0' '\377' </dev/zero | dd of="$dir/damaged/history.sqlite" bs=4096 seek=1 count=4 conv=notrunc status=none
refused "$dir/damaged" "damaged/history.sqlite: " "a damaged file"
cp -r "$dir/first" "$dir/foreign" && cp "$dir/first/audit.sqlite" "$dir/foreign/history.sqlite"
refused "$dir/foreign" "history.sqlite: " "another database under the history's name"

daemon --restore "$dir/first"
is $? 0 "--restore of the backup succeeds"
aside=$(said)
like "$aside" "^$state has the databases of $dir/first; those before are in $state/before-" "it says where the databases before it are"
aside=${aside##* }
is "$(kept)" "20 2" "after --restore the controller has what the backup had"
daemon --restore "$aside"
is "$? $(kept)" "0 21 2" "the databases before it can be restored as well"
is "$(find "$dir" -name 'first.*' -o -name 'restored.*')" "" "no folder is left that was under way"

# As a controller sees it that starts three years ahead, before the machine's clock is set.
python3 - "$state" <<'PYTHON'
import sqlite3, sys
for name, columns in (("history", ("step.updated", "listed.updated")), ("audit", ("audit.at", "action.ended"))):
    database = sqlite3.connect(f"{sys.argv[1]}/{name}.sqlite")
    with database:
        for table, column in (c.split(".") for c in columns):
            database.execute(f"UPDATE {table} SET {column} = {column} - 1e8")
    database.close()
PYTHON
is "$(kept)" "21 2" "a controller deletes nothing old as it starts"

exec {lock}>"$state/in-use"
flock -x "$lock"
daemon
is $? 1 "a controller does not start while a backup is restored"
like "$(said)" "a backup is being restored there" "it says that a backup is being restored"
exec {lock}>&-
daemon --backup "$dir/x" --restore "$dir/first"
is $? 2 "--backup and --restore together are refused"
done_testing

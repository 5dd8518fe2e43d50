#!/bin/bash
# The controller's unit: does systemd know every line of it, and how much is left to a controller that an attacker took over?
# systemd-analyze adds that up from 0 (nothing) to 10; reached are 1.5, most of it for the network, which the controller is there for.
# shellcheck source=tests/tap.sh
. "${top_srcdir:=$PWD}/tests/tap.sh" || exit 99

command -v systemd-analyze >/dev/null || skip_all "systemd-analyze is not installed"
systemd-analyze --help | grep -q -- --offline || skip_all "this systemd-analyze rates no file"
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
# Its program need not be installed here.
sed -e "s|^ExecStart=[^ ]*|ExecStart=$(command -v true)|" -e '/^Documentation=/d' "$top_builddir/daemon/syncguardd.service" >"$dir/syncguardd.service"

is "$(systemd-analyze verify --man=no "$dir/syncguardd.service" 2>&1 | grep "^$dir")" "" "syncguardd.service: systemd knows every line"
rated=$(systemd-analyze security --offline=true --no-pager --threshold=20 "$dir/syncguardd.service" 2>&1)
ok $? "syncguardd.service: its exposure is 2.0 at most" || sed 's/^/# /' <<<"$rated"
echo "# ${rated##*→ }"
done_testing

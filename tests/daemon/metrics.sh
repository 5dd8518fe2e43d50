#!/bin/bash
# The controller's metrics over HTTP: read by curl, checked by promtool, scraped by a Prometheus.
. "${top_srcdir:=$PWD}/tests/tap.sh" || exit 99
command -v curl >/dev/null || skip_all "curl is not installed"
command -v jq >/dev/null || skip_all "jq is not installed"
. "$top_srcdir/tests/controller.sh" || exit 99
sgctl() { timeout 120 "$top_builddir/sgctl" --timeout 60 "$@"; }
on_failure() { show "$dir/syncguardd.log"; }
free_port metrics
get() { curl -s --max-time 60 "$@"; }
url=http://127.0.0.1:$metrics

controller_start
ok $? "the controller answers" || done_testing
get "$url/metrics" >/dev/null
is $? 7 "without MetricsPort nothing listens"
echo "MetricsPort=$metrics" >>"$SYNCGUARD_CONF"
kill -HUP "$controller"
wait_for 120 get -o "$dir/first" "$url/metrics"
ok $? "after a reload with MetricsPort the metrics are there"
like "$(cat "$dir/first")" '^syncguard_jobs 0$' "without jobs their number is 0"

job_start --nodes 4 --per-node 2 --step 0.05 --slow-rank 5 --slow-after 1
named() { get "$url/metrics" >"$dir/text" && grep -q '^syncguard_job_verdict_slowdown_ratio{job_id="4242.0",place="1",class="straggler"' "$dir/text"; }
wait_for 120 named
ok $? "the slow rank's verdict is a metric"
like "$(cat "$dir/text")" '^syncguard_job_info\{job_id="4242.0",name="[^"]*",user="[^"]+",partition="[^"]*",policy="balanced"\} 1$' "the job's texts are labels of one sample"
like "$(cat "$dir/text")" '^syncguard_job_ranks\{job_id="4242.0"\} 8$' "its ranks are counted"
price() { sgctl job 4242 --json | jq .verdicts[0].slowdown; }
# The price changes with the steps, as often as it is asked for on a busy machine: the metric lies between one from before it and one
# from behind it.
same_price() {
    before=$(price)
    metric=$(get "$url/metrics" | sed -n 's/^syncguard_job_verdict_slowdown_ratio{job_id="4242.0",place="1".*} //p')
    behind=$(price)
    awk -v a="$before" -v b="$metric" -v c="$behind" \
        'BEGIN { low = a < c ? a : c; high = a < c ? c : a; exit !(b > 1 && low > 1 && b > low / 1.001 && b < high * 1.001) }'
}
wait_for 120 same_price
ok $? "the verdict's price is the one that sgctl shows"
echo "# $metric, $before to $behind"

# ---- HTTP ----

is "$(get -o /dev/null -w '%{http_code} %{content_type}' "$url/metrics")" "200 text/plain; version=0.0.4; charset=utf-8" "who asks for nothing special gets Prometheus' text"
get -H 'Accept: application/openmetrics-text;version=1.0.0' -D "$dir/head" "$url/metrics" >"$dir/open"
like "$(tr -d '\r' <"$dir/head")" '^Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8$' "who accepts OpenMetrics gets it"
is "$(tail -n 1 "$dir/open")" "# EOF" "OpenMetrics ends with its mark"
is "$(get -o /dev/null -w '%{http_code}' "$url/other")" 404 "another path is 404"
is "$(get -o /dev/null -w '%{http_code}' -X DELETE "$url/metrics")" 405 "another method is 405"
is "$(get -I -o /dev/null -w '%{http_code}' "$url/metrics")" 200 "HEAD is answered"
get -o /dev/null -d @"$top_srcdir/README.md" "$url/metrics"
get -o /dev/null -H "X: $(head -c 60000 /dev/zero | tr '\0' x)" "$url/metrics"
head -c 4096 /dev/urandom | timeout 3 bash -c "exec 3<>/dev/tcp/127.0.0.1/$metrics; cat >&3" 2>/dev/null

# More connections than there may be: the others are refused, agents and terminals notice nothing.
crowd=()
for _ in $(seq 40); do
    { exec {fd}<>"/dev/tcp/127.0.0.1/$metrics"; } 2>/dev/null && crowd+=("$fd")
done
sgctl status >/dev/null
ok $? "while 40 connections to the metrics are open a terminal is answered"
for fd in "${crowd[@]}"; do exec {fd}>&-; done
wait_for 120 get -o /dev/null "$url/metrics"
ok $? "when the crowd has gone the metrics are there again"

# ---- what is shipped for Prometheus and Grafana ----

# Each metric that the dashboard and the alerts name is there, by its family's name, and so are the labels that they use of it.
# (The controller's own use is known after some seconds.)
families() { get "$url/metrics" | sed -n 's/^# TYPE \([^ ]*\) .*/\1/p' | sort -u >"$dir/families" && grep -q controller_cpu_ratio "$dir/families"; }
wait_for 120 families
for file in grafana.json alerts.yml; do
    is "$(grep -oE 'syncguard_[a-z0-9_]+' "$top_srcdir/doc/$file" | sort -u | comm -23 - "$dir/families")" "" "each metric that $file names exists"
done
is "$(grep -oE '\{\{ *(\$labels\.)?job *\}\}|[^_a-z]job *(=~|=|\))|, job\)' "$top_srcdir/doc/grafana.json" "$top_srcdir/doc/alerts.yml")" "" \
    "neither asks for the label job, which is that of the scrape"
if command -v promtool >/dev/null; then
    promtool check rules "$top_srcdir/doc/alerts.yml" >"$dir/rules" 2>&1
    is "$? $(grep -c 'rules found' "$dir/rules")" "0 1" "promtool accepts the alerts" || show "$dir/rules"
    cp "$top_srcdir/doc/alerts.yml" "$top_srcdir/tests/daemon/alerts-test.yml" "$dir"
    (cd "$dir" && promtool test rules alerts-test.yml) >"$dir/rules" 2>&1
    ok $? "each alert fires when it should, and not before" || show "$dir/rules"
    # All of them are tried.
    is "$(sed -n 's/.*- alert: //p' "$dir/alerts.yml" | sort -u)" "$(sed -n 's/.*alertname: //p' "$dir/alerts-test.yml" | sort -u)" "each alert has a test"
else
    skip "promtool accepts the alerts" "prometheus is not installed"
fi

# ---- Prometheus ----

if command -v promtool >/dev/null; then
    get "$url/metrics" | promtool check metrics >"$dir/lint" 2>&1
    is "$? $(cat "$dir/lint")" "0 " "promtool finds nothing to mend"
else
    skip "promtool finds nothing to mend" "prometheus is not installed"
fi
if command -v prometheus >/dev/null; then
    free_port server
    cp "$top_srcdir/doc/alerts.yml" "$dir/alerts.yml"
    cat >"$dir/prometheus.yml" <<CONF
global: { scrape_interval: 1s }
rule_files: [ "$dir/alerts.yml" ]
scrape_configs:
  - job_name: syncguard
    static_configs: [ { targets: ["127.0.0.1:$metrics"] } ]
CONF
    prometheus --config.file="$dir/prometheus.yml" --storage.tsdb.path="$dir/tsdb" --web.listen-address=127.0.0.1:$server >"$dir/prometheus.log" 2>&1 &
    pids+=($!)
    asked() { get "http://127.0.0.1:$server/api/v1/query" --data-urlencode "query=$1" >"$dir/answer" && jq -e '.data.result | length > 0' "$dir/answer" >/dev/null 2>&1; }
    wait_for 120 asked 'syncguard_job_verdict_slowdown_ratio{place="1"} > 1'
    ok $? "a Prometheus scrapes the verdict" || show "$dir/prometheus.log"
    asked 'syncguard_job_ranks{job="syncguard",job_id="4242.0"} == 8'
    ok $? "a Prometheus that is set up as usual has the job's number as it is" || cat "$dir/answer"
    wait_for 120 asked 'rate(syncguard_job_steps_total[60s]) > 0'
    ok $? "a Prometheus computes the pace from the steps"
    # What the dashboard asks is understood, by names that exist.
    bad=0
    while IFS= read -r query; do
        wait_for 60 asked "${query//\$job/.*}" || { bad=$((bad + 1)); echo "# no answer: $query"; }
    done < <(jq -r '.panels[].targets[].expr' "$top_srcdir/doc/grafana.json")
    is $bad 0 "each query of the dashboard has an answer"
    # The alert of the slow job waits for its quarter of an hour.
    pending() { get "http://127.0.0.1:$server/api/v1/alerts" >"$dir/answer" && jq -e '.data.alerts[] | select(.labels.alertname == "SyncGuardJobHeldBack" and .labels.job_id == "4242.0" and .state == "pending")' "$dir/answer" >/dev/null; }
    wait_for 240 pending
    ok $? "a Prometheus with the alerts has one pending of the slow job" || cat "$dir/answer"
else
    skip "a Prometheus scrapes the verdict" "prometheus is not installed"
fi

kill -0 "$controller"
ok $? "the controller still runs"
sed -i '/^MetricsPort/d' "$SYNCGUARD_CONF"
kill -HUP "$controller"
gone() { ! get -o /dev/null "$url/metrics"; }
wait_for 120 gone
ok $? "after a reload without MetricsPort nothing listens"
done_testing

#!/bin/sh
# smoke_test.sh URL [RECALL_URL]: whether a deployment works: health, one capture, the same again, a bad one, and the
# capture read back. Leaves one session of two short turns, tagged smoke-test, and erases it where it can.
#
#   SMOKE_TOKEN      identity token (or the caller's key) for URL and RECALL_URL:
#                    SMOKE_TOKEN=$(gcloud auth print-identity-token)
#   SMOKE_STORE_URL, SMOKE_STORE_KEY   the store, where no RECALL_URL is given, and to erase the session (a key with the
#                    role admin may)
#
# Needs curl. Prints one line a check, and of what it is answered only the event's id; the exit code is 1 if one FAILED,
# 2 if it was called wrongly. Refuses to send a token or a key without TLS to anything but this machine.
set -eu
LC_ALL=C
export LC_ALL

stop() {
    printf 'smoke_test.sh: %s\n' "$1" >&2
    exit 2
}

# is_private URL: whether nobody on the way can read what is sent there.
is_private() {
    case $1 in https://*) return 0 ;; esac
    place=${1#http://}
    case ${place%%[/?#]*} in
        *@*) return 1 ;;
        localhost | localhost:* | 127.0.0.1 | 127.0.0.1:* | '[::1]' | '[::1]:'*) return 0 ;;
        *) return 1 ;;
    esac
}

# check_peer NAME URL NAME TOKEN: an address, and what is sent there.
check_peer() {
    case $2 in
        http://?* | https://?*) ;;
        *) stop "$1 is no address: http://... or https://... is one" ;;
    esac
    case $4 in *[[:space:][:cntrl:]]*) stop "$3 has a blank or a line break in it" ;; esac
    [ -z "$4" ] || is_private "$2" || stop "$1 has no TLS (https://), and $3 would travel with each request"
}

if [ $# -lt 1 ] || [ $# -gt 2 ]; then
    printf 'usage: smoke_test.sh URL [RECALL_URL]\n' >&2
    exit 2
fi
command -v curl >/dev/null || stop "curl is needed"
token=${SMOKE_TOKEN:-} key=${SMOKE_STORE_KEY:-}
url=${1%/} recall=${2:-} store=${SMOKE_STORE_URL:-}
check_peer URL "$url" SMOKE_TOKEN "$token"
[ -z "$recall" ] || check_peer RECALL_URL "$recall" SMOKE_TOKEN "$token"
[ -z "$store" ] || check_peer SMOKE_STORE_URL "$store" SMOKE_STORE_KEY "$key"
recall=${recall%/} store=${store%/}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
failed=0

ok() { printf 'ok    %s\n' "$1"; }
fail() {
    printf 'FAIL  %s\n' "$1"
    failed=1
}
note() { printf 'note  %s\n' "$1"; }

# ask TOKEN CURL-ARGUMENT...: status in $status, headers and body in $scratch. The token goes by standard input: the
# arguments of a process are everybody's to read. --disable: no curlrc of this user's changes what is checked.
ask() {
    secret=$1
    shift
    : >"$scratch/headers"
    : >"$scratch/body"
    status=$(
        if [ -n "$secret" ]; then
            printf 'header = "Authorization: Bearer %s"\n' "$(printf '%s' "$secret" | sed 's/[\\"]/\\&/g')"
        fi | curl --disable --silent --show-error --globoff --connect-timeout 10 --max-time 60 --config - \
            --dump-header "$scratch/headers" --output "$scratch/body" --write-out '%{http_code}' "$@" \
            2>"$scratch/complaint"
    ) || status="no answer ($(head -n 1 "$scratch/complaint"))"
}

# The body as one line without blanks between tokens, so that it can be looked into without a parser of JSON.
body() { tr -d '\n' <"$scratch/body" | sed 's/": */":/g; s/, *"/,"/g'; }
says() { body | grep -q -- "$1"; }
# Names of headers come in any case.
header() { tr -d '\r' <"$scratch/headers" | tr '[:upper:]' '[:lower:]' | sed -n "s/^$1: *//p" | tail -n 1; }
is_id() { printf '%s\n' "$1" | grep -Eqx '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}'; }
new_id() {
    od -An -N16 -tx1 /dev/urandom | tr -d ' \n' |
        sed 's/\(.\{8\}\)\(.\{4\}\).\(.\{3\}\).\(.\{3\}\)\(.*\)/\1-\2-4\3-8\4-\5/'
}

# Ids of our own: what somebody else answered, or an earlier run left, is not taken for this run's.
session=$(new_id)
now=$(date -u +%Y-%m-%dT%H:%M:%SZ)
cat >"$scratch/capture.json" <<JSON
{"session_id": "$session", "conversation_id": "$(new_id)", "context": {"tags": ["smoke-test"]}, "turns": [
  {"turn_id": "$(new_id)", "role": "user", "content": "Smoke test $session: is anybody there?", "timestamp": "$now"},
  {"turn_id": "$(new_id)", "role": "assistant", "content": "Smoke test $session: yes.", "timestamp": "$now"}]}
JSON

ask "$token" "$url/health"
if [ "$status" = 200 ] && says '"status":"ok"' && says '"agent_id":"'; then
    ok "health: the function and its store answer"
else
    case $status in
        200) fail "health: 200, but not as the capture function says it (is this its address?)" ;;
        503) fail "health: the function runs and cannot reach its store (RUVECTOR_SERVICE_URL, RUVECTOR_API_KEY, the network)" ;;
        401 | 403) fail "health: $status, the caller is not let in (SMOKE_TOKEN, roles/run.invoker)" ;;
        404) fail "health: 404, nothing is there for a caller from here (the address, the function's ingress)" ;;
        *) fail "health: $status instead of 200" ;;
    esac
fi

ask "$token" --data-binary "@$scratch/capture.json" "$url/"
first=$(header x-execution-ref)
stored=false
if [ "$status" != 200 ]; then
    fail "capture: $status instead of 200"
elif says '"success":true' && says "\"session_id\":\"$session\"" && says '"duplicate":false' && is_id "$first"; then
    ok "capture: stored as $first"
    stored=true
else
    fail "capture: 200, but no new event of session $session"
fi

ask "$token" --data-binary "@$scratch/capture.json" "$url/"
if [ "$status" != 200 ]; then
    fail "duplicate: $status instead of 200"
elif is_id "$first" && [ "$(header x-execution-ref)" = "$first" ] && [ "$(header idempotency-replayed)" = true ]; then
    ok "duplicate: answered with the first event"
else
    fail "duplicate: 200, but not the first event again (Idempotency-Replayed, X-Execution-Ref)"
fi

ask "$token" --data-binary '{"session_id": "x", "conversation_id": "y", "turns": 7}' "$url/"
if [ "$status" = 400 ] && says '"error_code":"VALIDATION_ERROR"' && says '"path":"[^"]*turns"' && says '"rule":"'; then
    ok "bad input: refused with path and rule"
else
    fail "bad input: $status instead of 400 with path and rule"
fi

if [ -n "$recall" ]; then
    ask "$token" "$recall/api/conversation/$session"
    place=recall
elif [ -n "$store" ]; then
    ask "$key" "$store/v1/sessions/$session/turns"
    place="the store"
fi
if [ -z "$recall$store" ]; then
    note "read back: not done; name the recall function's URL, or SMOKE_STORE_URL and SMOKE_STORE_KEY"
elif [ "$status" = 200 ] && says "Smoke test $session: is anybody there?" && says "Smoke test $session: yes."; then
    ok "read back: $place has both turns"
else
    fail "read back: $status from $place instead of 200 with both turns"
fi

if [ -z "$store" ]; then
    note "clean up: session $session stays; with SMOKE_STORE_URL and an admin's SMOKE_STORE_KEY it is erased"
elif $stored; then
    ask "$key" --request DELETE "$store/v1/sessions/$session"
    case $status in
        200) if says '"status":"erased"'; then ok "clean up: session $session is erased"; else
            fail "clean up: 200, but not as a store erases; session $session stays"
        fi ;;
        401 | 403) note "clean up: $status, SMOKE_STORE_KEY may not erase; session $session stays" ;;
        *) fail "clean up: $status instead of 200; session $session stays" ;;
    esac
fi
exit "$failed"

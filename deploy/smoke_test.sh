#!/bin/sh
# smoke_test.sh URL [RECALL_URL]: whether a deployment works: health, one capture, the same again, a bad one, and the
# capture read back. Leaves one session of two short turns, smoke-test-<time>-<number>, and erases it where it can.
#
#   SMOKE_TOKEN      identity token (or the caller's key) for URL and RECALL_URL:
#                    SMOKE_TOKEN=$(gcloud auth print-identity-token)
#   SMOKE_STORE_URL, SMOKE_STORE_KEY   the store, where no RECALL_URL is given, and to erase the session (a key with the
#                    role admin may)
#
# Needs curl. Prints one line a check; the exit code is 1 if one FAILED, 2 if it was called wrongly.
set -eu

if [ $# -lt 1 ] || [ $# -gt 2 ]; then
    printf 'usage: smoke_test.sh URL [RECALL_URL]\n' >&2
    exit 2
fi
url=${1%/}
recall=${2:-}
recall=${recall%/}
store=${SMOKE_STORE_URL:-}
store=${store%/}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

ok() { printf 'ok    %s\n' "$1"; }
fail() {
    printf 'FAIL  %s\n' "$1"
    failed=1
}
note() { printf 'note  %s\n' "$1"; }

# ask TOKEN CURL-ARGUMENT...: status in $status, headers and body in $scratch. The token goes by standard input: the
# arguments of a process are everybody's to read.
ask() {
    token=$1
    shift
    status=$(
        if [ -n "$token" ]; then printf 'header = "Authorization: Bearer %s"\n' "$token"; fi |
            curl --silent --show-error --max-time 60 --config - --dump-header "$scratch/headers" \
                --output "$scratch/body" --write-out '%{http_code}' "$@" 2>"$scratch/complaint"
    ) || status="no answer: $(head -n 1 "$scratch/complaint")"
}

# The body as one line without blanks between tokens, so that it can be looked into without a parser of JSON.
body() { tr -d '\n' <"$scratch/body" | sed 's/": */":/g; s/, *"/,"/g'; }
says() { body | grep -q -- "$1"; }
header() { tr -d '\r' <"$scratch/headers" | sed -n "s/^$1: *//Ip" | tail -n 1; }

: >"$scratch/body"
: >"$scratch/headers"
session=smoke-test-$(date -u +%Y%m%dT%H%M%SZ)-$$
cat >"$scratch/capture.json" <<JSON
{"session_id": "$session", "conversation_id": "$session", "capture_options": {"derive_ids": true}, "turns": [
  {"turn_id": "1", "role": "user", "content": "Smoke test: is anybody there?", "timestamp": "2026-01-01T00:00:00Z"},
  {"turn_id": "2", "role": "assistant", "content": "Smoke test: yes.", "timestamp": "2026-01-01T00:00:01Z"}]}
JSON

ask "${SMOKE_TOKEN:-}" "$url/health"
case $status in
    200) ok "health: the function and its store answer" ;;
    503) fail "health: the function runs and cannot reach its store (RUVECTOR_SERVICE_URL, RUVECTOR_API_KEY, the network)" ;;
    401 | 403) fail "health: $status, the caller is not let in (SMOKE_TOKEN, roles/run.invoker)" ;;
    *) fail "health: $status instead of 200" ;;
esac

ask "${SMOKE_TOKEN:-}" --data-binary "@$scratch/capture.json" "$url/"
first=$(header X-Execution-Ref)
id=$(body | sed -n 's/.*"output":{[^}]*"session_id":"\([0-9a-f-]*\)".*/\1/p')
if [ "$status" = 200 ] && says '"duplicate":false' && [ -n "$first" ] && [ -n "$id" ]; then
    ok "capture: stored as $first"
else
    fail "capture: $status instead of 200 and a new event"
fi

ask "${SMOKE_TOKEN:-}" --data-binary "@$scratch/capture.json" "$url/"
if [ "$status" = 200 ] && [ "$(header Idempotency-Replayed)" = true ] && [ "$(header X-Execution-Ref)" = "$first" ]; then
    ok "duplicate: answered with the first event"
else
    fail "duplicate: $status, Idempotency-Replayed '$(header Idempotency-Replayed)' instead of the first event again"
fi

ask "${SMOKE_TOKEN:-}" --data-binary '{"session_id": "x", "conversation_id": "y", "turns": 7}' "$url/"
if [ "$status" = 400 ] && says '"error_code":"VALIDATION_ERROR"' && says '"path":"[^"]*turns"' && says '"rule":"'; then
    ok "bad input: refused with path and rule"
else
    fail "bad input: $status instead of 400 with path and rule"
fi

if [ -n "$recall" ]; then
    ask "${SMOKE_TOKEN:-}" "$recall/api/conversation/$id"
    place=recall
elif [ -n "$store" ]; then
    ask "${SMOKE_STORE_KEY:-}" "$store/v1/sessions/$id/turns"
    place="the store"
fi
if [ -z "$recall$store" ]; then
    note "read back: not done; name the recall function's URL, or SMOKE_STORE_URL and SMOKE_STORE_KEY"
elif [ "$status" = 200 ] && says 'Smoke test: is anybody there?' && says 'Smoke test: yes.'; then
    ok "read back: $place has both turns"
else
    fail "read back: $status from $place instead of both turns"
fi

if [ -n "$store" ] && [ -n "$id" ]; then
    ask "${SMOKE_STORE_KEY:-}" --request DELETE "$store/v1/sessions/$id"
    case $status in
        200) ok "clean up: session $session is erased" ;;
        401 | 403) note "clean up: $status, SMOKE_STORE_KEY may not erase; session $session stays" ;;
        *) fail "clean up: $status instead of 200; session $session stays" ;;
    esac
else
    note "clean up: session $session stays; with SMOKE_STORE_URL and an admin's SMOKE_STORE_KEY it is erased"
fi
exit "$failed"

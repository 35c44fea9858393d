#!/usr/bin/env bash
# What deploy.sh looks at before it changes anything: whether the secrets are there, and whether a service has what this
# run would take from it. Read by deploy.sh, no program of its own; variables that it does not set are deploy.sh's.
# shellcheck disable=SC2154  # for that reason

require_secrets() {
    local secret missing=()
    for secret; do
        if $dry_run; then
            run gcloud secrets versions describe latest "--secret=$secret" "--project=$project" --format=none
        elif ! gcloud secrets versions describe latest "--secret=$secret" "--project=$project" --format=none; then
            missing+=("$secret")
        fi
    done
    ((${#missing[@]} == 0)) || fail "these secrets have no version yet: ${missing[*]}" \
        "make each, with its value on standard input (docs/operate/deploy.md, \"Secrets\"):" \
        "  gcloud secrets create NAME --project=$project --replication-policy=user-managed --locations=$region" \
        "  gcloud secrets versions add NAME --project=$project --data-file=-"
}

# refuse_to_widen PART...: a run sets all variables of what it deploys, so one that forgets an option would store more,
# or let in more, without a word. Services are listed, not described: a list of none is an answer, no failure.
refuse_to_widen() {
    local part service name value lost=() there=''
    local look=(
        gcloud run services list "--project=$project" "--region=$region" --verbosity=error
        '--filter=metadata.name~^conversation-' '--flatten=spec.template.spec.containers[].env[]'
        '--format=value(metadata.name,spec.template.spec.containers.env.name,spec.template.spec.containers.env.value)'
    )
    if $dry_run; then
        show "${look[@]}"
        return
    fi
    there=$("${look[@]}") || fail "what is deployed cannot be seen: $(show "${look[@]}")" "it is needed to go on"
    for part; do
        while IFS=$'\t' read -r service name value; do
            if [[ $service == "$(service_of "$part")" ]] && is_guarded "$part" "$name" && would_go "$name" "$value"; then
                lost+=("  $service has $(what_to_say "$name" "$value")")
            fi
        done <<<"$there"
    done
    ((${#lost[@]} == 0)) || fail "this run would take away what is deployed (docs/operate/deploy.md, \"Deploy\"):" "${lost[@]}"
}

service_of() {
    case $1 in
        capture) echo conversation-memory ;;
        events) echo conversation-memory-events ;;
        *) echo "conversation-$1" ;;
    esac
}

# is_guarded PART NAME: whether the part keeps less, or takes less, with this variable than without it.
is_guarded() {
    case $1:$2 in
        capture:CAPTURE_CONTENT | capture:CONTENT_HASH_KEY | capture:INTENTS_CONFIG) ;;
        events:CAPTURE_CONTENT | events:CONTENT_HASH_KEY | events:INTENTS_CONFIG) ;;
        capture:CAPTURE_API_KEYS | capture:CAPTURE_API_KEYS_FILE | capture:RATE_LIMIT) ;;
        recall:RECALL_API_KEYS | recall:RECALL_API_KEYS_FILE | recall:RATE_LIMIT | store:RUVECTOR_QUOTAS) ;;
        *) return 1 ;;
    esac
}

# would_go NAME VALUE: whether this run neither sets it nor says that it may go. A mode that is named is wanted.
would_go() {
    [[ " ${may_go[*]-} " != *" $1 "* ]] || return 1
    case $1 in
        CAPTURE_CONTENT) [[ ! $content && $2 != full ]] ;;
        CONTENT_HASH_KEY) [[ ! $hash_key ]] ;;
        CAPTURE_API_KEYS*) ! $with_capture_keys ;;
        RECALL_API_KEYS*) ! $with_recall_keys ;;
        *) [[ $set_here != *" $1 "* ]] ;;
    esac
}

# what_to_say NAME VALUE: the option that keeps it, and the one that lets it go. Of keys no value is shown.
what_to_say() {
    case $1 in
        CAPTURE_CONTENT) echo "$1=$2: say --content $2 again, or --content full" ;;
        CONTENT_HASH_KEY) echo "$1: say --content-hash-key again, or --drop $1" ;;
        CAPTURE_API_KEYS*) echo "$1: say --capture-keys again, or --drop $1" ;;
        RECALL_API_KEYS*) echo "$1: say --recall-keys again, or --drop $1" ;;
        RATE_LIMIT) echo "$1=$2: say --rate-limit $2 again, or --drop $1" ;;
        RUVECTOR_QUOTAS) echo "$1=$2: leave the store out (--only), or --drop $1" ;;
        *) echo "$1=$2: say --env $1=$2 again, or --drop $1" ;;
    esac
}

#!/usr/bin/env bash
# Deploys this checkout to Google Cloud as 2nd generation functions: what is missing is made, what is there is updated,
# so it can be run again. Who may call capture and recall is named by --invoker. The store alone has no such check: its
# invoker is allUsers, its ingress is internal, and it answers who is in the network and has a key of its own.
# With --dry-run every command is printed and none is run; what is printed can be pasted into a shell.
# Refuses to go on without the secrets (it never sees what is in them), without a way to the store, and where a service
# has what keeps content or callers out, and this run forgets it.
set -euo pipefail

# Not by CDPATH, which may know another folder of this name.
unset CDPATH
cd -- "$(dirname -- "$0")/.."
# shellcheck source=/dev/null  # checked by itself
. deploy/commands.sh
# shellcheck source=/dev/null  # checked by itself
. deploy/before.sh

usage() {
    cat <<'USAGE'
deploy/deploy.sh --project PROJECT --region REGION (--vpc-connector NAME | --store-url URL) [more]

  --project PROJECT        the project that everything is made in
  --region REGION          such as europe-west6
  --only LIST              some of capture,events,recall,store (default: all four)
  --vpc-connector NAME     Serverless VPC Access connector: the store takes calls from inside alone, and from everybody
                           there who has a key (allUsers behind an internal ingress)
  --store-url URL          a store that runs elsewhere; ours is not deployed
  --invoker MEMBER         who may call capture and recall, such as group:agents@example.com; may be repeated
  --ingress SETTING        of capture and recall: all (default), internal-only, internal-and-gclb
  --observatory-url URL    LLM_OBSERVATORY_URL of capture, events and recall
  --env NAME=VALUE         one more variable of capture, events and recall, no key; may be repeated
  --capture-keys           callers of capture need a key of the secret conversation-capture-keys too, beside IAM
  --recall-keys            callers of recall need a key of the secret conversation-recall-keys too, beside IAM
  --rate-limit LIMITS      RATE_LIMIT of capture and recall, such as "100/second;5000/hour": of a key, in each instance
  --content MODE           CAPTURE_CONTENT of capture and events: full, redacted or none; without it full
  --content-hash-key       capture and events read CONTENT_HASH_KEY from the secret conversation-content-hash-key
  --metrics-key            the store reads METRICS_KEY from the secret conversation-store-metrics-key
  --drop NAME              RATE_LIMIT, CONTENT_HASH_KEY, ... that is deployed and not given again may go; may be repeated
  --max-delivery-attempts N  of a queued capture before it becomes a dead letter, 5 to 100 (default: 100)
  --build-service-account EMAIL  who builds (default: the project's own build account)
  --runtime NAME           python311 (default), python312, python313
  --dry-run                print every command, run none
USAGE
}

only=capture,events,recall,store each='capture|events|recall|store'
project='' region='' connector='' store_url='' observatory_url='' build_account=''
ingress=all runtime=python311 attempts=100 with_metrics_key=false rate_limit=''
with_capture_keys=false with_recall_keys=false content='' hash_key=''
invokers=() variables=() may_go=()

while (($#)); do
    case $1 in
        --dry-run) dry_run=true ;;
        --metrics-key) with_metrics_key=true ;;
        --capture-keys) with_capture_keys=true ;;
        --recall-keys) with_recall_keys=true ;;
        --content-hash-key) hash_key=conversation-content-hash-key ;;
        -h | --help)
            usage
            exit 0
            ;;
        --*)
            # A forgotten value is not the next option: --dry-run would be gone.
            (($# > 1)) && [[ $2 && $2 != -* ]] || fail "$1 needs a value"
            # These would end a word of what is printed, or an entry of a list that gcloud takes.
            [[ $2 != *[[:space:]\'\"\`\\\$\!,]* || $1 == --only ]] || fail "$1 has a character that cannot be passed on"
            case $1 in
                --project) project=$2 ;;
                --region) region=$2 ;;
                --only) only=$2 ;;
                --vpc-connector) connector=$2 ;;
                --store-url) store_url=$2 ;;
                --invoker) invokers+=("$2") ;;
                --ingress) ingress=$2 ;;
                --observatory-url) observatory_url=$2 ;;
                --env) variables+=("$2") ;;
                --rate-limit) rate_limit=$2 ;;
                --content) content=$2 ;;
                --drop) may_go+=("$2") ;;
                --max-delivery-attempts) attempts=$2 ;;
                --build-service-account) build_account=$2 ;;
                --runtime) runtime=$2 ;;
                *) fail "there is no option $1 (--help lists them)" ;;
            esac
            shift
            ;;
        *) fail "what is $1? (--help lists the options)" ;;
    esac
    shift
done

# must OPTION VALUE PATTERN WHAT
must() {
    [[ $2 =~ ^($3)$ ]] || fail "$1 takes $4"
}

[[ $project ]] || fail "say which project: --project PROJECT"
[[ $region ]] || fail "say which region: --region REGION"
must --project "$project" '[a-z][a-z0-9-]{4,28}[a-z0-9]' "the project's id (not its name or number)"
must --region "$region" '[a-z]+-[a-z]+[0-9]+' "a region, such as europe-west6"
must --only "$only" "($each)(,($each))*" "some of capture,events,recall,store"
must --max-delivery-attempts "$attempts" '[5-9]|[1-9][0-9]|100' "a number from 5 to 100"
must --ingress "$ingress" 'all|internal-only|internal-and-gclb' "one of all, internal-only, internal-and-gclb"
must --runtime "$runtime" 'python31[123]' "one of python311, python312, python313"
must --store-url "$store_url" '|https?://.+' "an http:// or https:// address"
must --rate-limit "$rate_limit" '|[0-9]+/[0-9]*[a-z]+(;[0-9]+/[0-9]*[a-z]+)*' "limits, such as 100/second;5000/hour"
must --content "$content" '|full|redacted|none' "one of full, redacted, none"
must --observatory-url "$observatory_url" '|https?://.+' "an http:// or https:// address"
for invoker in ${invokers+"${invokers[@]}"}; do
    [[ $invoker =~ ^(user|group|serviceAccount|domain|principal|principalSet):. && $invoker != *//goog/public* ]] ||
        fail "--invoker takes user:, group:, serviceAccount:, domain:, principal: or principalSet:, and nobody else"
done
# All that is guarded (before.sh) but the mode of content, of which --content full says that it may go.
droppable='CAPTURE_API_KEYS|CAPTURE_API_KEYS_FILE|RECALL_API_KEYS|RECALL_API_KEYS_FILE|RATE_LIMIT'
droppable+='|CONTENT_HASH_KEY|INTENTS_CONFIG|RUVECTOR_QUOTAS'
for name in ${may_go+"${may_go[@]}"}; do must --drop "$name" "$droppable" "one of ${droppable//|/, }"; done
set_here=' THREADS RUVECTOR_SERVICE_URL GOOGLE_CLOUD_PROJECT '
[[ ! $observatory_url ]] || set_here+='LLM_OBSERVATORY_URL '
[[ ! $rate_limit ]] || set_here+='RATE_LIMIT '
for variable in ${variables+"${variables[@]}"}; do
    name=${variable%%=*}
    must --env "$variable" '[A-Z][A-Z0-9_]*=.+' "NAME=VALUE"
    [[ $name != *KEY* && $name != RUVECTOR_STORE ]] || fail "$name would be readable in the console: keys are secrets"
    [[ $name != CAPTURE_CONTENT ]] || fail "--content sets CAPTURE_CONTENT, of those that write alone"
    [[ $set_here != *" $name "* ]] || fail "$name is set already"
    set_here+="$name "
done
[[ $store_url || $connector ]] ||
    fail "the store takes calls from inside a VPC network alone: name a connector (--vpc-connector)," \
        "or a store that runs elsewhere (--store-url URL)"
parts=()
for part in store capture events recall; do
    if [[ ,$only, == *",$part,"* ]] && ! [[ $part == store && $store_url ]]; then parts+=("$part"); fi
done
((${#parts[@]})) || fail "--only store and --store-url leave nothing to deploy"
$dry_run || command -v gcloud >/dev/null || fail "gcloud is not installed (--dry-run works without it)"

is_wanted() {
    [[ " ${parts[*]} " == *" $1 "* ]]
}

account() {
    printf '%s@%s.iam.gserviceaccount.com' "$1" "$project"
}

# --- the parts ---

enable_services() {
    local apis=(artifactregistry cloudbuild cloudfunctions iam run secretmanager) api names=()
    is_wanted events && apis+=(pubsub)
    for api in "${apis[@]}"; do names+=("$api.googleapis.com"); done
    run gcloud services enable "${names[@]}" "--project=$project"
}

make_account() {
    ensure gcloud iam service-accounts describe "$(account "$1")" "--project=$project" -- \
        gcloud iam service-accounts create "$1" "--project=$project" "--display-name=$1"
}

# may_read SECRET ACCOUNT: the one account may read this one secret.
may_read() {
    bind gcloud secrets add-iam-policy-binding "$1" "--project=$project" \
        "--member=serviceAccount:$(account "$2")" --role=roles/secretmanager.secretAccessor
}

# secrets_of PART: the secrets that it reads, one a line.
secrets_of() {
    case $1 in
        store)
            printf 'conversation-store-%s\n' url keys
            if $with_metrics_key; then echo conversation-store-metrics-key; fi
            ;;
        capture | events) printf '%s\n' conversation-store-write-key ${hash_key:+"$hash_key"} ;;
        recall) echo conversation-store-read-key ;;
    esac
    keys_secret "$1"
}

# keys_secret PART: the secret with its callers' keys, where it has one. No queue sends a key: the events function does
# not start with one.
keys_secret() {
    case $1 in
        capture) if $with_capture_keys; then echo conversation-capture-keys; fi ;;
        recall) if $with_recall_keys; then echo conversation-recall-keys; fi ;;
    esac
}

may_invoke() {
    bind gcloud run services add-iam-policy-binding "$1" "--project=$project" "--region=$region" \
        "--member=$2" --role=roles/run.invoker
}

# deploy_function SERVICE TARGET ACCOUNT MEMORY THREADS INSTANCES INGRESS ENVIRONMENT SECRETS [FLAG...]
# As many requests at once as the server has threads: one more would wait behind them, unseen by the autoscaler.
# All traffic to the new revision, also after somebody sent it back to an old one.
# SOURCE_DATE_EPOCH: the builder compiles our modules, then dates every file 1980. Bytecode that is checked by the date
# would be compiled again at each cold start; with this variable it is checked by the source's hash (PEP 552).
deploy_function() {
    local service=$1 target=$2 account=$3 memory=$4 threads=$5 instances=$6 ingress=$7 environment=$8 from_secrets=$9
    shift 9
    run gcloud functions deploy "$service" --gen2 "--project=$project" "--region=$region" "--runtime=$runtime" \
        --source=. --serve-all-traffic-latest-revision "--entry-point=$target" --trigger-http "--service-account=$(account "$account")" \
        "--memory=$memory" --cpu=1 "--concurrency=$threads" --timeout=30s "--max-instances=$instances" \
        "--ingress-settings=$ingress" --set-build-env-vars=SOURCE_DATE_EPOCH=315532801 \
        "--set-env-vars=THREADS=$threads$environment" "--set-secrets=$from_secrets" \
        ${build_account:+"--build-service-account=projects/$project/serviceAccounts/$build_account"} \
        "${connector:+--vpc-connector=}${connector:---clear-vpc-connector}" --quiet "$@"
}

# deploy_client SERVICE TARGET ACCOUNT MEMORY INSTANCES INGRESS KEY: a function that calls the store with this key.
# Calls to the store leave by the connector: it takes none from elsewhere.
# Callers' keys are a file, whose new version is read without a new revision.
deploy_client() {
    local service=$1 target=$2 account=$3 memory=$4 instances=$5 ingress=$6 key=$7 variable secret path
    local from_secrets=RUVECTOR_API_KEY=$key:latest
    local environment=",RUVECTOR_SERVICE_URL=$STORE_URL,GOOGLE_CLOUD_PROJECT=$project"
    environment+=${observatory_url:+",LLM_OBSERVATORY_URL=$observatory_url"}
    for variable in ${variables+"${variables[@]}"}; do environment+=",$variable"; done
    secret=$(keys_secret "${account#conversation-}")
    path=/etc/secrets/$secret/keys
    case $target in
        handler) environment+=${secret:+",CAPTURE_API_KEYS_FILE=$path"}${rate_limit:+",RATE_LIMIT=$rate_limit"} ;;
        recall) environment+=${secret:+",RECALL_API_KEYS_FILE=$path"}${rate_limit:+",RATE_LIMIT=$rate_limit"} ;;
    esac
    from_secrets+=${secret:+",$path=$secret:latest"}
    # Both that write: of one conversation some turns come over HTTP, and some from the queue.
    [[ $target == recall ]] || environment+=${content:+",CAPTURE_CONTENT=$content"}
    [[ $target == recall ]] || from_secrets+=${hash_key:+",CONTENT_HASH_KEY=$hash_key:latest"}
    deploy_function "$service" "$target" "$account" "$memory" 8 "$instances" "$ingress" "$environment" \
        "$from_secrets" --no-allow-unauthenticated ${connector:+--egress-settings=all}
}

# The header that Cloud Run would check carries the store's own key (RUVECTOR_KEYS): so not Cloud Run's IAM guards it,
# but that key, behind an ingress that takes nothing from the internet.
deploy_store() {
    local from_secrets=RUVECTOR_STORE=conversation-store-url:latest,RUVECTOR_KEYS=conversation-store-keys:latest
    if $with_metrics_key; then from_secrets+=,METRICS_KEY=conversation-store-metrics-key:latest; fi
    deploy_function conversation-store store conversation-store 512Mi 16 10 internal-only '' "$from_secrets" \
        --allow-unauthenticated --egress-settings=private-ranges-only
}

# The queue in front of the events function: topic, push with retries, and what keeps the dead letters.
deploy_queue() {
    local pubsub_agent subscription=conversation-captures-push EVENTS_URL PROJECT_NUMBER
    remember PROJECT_NUMBER gcloud projects describe "$project" '--format=value(projectNumber)'
    remember EVENTS_URL gcloud run services describe conversation-memory-events "--project=$project" \
        "--region=$region" '--format=value(status.url)'
    pubsub_agent="serviceAccount:service-$PROJECT_NUMBER@gcp-sa-pubsub.iam.gserviceaccount.com"
    local topic
    for topic in conversation-captures conversation-captures-dead; do
        ensure gcloud pubsub topics describe "$topic" "--project=$project" -- \
            gcloud pubsub topics create "$topic" "--project=$project"
    done
    ensure gcloud pubsub subscriptions describe conversation-captures-dead-keep "--project=$project" -- \
        gcloud pubsub subscriptions create conversation-captures-dead-keep "--project=$project" \
        --topic=conversation-captures-dead --ack-deadline=60 --message-retention-duration=7d --expiration-period=never
    local settings=(
        "--project=$project" "--push-endpoint=$EVENTS_URL"
        "--push-auth-service-account=$(account conversation-push)" --ack-deadline=60
        --min-retry-delay=10s --max-retry-delay=600s --message-retention-duration=7d --expiration-period=never
        --dead-letter-topic=conversation-captures-dead "--max-delivery-attempts=$attempts"
    )
    ensure gcloud pubsub subscriptions describe "$subscription" "--project=$project" -- \
        gcloud pubsub subscriptions create "$subscription" --topic=conversation-captures "${settings[@]}"
    run gcloud pubsub subscriptions update "$subscription" "${settings[@]}"
    # What Pub/Sub itself needs: to make the token of a push, to forward a dead letter, to take it out of the queue.
    bind gcloud iam service-accounts add-iam-policy-binding "$(account conversation-push)" "--project=$project" \
        "--member=$pubsub_agent" --role=roles/iam.serviceAccountTokenCreator
    bind gcloud pubsub topics add-iam-policy-binding conversation-captures-dead "--project=$project" \
        "--member=$pubsub_agent" --role=roles/pubsub.publisher
    bind gcloud pubsub subscriptions add-iam-policy-binding "$subscription" "--project=$project" \
        "--member=$pubsub_agent" --role=roles/pubsub.subscriber
}

# deploy_part NAME: accounts first, then rights, then the function, then who may call it.
deploy_part() {
    local member
    case $1 in
        store) deploy_store ;;
        capture)
            deploy_client conversation-memory handler conversation-capture 256Mi 100 "$ingress" \
                conversation-store-write-key
            for member in ${invokers+"${invokers[@]}"}; do may_invoke conversation-memory "$member"; done
            ;;
        events)
            deploy_client conversation-memory-events capture_event conversation-events 256Mi 100 internal-only \
                conversation-store-write-key
            may_invoke conversation-memory-events "serviceAccount:$(account conversation-push)"
            deploy_queue
            ;;
        recall)
            deploy_client conversation-recall recall conversation-recall 512Mi 20 "$ingress" \
                conversation-store-read-key
            for member in ${invokers+"${invokers[@]}"}; do may_invoke conversation-recall "$member"; done
            ;;
    esac
}

enable_services
needed=()
for part in "${parts[@]}"; do
    for secret in $(secrets_of "$part"); do
        [[ " ${needed[*]-} " == *" $secret "* ]] || needed+=("$secret")
    done
done
require_secrets "${needed[@]}"
refuse_to_widen "${parts[@]}"

for part in "${parts[@]}"; do
    make_account "conversation-$part"
    if [[ $part == events ]]; then make_account conversation-push; fi
    for secret in $(secrets_of "$part"); do may_read "$secret" "conversation-$part"; done
done

if is_wanted store; then deploy_part store; fi
STORE_URL=$store_url
if [[ ! $STORE_URL && ${parts[*]} != store ]]; then
    remember STORE_URL gcloud run services describe conversation-store "--project=$project" "--region=$region" \
        '--format=value(status.url)'
fi
for part in capture events recall; do
    if is_wanted "$part"; then deploy_part "$part"; fi
done
$dry_run || printf 'deploy.sh: deployed %s to %s; now deploy/smoke_test.sh checks it\n' "${parts[*]}" "$region" >&2

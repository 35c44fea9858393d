#!/usr/bin/env bash
# Fills the secrets that Terraform made: keys of the store, and the address of its database with a password, all random.
# No value is printed, kept in a file, passed through Terraform or seen in a list of processes: each goes to gcloud by
# standard input. Refuses to touch a secret that has a value already (docs/operate/encryption.md says how keys are changed).
set -euo pipefail

usage() {
    cat <<'USAGE'
deploy/terraform/secrets.sh --project PROJECT (--database-host HOST | --no-database) [--tenant NAME] [--metrics-key]

  --database-host HOST  the private address of Terraform's database (terraform output -raw database_host):
                        makes the user "memory" there, and writes conversation-store-url
  --no-database         the database is yours: you add the value of conversation-store-url yourself
  --tenant NAME         whose events the keys are for (default: default)
  --metrics-key         fills conversation-store-metrics-key too (store_metrics = true)
USAGE
}

fail() {
    printf 'secrets.sh: %s\n' "$@" >&2
    exit 2
}

project='' host='' tenant=default own_database='' metrics=false
while (($#)); do
    case $1 in
        -h | --help)
            usage
            exit 0
            ;;
        --no-database) own_database=false ;;
        --metrics-key) metrics=true ;;
        --project | --database-host | --tenant)
            (($# > 1)) || fail "$1 needs a value"
            case $1 in
                --project) project=$2 ;;
                --database-host) host=$2 own_database=true ;;
                --tenant) tenant=$2 ;;
            esac
            shift
            ;;
        *) fail "there is no option $1 (--help lists them)" ;;
    esac
    shift
done
[[ $project ]] || fail "say which project: --project PROJECT"
[[ $own_database ]] || fail "say --database-host HOST, or --no-database"
[[ $own_database == false || $host =~ ^[A-Za-z0-9.-]+$ ]] || fail "--database-host is a name or an address"
[[ $tenant =~ ^[A-Za-z0-9._-]{1,64}$ ]] || fail "--tenant takes 1 to 64 letters, digits, dots, underscores and hyphens"

secrets=(conversation-store-keys conversation-store-write-key conversation-store-read-key)
if $own_database; then secrets+=(conversation-store-url); fi
if $metrics; then secrets+=(conversation-store-metrics-key); fi
for secret in "${secrets[@]}"; do
    versions=$(gcloud secrets versions list "$secret" "--project=$project" --limit=1 '--format=value(name)')
    [[ ! $versions ]] || fail "$secret has a value already: nothing was changed" \
        "(after a run that stopped half-way: gcloud secrets versions destroy $versions --secret=$secret, and once more)"
done

random() {
    openssl rand -hex 24
}

# set_password VERB PASSWORD: of the user "memory", by standard input too. gcloud writes each command with its arguments to a
# log file of its own, unless it is told not to.
set_password() {
    printf -- '--password: %s\n' "$2" | CLOUDSDK_CORE_DISABLE_FILE_LOGGING=true gcloud sql users "$1" memory \
        --instance=conversation-memory "--project=$project" --flags-file=/dev/stdin --quiet
}

# fill SECRET: its value comes on standard input, so that no list of processes shows it.
fill() {
    gcloud secrets versions add "$1" "--project=$project" --data-file=- --quiet >/dev/null
}

if $own_database; then
    password=$(random)
    set_password create "$password" || set_password set-password "$password"
    printf 'postgresql+psycopg://memory:%s@%s/memory?sslmode=require' "$password" "$host" | fill conversation-store-url
fi
if $metrics; then
    metrics_key=$(random)
    printf '%s' "$metrics_key" | fill conversation-store-metrics-key
fi
write_key=$(random)
read_key=$(random)
admin_key=$(random)
printf '%s:%s:write,%s:%s:read,%s:%s:admin' "$tenant" "$write_key" "$tenant" "$read_key" "$tenant" "$admin_key" |
    fill conversation-store-keys
printf '%s' "$write_key" | fill conversation-store-write-key
printf '%s' "$read_key" | fill conversation-store-read-key
printf 'secrets.sh: filled %s\n' "${secrets[*]}" >&2

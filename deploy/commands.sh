#!/usr/bin/env bash
# How deploy.sh runs what it runs: each command is printed and run, or, with dry_run=true, printed alone, as a line that
# another shell can run. Read by deploy.sh, no program of its own.

dry_run=false

fail() {
    printf 'deploy.sh: %s\n' "$@" >&2
    exit 2
}

# The words as a shell reads them back. A $ in one is a variable that was printed before (see remember).
show() {
    local word line=''
    for word; do
        case $word in
            *\$*) word="\"$word\"" ;;
            '' | *[!A-Za-z0-9_@%+=:,./-]*) word="'$word'" ;;
        esac
        line+="${line:+ }$word"
    done
    printf '%s\n' "$line"
}

run() {
    if $dry_run; then show "$@"; else
        show "$@" >&2
        "$@"
    fi
}

# ensure LOOK... -- MAKE...: make it where looking for it fails.
ensure() {
    local look=()
    while [[ $1 != -- ]]; do
        look+=("$1")
        shift
    done
    shift
    if $dry_run; then
        printf '%s >/dev/null 2>&1 || %s\n' "$(show "${look[@]}")" "$(show "$@")"
    elif ! "${look[@]}" >/dev/null 2>&1; then
        run "$@"
    fi
}

# remember NAME COMMAND...: what the command prints, in a variable. Of a dry run the variable is its own name.
remember() {
    local name=$1 value="\$$1"
    shift
    # shellcheck disable=SC2016  # printed for another shell to run
    if $dry_run; then printf '%s=$(%s)\n' "$name" "$(show "$@")"; else
        value=$("$@") && [[ $value ]] || fail "nothing came of: $(show "$@")" "it is needed to go on"
    fi
    printf -v "$name" '%s' "$value"
}

# A service account that was made a moment ago is not known everywhere at once.
bind() {
    local try
    for try in 1 2 3 4; do
        if run "$@" --format=none; then return; fi
        printf 'deploy.sh: try %s failed, again in 10 s\n' "$try" >&2
        sleep 10
    done
    run "$@" --format=none
}

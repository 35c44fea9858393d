#!/bin/sh
# Prints the path of promtool, the rule checker of Prometheus; where none is installed, it is taken out of Debian's
# package `prometheus` into the user's cache. Nothing is installed or started. Refuses, with a reason, where there is
# neither promtool nor apt-get.
set -eu

if command -v promtool; then
    exit 0
fi
cache=${XDG_CACHE_HOME:-$HOME/.cache}/conversation-memory/promtool
if [ ! -x "$cache/promtool" ]; then
    if ! command -v apt-get >/dev/null || ! command -v dpkg >/dev/null; then
        echo "no promtool, and no apt-get to take it from Debian's package prometheus: install Prometheus" >&2
        exit 1
    fi
    mkdir -p "$cache"
    work=$(mktemp -d "$cache/new.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    # apt's own user cannot write there, and says so; it downloads all the same.
    if ! (cd "$work" && apt-get -qq download prometheus 2>apt.log && dpkg -x prometheus_*.deb out); then
        echo "apt-get download prometheus failed; as root apt-get update may help" >&2
        cat "$work/apt.log" >&2
        exit 1
    fi
    # Moved at the end: what is there is whole, whoever else does the same meanwhile.
    mv "$work/out/usr/bin/promtool" "$cache/promtool"
fi
echo "$cache/promtool"

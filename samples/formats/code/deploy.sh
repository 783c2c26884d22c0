#!/bin/bash
# Copies a site to its server.
set -euo pipefail

target=${1:?a server is missing}

# Compares before it copies.
copy_site() {
    rsync --archive --delete site/ "$target:/srv/site/"
}

function check { curl --fail "https://$target/"; }

copy_site
check

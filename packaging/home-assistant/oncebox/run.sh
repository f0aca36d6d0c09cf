#!/bin/sh
# Starts the server with the options of the add-on as settings.
set -eu
settings=$(jq --raw-output 'to_entries[] | select(.value != "") | "ONCEBOX_\(.key | ascii_upcase)=\(.value)"' /data/options.json)
while IFS= read -r setting; do
  if [ -n "$setting" ]; then export "${setting?}"; fi
done <<END
$settings
END

# Until there is an administrator, the server keeps a link for the first one in a file. An add-on has no other screen than
# its log, which only administrators of Home Assistant can read.
show_link() {
  for _ in $(seq 30); do
    sleep 1
    if [ -e "$ONCEBOX_DATA_DIR/setup-link" ]; then exec cat "$ONCEBOX_DATA_DIR/setup-link"; fi
  done
}
show_link &
exec oncebox serve

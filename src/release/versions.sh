#!/usr/bin/env bash
# Runs each row of versions.csv with each of its versions, or only the rows that contain a word: src/release/versions.sh PostgreSQL.
# A row of verify has the version of the POM, with which mvn verify runs all tests. The rows of Quarkus need the library
# in the local repository, as README installs it.
set -euo pipefail
cd "$(dirname "$0")/../.."

mvn -B -ntp -q test-compile
failed=0
while IFS=';' read -r what versions command; do
  if [ "$command" != verify ]; then
    for version in $versions; do
      echo "$what $version"
      bash -c "${command//VERSION/$version}" < /dev/null || { echo "$what $version failed" >&2; failed=1; }
    done
  fi
done < <(tail -n +2 src/release/versions.csv | grep -F -e "${1:-;}")
exit "$failed"

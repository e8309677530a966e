#!/usr/bin/env bash
# Sets the version of the build, of the samples and of the documents: src/release/version.sh 0.1.0, and after the
# release src/release/version.sh 0.2.0-SNAPSHOT. A release also dates the changelog and the archives. The script commits
# nothing.
set -euo pipefail
cd "$(dirname "$0")/../.."

refuse() {
  echo "$1" >&2
  exit 1
}
# Numbers of equal width, so that they are compared as text.
ordered() {
  printf '%05d.%05d.%05d' $(echo "${1%-SNAPSHOT}" | tr . ' ')
}

new=${1:-}
number='(0|[1-9][0-9]{0,4})'
[[ $new =~ ^$number\.$number\.$number(-SNAPSHOT)?$ ]] || refuse "Usage: $0 1.2.3, or $0 1.2.3-SNAPSHOT"
[ -z "$(git status --porcelain)" ] || refuse 'Commit or remove your changes first: git status names them.'
old=$(sed -n 's#^  <version>\(.*\)</version>$#\1#p' pom.xml)
case $old:$new in
  *-SNAPSHOT:*-SNAPSHOT) refuse "$old is a snapshot: only a release follows it." ;;
  *-SNAPSHOT:*) [[ ! $(ordered "$new") < $(ordered "$old") ]] || refuse "$new is older than $old." ;;
  *:*-SNAPSHOT) [[ $(ordered "$new") > $(ordered "$old") ]] || refuse "$new is not newer than $old." ;;
  *) refuse "$old is a release: only a snapshot follows it." ;;
esac

edit() { # file, then what sed takes; -i alone is written differently on each system
  local file=$1
  shift
  sed -i.bak "$@" "$file"
  rm "$file.bak"
}
is=${old//./\\.}
git grep -lF "$old" -- '*pom.xml' '*.md' ':!CHANGELOG.md' ':!src/docs/decisions' | while read -r file; do
  edit "$file" -e "/<artifactId>keepsake4j</,/<\/version>/s#<version>$is</version>#<version>$new</version>#" \
    -e "s#\(<keepsake[0-9a-z]*\.version>\)$is<#\1$new<#" -e "s#:keepsake4j:$is\([^0-9A-Za-z.-]\)#:keepsake4j:$new\1#g" -e "s#version $is,#version $new,#"
done

if [[ $new == *-SNAPSHOT ]]; then
  awk '/^## / && !done { print "## [Unreleased]\n"; done = 1 } { print }' CHANGELOG.md > CHANGELOG.md.new
  mv CHANGELOG.md.new CHANGELOG.md
  follows="  git commit -am 'Back to work: $new'"
else
  today=$(date -u +%Y-%m-%d)
  grep -q '^## \[Unreleased\]$' CHANGELOG.md || { git checkout -q .; refuse 'CHANGELOG.md has no "## [Unreleased]".'; }
  edit CHANGELOG.md "s/^## \[Unreleased\]$/## $new ($today)/"
  edit pom.xml "s#\(<project.build.outputTimestamp>\).*\(</\)#\1${today}T00:00:00Z\2#"
  follows="  git commit -am 'Release $new' && git tag -a v$new -m 'Release $new'
  src/release/release.sh                              # from 0.2.0 on with -Dlast.release=the last release's jar
  java src/release/CheckRelease.java target/release   # then upload target/central-bundle.zip, and keep the jar
  $0 $(echo "$new" | awk -F. '{ print $1 "." $2 + 1 ".0-SNAPSHOT" }')"
fi
git --no-pager diff --stat
git grep -nF "$old" -- ':!CHANGELOG.md' ':!src/docs/decisions' | sed 's/^/still there: /' || true
printf 'Next:\n%s\n' "$follows"

#!/usr/bin/env bash
# Proves that the committed state can be released, on copies and with a key that is thrown away; nothing is uploaded or
# installed. Arguments go to Maven, for example -Dlast.release=the last release's jar.
#
# - version.sh sets the version, and refuses wrong ones.
# - The release is built twice, in two folders, zones and languages: jars, POM and SBOM are the same bytes.
# - It has all that Maven Central asks for, and each planted fault is found.
# - A new user with an empty local repository builds the sample with it, and it runs on the module path.
set -euo pipefail
cd "$(dirname "$0")/../.."
PATH=${JAVA_HOME:+$JAVA_HOME/bin:}$PATH
# Archives hold the permissions of files.
umask 022

for tool in git javac mvn gpg; do
  command -v "$tool" > /dev/null || { echo "$tool is missing: a release is made with it." >&2; exit 1; }
done
work=$(mktemp -d "${TMPDIR:-/tmp}/release.XXXXXX")
export GNUPGHOME=$work/gnupg MAVEN_GPG_PASSPHRASE=throw-away
trap 'gpgconf --kill gpg-agent; rm -rf "$work"' EXIT
mkdir -m 700 "$GNUPGHOME"
gpg --batch --quiet --pinentry-mode loopback --passphrase "$MAVEN_GPG_PASSPHRASE" \
  --quick-generate-key 'A key that is thrown away <releases@example.com>' 2> /dev/null

step() {
  printf '%4d s  %s\n' "$SECONDS" "$1"
}
# Runs a command that must fail: the expected message, then the command.
red() {
  if "${@:2}" > "$work/red.log" 2>&1 || ! grep -qF -- "$1" "$work/red.log"; then
    tail -40 "$work/red.log" >&2
    echo "Not found: $1" >&2
    exit 1
  fi
  step "found: $1"
}
# Runs a command that must succeed, and shows its output only if it fails.
green() {
  "$@" > "$work/green.log" 2>&1 || { tail -60 "$work/green.log" >&2; exit 1; }
}
# The version of a checkout.
version() {
  sed -n 's#^  <version>\(.*\)</version>$#\1#p' "$1/pom.xml"
}
commit() {
  git -C "$1" -c user.name=release -c user.email=releases@example.com commit -qam "$2"
}

first=$work/first
second=$work/another/second
git clone -q . "$first"
version=$(version .)
if [[ $version == *-SNAPSHOT ]]; then
  red 'A snapshot is not released' "$first/src/release/release.sh"
  red 'Usage' "$first/src/release/version.sh" 1.0
  red 'Usage' "$first/src/release/version.sh" 1.0.0-rc1
  red 'is older than' "$first/src/release/version.sh" 0.0.0
  red 'only a release follows it' "$first/src/release/version.sh" 99.0.0-SNAPSHOT
  touch "$first/new-file"
  red 'Commit or remove your changes first' "$first/src/release/version.sh" "${version%-SNAPSHOT}"
  rm "$first/new-file"
  version=${version%-SNAPSHOT}
  green "$first/src/release/version.sh" "$version"
  commit "$first" "Release $version"
  grep -qE "^## $version \([0-9]{4}-[0-9]{2}-[0-9]{2}\)$" "$first/CHANGELOG.md"
  ! git -C "$first" grep -F "$version-SNAPSHOT" -- README.md src/docs/guide 'samples/*/pom.xml' pom.xml || exit 1
fi
git clone -q "$first" "$second"
red 'only a snapshot follows it' "$second/src/release/version.sh" 99.0.0
green "$second/src/release/version.sh" 99.0.0-SNAPSHOT
[ "$(version "$second")" = 99.0.0-SNAPSHOT ]
grep -qx '## \[Unreleased\]' "$second/CHANGELOG.md"
git -C "$second" checkout -q .

# The tests have run before; the packed files do not depend on them.
build=(src/release/release.sh -Dmaven.test.skip)
options=${JAVA_TOOL_OPTIONS:-}
(
  cd "$first"
  export TZ=Pacific/Kiritimati JAVA_TOOL_OPTIONS="$options -Duser.language=ja -Duser.country=JP"
  green "${build[@]}" "$@"
)
step 'built in Japanese, on Kiritimati'
(
  cd "$second"
  export TZ=America/St_Johns JAVA_TOOL_OPTIONS="$options -Duser.language=de -Duser.country=DE"
  green "${build[@]}" "$@"
)
step "built in German, in St. John's"

release=$first/target/release
place=io/github/keepsake4j/keepsake4j/$version/keepsake4j-$version
for end in .pom .jar -sources.jar -javadoc.jar -cyclonedx.json -cyclonedx.xml; do
  cmp "$release/$place$end" "$second/target/release/$place$end"
done
step 'the same bytes: POM, jars of classes, sources and Javadoc, both bills of materials'

check() {
  java src/release/CheckRelease.java "$1"
}
green check "$release"
green check "$second/target/release"
step "complete: $(tail -1 "$work/green.log")"

# Plants a fault in a copy of the release: the expected message, then the command that plants it, run beside the files.
faulty() {
  rm -rf "$work/faulty"
  cp -R "$release" "$work/faulty"
  (cd "$work/faulty/$(dirname "$place")" && "${@:2}")
  red "$1" check "$work/faulty"
}
change() { # a byte in the middle of a file
  printf '\377' | dd of="$1" bs=1 seek=2000 conv=notrunc 2> /dev/null
}
without() { # lines of the POM, as sed names them
  sed -i.bak "$1d" ./*.pom && rm ./*.pom.bak
}
jar=keepsake4j-$version.jar
faulty "Another content than its checksum says: $jar.sha512" change "$jar"
faulty "Another content than was signed, or an unknown key: $jar" change "$jar"
faulty "Another content than was signed, or an unknown key: $jar" cp "keepsake4j-$version.pom.asc" "$jar.asc"
faulty "Another content than its checksum says: $jar.md5" cp "keepsake4j-$version.pom.md5" "$jar.md5"
faulty "Missing: $jar.sha1" rm "$jar.sha1"
faulty "Missing: $jar.asc" rm "$jar.asc"
faulty "Missing: keepsake4j-$version-javadoc.jar" rm "keepsake4j-$version-javadoc.jar"
faulty 'POM without name' without '/^  <name>/'
faulty 'POM without description' without '/^  <description>/'
faulty 'POM without url' without '/^  <url>/'
faulty 'POM without licenses/license/name' without '/^  <licenses>/,/^  <.licenses>/'
faulty 'POM without organization/name' without '/^  <organization>/,/^  <.organization>/'
faulty 'POM without developers/developer/name' without '/^  <developers>/,/^  <.developers>/'
faulty 'POM without scm/connection' without '/^  <scm>/,/^  <.scm>/'

# A last release that had one method more, in a class of the API or in an internal one.
last_release() {
  local source=$work/last/${1##*/}
  rm -rf "$work/last"
  mkdir -p "$work/last/classes"
  sed 's/^public final class .*{$/& public static void removed() {}/' "$first/src/main/java/$1" > "$source"
  javac -nowarn -proc:none -cp "$first/target/keepsake-cli/lib/*" -d "$work/last/classes" "$source"
  cp "$release/$place.jar" "$work/last.jar"
  jar --update --file "$work/last.jar" -C "$work/last/classes" .
}
compare() {
  mvn -B -ntp -f "$first/pom.xml" jar:jar japicmp:cmp -Dlast.release="$work/last.jar"
}
last_release io/github/keepsake4j/MessageLogs.java
red 'removed():METHOD_REMOVED' compare
last_release io/github/keepsake4j/base/SmallFiles.java
green compare
step 'no fault: a method removed from an internal package'

user=$work/user
cp -R "$first/samples/modules" "$user"
repository="<repository><id>release</id><url>file://$release</url></repository>"
sed -i.bak "s#^  <dependencies>#  <repositories>$repository</repositories>&#" "$user/pom.xml"
green mvn -B -ntp -f "$user/pom.xml" -Dmaven.repo.local="$work/repository" package
step 'a new user has built the sample with the release'
"$user/run.sh"
step 'it remembers, on the module path'

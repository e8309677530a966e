#!/usr/bin/env bash
# Makes all that Maven Central asks for, below target/release and as target/central-bundle.zip: tests, packs and signs with
# the default key of gpg. Nothing is uploaded. Arguments go to Maven, as -Dlast.release=the last release's jar, with which
# this one is compared.
set -euo pipefail
cd "$(dirname "$0")/../.."

refuse() {
  echo "$1" >&2
  exit 1
}
version=$(sed -n 's#^  <version>\(.*\)</version>$#\1#p' pom.xml)
[[ $version != *-SNAPSHOT ]] || refuse 'A snapshot is not released: src/release/version.sh sets the version.'
case " $*" in
  *' -Dlast.release='*) compare=japicmp:cmp ;;
  *) compare='' && [ "$version" = 0.1.0 ] || refuse 'Only 0.1.0 is compared with nothing: name the last jar by -Dlast.release=' ;;
esac

# In this order: what is attached is signed and deployed. The passphrase comes from gpg's agent or the environment alone.
mvn -B -ntp clean verify source:jar-no-fork javadoc:jar org.cyclonedx:cyclonedx-maven-plugin:2.9.3:makeBom $compare \
  org.apache.maven.plugins:maven-gpg-plugin:3.2.8:sign -Dgpg.bestPractices \
  deploy:deploy -DaltDeploymentRepository="release::file://$PWD/target/release" "$@"

# The checksums that Maven writes depend on its version.
cd target/release
find . -type f ! -name '*.md5' ! -name '*.sha*' | while read -r file; do
  for algorithm in md5 sha1 sha256 sha512; do
    gpg --print-md "$algorithm" < "$file" | tr -d ' \n' | tr A-F a-f > "$file.$algorithm"
  done
done
# Maven Central makes its own lists of versions.
find . -type f ! -name 'maven-metadata*' | sort > ../central-bundle.txt
jar --create --no-manifest --file ../central-bundle.zip @../central-bundle.txt
echo "${compare:+Compared with the last release. }To be uploaded: $PWD/../central-bundle.zip"

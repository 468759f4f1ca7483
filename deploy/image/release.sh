#!/bin/sh
# Publishes the image of a version and packages the chart that installs exactly this image, both signed.
#   deploy/image/release.sh REPOSITORY VERSION [FOLDER]
# REPOSITORY is the image's, such as registry.example.com/vendor-verification; `npm run image` has built REPOSITORY:VERSION.
# The packaged chart, with the image's digest in its values, goes into FOLDER (default: the current one).
# Needs docker, cosign and helm. cosign signs without a key, with your identity, unless COSIGN_KEY names one.
set -eu
repository=$1
version=$2
folder=${3:-.}
chart=$(cd "$(dirname "$0")/../../charts/vendor-verification" && pwd)

docker push "$repository:$version"
image=$(docker inspect --format '{{range .RepoDigests}}{{println .}}{{end}}' "$repository:$version" | grep "^$repository@sha256:" | head -n 1)
cosign sign --yes ${COSIGN_KEY:+--key "$COSIGN_KEY"} "$image"

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -RL "$chart" "$copy/vendor-verification"
sed -e "s|^  repository: vendor-verification\$|  repository: $repository|" -e "s|^  digest: \"\"\$|  digest: ${image#*@}|" \
  "$chart/values.yaml" > "$copy/vendor-verification/values.yaml"
helm package "$copy/vendor-verification" --version "$version" --app-version "$version" --destination "$folder"
echo "The chart installs $image."

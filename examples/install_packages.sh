# SPDX-License-Identifier: Apache-2.0
# Sourced by quickstart.sh and tests/run.sh.

# install_packages NAME...: installs the Debian packages that are missing. Needs root only if any is.
install_packages() {
  local missing=() name
  for name in "$@"; do
    [ "$(dpkg-query --show --showformat='${db:Status-Status}' "$name" 2> /dev/null)" = installed ] || missing+=("$name")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  echo "Installing Debian packages: ${missing[*]}"
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" > /dev/null
}

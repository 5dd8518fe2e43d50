# roots.sh - roots of Debian releases beside this machine's own, made by mmdebstrap from its mirror, and commands in them. To be sourced (bash).
#     cannot_make_roots          why none can be made here, in words, or fails where they can
#     make_root RELEASE DIR      a root with apt in DIR; one that is there is used again
#     fill_root DIR              what git lists of the tree $top in DIR/src, as it is in the work tree
#     inside DIR COMMAND...      runs it in the root, in its folder /src; the network, /proc, /sys and /dev are the host's
#     version DIR PACKAGE        the upstream version of what is installed there
# shellcheck shell=bash
: "${top:=$PWD}"

cannot_make_roots() {
    if [ "$(id -u)" != 0 ]; then
        echo "a root is made by root"
    elif ! command -v mmdebstrap >/dev/null; then
        echo "mmdebstrap is not installed"
    else
        return 1
    fi
}

mirror() {
    local uri

    uri=$(sed -n 's/^URIs: *//p' /etc/apt/sources.list.d/*.sources 2>/dev/null | head -n 1)
    [ -n "$uri" ] || uri=$(awk '$1 == "deb" { for (i = 2; i <= NF; i++) if ($i ~ /^[a-z]+:/) { print $i; exit } }' /etc/apt/sources.list)
    echo "${uri%% *}"
}

# A mirror's copy of unstable may be older than its validity.
make_root() { # RELEASE DIR
    [ ! -e "$2/usr/bin/apt-get" ] || return 0
    rm -rf "$2" && mkdir -p "$(dirname "$2")"
    mmdebstrap --quiet --variant=apt --mode=root --aptopt='Acquire::Check-Valid-Until "false"' \
        --include=ca-certificates,mount,procps,iproute2 "$1" "$2" \
        "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(mirror) $1 main" || return 1
    [ -e "$2/etc/hosts" ] || echo '127.0.0.1 localhost' >"$2/etc/hosts"
    echo 'Acquire::Check-Valid-Until "false";' >"$2/etc/apt/apt.conf.d/99valid"
    cp /etc/apt/apt.conf.d/*proxy* "$2/etc/apt/apt.conf.d/" 2>/dev/null
    return 0
}

fill_root() { # DIR
    rm -rf "${1:?}/src" && mkdir -p "$1/src" &&
        git -C "$top" ls-files -z | tar -C "$top" --null -T - -cf - | tar -C "$1/src" -xf -
}

# In a mount namespace of its own, by pivot_root: what is only chrooted cannot unshare, which the private cluster does.
inside() { # DIR COMMAND...
    unshare --mount --propagation private bash -euc '
        dir=$1; shift
        mount --bind "$dir" "$dir"; cd "$dir"
        cp /etc/resolv.conf etc/resolv.conf 2>/dev/null || true
        mount --rbind /proc proc; mount --rbind /sys sys; mount --rbind /dev dev
        mkdir -p .host; pivot_root . .host; cd /src
        umount -l /.host
        export HOME=/root DEBIAN_FRONTEND=noninteractive CCACHE_NOHASHDIR=1 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
        unset TMPDIR
        exec "$@"' roots "$(readlink -f "$1")" "${@:2}"
}

version() { inside "$1" dpkg-query -W -f '${Version}' "$2" 2>/dev/null | sed 's/^[0-9]*://; s/[-+~].*//'; }

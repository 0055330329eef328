#!/bin/sh
# What desktops and software centres read of data/ is valid.
set -u
cd "$(dirname "$0")/../../data" || exit 1
ran=0 failed=0
if command -v desktop-file-validate >/dev/null; then
    ran=$((ran + 1))
    desktop-file-validate bilatcam.desktop || failed=1
fi
if command -v appstreamcli >/dev/null; then
    ran=$((ran + 1))
    # There is no homepage that it could name. Older versions do not mind, nor know what to say to it.
    appstreamcli validate --no-net org.bilatcam.Bilatcam.metainfo.xml >/dev/null 2>&1 ||
        appstreamcli validate --no-net --override=url-homepage-missing=info \
            org.bilatcam.Bilatcam.metainfo.xml || failed=1
fi
if [ $ran -lt 2 ] && [ $failed = 0 ]; then
    echo "skipped: desktop-file-validate or appstreamcli is not installed"
    exit 77
fi
exit $failed

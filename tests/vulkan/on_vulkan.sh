#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs a program on a device with Vulkan: the first one that the machine has, or a software driver such as lavapipe. Exits
# with 77, "skipped", if there is none. The results of trials and the pipelines are kept in the current folder.
# usage: on_vulkan.sh PLUGIN DEVICE_CONFORMANCE PROGRAM [argument ...]
set -euo pipefail
export ANYDML_PLUGINS ANYDML_ADAPTER=vulkan ANYDML_VULKAN_CACHE=$PWD/vulkan_cache
ANYDML_PLUGINS=$(dirname "$1")
if ! why=$("$2" --describe --plugin "$1" 2>&1); then
  echo "skipped: $why"
  exit 77
fi
shift 2
exec "$@"

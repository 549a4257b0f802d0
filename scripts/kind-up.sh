#!/bin/sh
# A kind cluster for development: the image as it was built last, the operator, the sample. Run it again after an edit.
set -eu
cd "$(dirname "$0")/.."
: "${IMAGE:?is the image to load: make kind-up sets it}"
CLUSTER="${CLUSTER:-queuebox}"
kubectl() { command kubectl --context "kind-$CLUSTER" "$@"; } # never the cluster that happens to be chosen

kind get clusters | grep -qx "$CLUSTER" || kind create cluster --name "$CLUSTER" --wait 2m
kind load docker-image "$IMAGE" --name "$CLUSTER"

kubectl apply --server-side -f crds/
kubectl wait --for=condition=Established -f crds/ --timeout=60s
kubectl apply --server-side -k manifests/overlays/cluster-wide
# The tag stays the same from build to build, so what runs already has to be told.
kubectl -n queuebox-system rollout restart deployment/queuebox-operator
kubectl -n queuebox-system rollout status deployment/queuebox-operator --timeout=2m

kubectl apply -k manifests/samples/shop
kubectl -n shop delete pods -l app.kubernetes.io/name=queuebox-agent
kubectl -n shop wait queuebox/shop --for=condition=Ready --timeout=3m
kubectl -n shop get queuebox

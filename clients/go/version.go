package vidscore

// Version is the version of this client; it is that of the server of the same release.
const Version = "0.1.0"

// versionKey is the metadata by which a server knows whether it is too far from this client.
const versionKey = "vidscore-client-version"

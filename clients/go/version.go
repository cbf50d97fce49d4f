package vidscore

// Version is the version of this client; it is that of the server of the same release.
const Version = "0.1.0"

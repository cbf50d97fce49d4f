/** Certificate files, read and checked when a client is created. */

import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import { InputError } from "./errors.js";
import type { Tls } from "./settings.js";

/** What Node.js takes instead of files. */
export interface Certificates {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** @throws InputError if a file cannot be read or is invalid, or a certificate or key is alone. */
export function readCertificates(tls: Tls): Certificates {
  if ((tls.certificate === undefined) !== (tls.privateKey === undefined)) {
    const missing = tls.certificate === undefined ? "certificate" : "privateKey";
    throw new InputError(missing, "none", "certificate and privateKey together, or neither");
  }
  const ca = read("rootCertificates", tls);
  const cert = read("certificate", tls);
  const key = read("privateKey", tls);
  if (ca !== undefined) {
    check("rootCertificates", `${tls.rootCertificates}`, () => new X509Certificate(ca));
  }
  if (cert !== undefined && key !== undefined) {
    const files = `${tls.certificate} and ${tls.privateKey}`;
    check("certificate", files, () => createSecureContext({ cert, key }));
  }
  return {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
  };
}

function read(
  name: "rootCertificates" | "certificate" | "privateKey",
  tls: Tls,
): string | undefined {
  const path = tls[name];
  if (path === undefined) {
    return undefined;
  }
  try {
    return readFileSync(path, "utf8");
  } catch (thrown) {
    throw new InputError(name, `${path}: ${reason(thrown)}`, "a PEM file");
  }
}

function check(name: string, files: string, parse: () => unknown): void {
  try {
    parse();
  } catch (thrown) {
    throw new InputError(name, `${files}: ${reason(thrown)}`, "PEM of a certificate, and its key");
  }
}

function reason(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

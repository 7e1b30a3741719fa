import { type Certificate, createSelfSignedCertificate } from "../../../server/http/self-signed-certificate.ts";

/** Creates a self-signed certificate for a host name and its direct subdomains. */
export function createCertificate(host: string): Certificate {
  return createSelfSignedCertificate([host, `*.${host}`]);
}

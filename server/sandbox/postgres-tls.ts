import { writeFile } from "node:fs/promises";
import type { Socket } from "node:net";
import path from "node:path";
import { createSecureContext, type SecureContext, TLSSocket } from "node:tls";
import { type Certificate, createSelfSignedCertificate } from "../http/self-signed-certificate.ts";

/** The message SSLRequest of the protocol of PostgreSQL: its length and its code. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);

let certificate: Certificate | undefined;
let context: SecureContext | undefined;

const ownCertificate = (): Certificate => (certificate ??= createSelfSignedCertificate(["localhost", "127.0.0.1"]));

/** Writes the certificate of the databases in sandboxes, for clients that verify it. Each process of the service has its own. */
export async function writePostgresCertificate(folder: string): Promise<string> {
  const file = path.join(folder, "postgresql.pem");
  await writeFile(file, ownCertificate().cert, { mode: 0o644 });
  return file;
}

/**
 * Begins TLS if a PostgreSQL client requests it. A PostgreSQL server has no TLS on unix sockets, but many apps require it.
 *
 * @param first - what the client has sent
 * @returns the socket from which the messages of the client are read
 */
export function acceptPostgresTls(client: Socket, first: Buffer): Socket {
  // With more bytes than the request, the rest would not be encrypted.
  if (!first.equals(SSL_REQUEST)) {
    client.unshift(first);
    return client;
  }
  context ??= createSecureContext(ownCertificate());
  client.write("S");
  return new TLSSocket(client, { isServer: true, secureContext: context });
}

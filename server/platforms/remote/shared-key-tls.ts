import { hkdfSync } from "node:crypto";
import type { TlsOptions, ConnectionOptions } from "node:tls";

const IDENTITY = "service";
/** With a Diffie-Hellman exchange, so that a key that leaks later does not decrypt earlier connections. */
const CIPHERS = { ciphers: "ECDHE-PSK-CHACHA20-POLY1305", minVersion: "TLSv1.2", maxVersion: "TLSv1.2" } as const;

/**
 * Returns the options of TLS between processes of one installation (RFC 5489). Both sides prove that they have the secret, so
 * neither needs a certificate. Node.js has no pre-shared keys for TLS 1.3.
 *
 * @param tokenSecret - the `TOKEN_SECRET` of the installation; the key is derived from it
 */
export function sharedKeyTls(tokenSecret: string): { server: TlsOptions; client: ConnectionOptions } {
  const psk = Buffer.from(hkdfSync("sha256", tokenSecret, "", "internal connections", 32));
  return {
    server: { ...CIPHERS, pskCallback: (_socket, identity) => (identity === IDENTITY ? psk : null) },
    client: {
      ...CIPHERS,
      pskCallback: () => ({ psk, identity: IDENTITY }),
      // The key proves who the server is.
      checkServerIdentity: () => undefined,
    },
  };
}

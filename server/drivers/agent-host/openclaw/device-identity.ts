import { createHash, createPrivateKey, createPublicKey, hkdfSync, type KeyObject, sign } from "node:crypto";

/** What a device proves with its signature. */
export interface DeviceClaim {
  clientId: string;
  clientMode: string;
  role: string;
  scopes: readonly string[];
  token: string;
  platform: string;
  /** Of the challenge of the gateway. */
  nonce: string;
  signedAtMs: number;
}

export interface SignedDevice {
  id: string;
  publicKey: string;
  signature: string;
  signedAt: number;
  nonce: string;
}

/** The first bytes of every Ed25519 private key in PKCS #8 (RFC 8410). The 32 bytes of the key follow. */
const PKCS8_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");
const RAW_KEY_BYTES = 32;

/**
 * Identifies the service to a gateway as a device. Gateways that are not on a loopback address require it, and their operator
 * approves it once. The key is derived from `TOKEN_SECRET` and the id of the server, so nothing has to be stored.
 */
export class DeviceIdentity {
  readonly id: string;
  readonly #privateKey: KeyObject;
  readonly #publicKey: string;

  constructor(tokenSecret: string, serverId: string) {
    const seed = Buffer.from(hkdfSync("sha256", tokenSecret, serverId, "openclaw-device", RAW_KEY_BYTES));
    const der = Buffer.concat([PKCS8_PREFIX, seed]);
    this.#privateKey = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
    const spki = createPublicKey(this.#privateKey).export({ format: "der", type: "spki" });
    const raw = spki.subarray(-RAW_KEY_BYTES);
    this.#publicKey = raw.toString("base64url");
    this.id = createHash("sha256").update(raw).digest("hex");
  }

  /** Signs the payload `v3` of the gateway protocol. The last field, the family of the device, is empty. */
  sign({ nonce, signedAtMs, ...claim }: DeviceClaim): SignedDevice {
    const who = [this.id, claim.clientId, claim.clientMode, claim.role, claim.scopes.join(",")];
    const payload = ["v3", ...who, String(signedAtMs), claim.token, nonce, claim.platform, ""].join("|");
    const signature = sign(null, Buffer.from(payload), this.#privateKey).toString("base64url");
    return { id: this.id, publicKey: this.#publicKey, signature, signedAt: signedAtMs, nonce };
  }
}

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

/** What a value is encrypted for, such as the id of its row. A value that was copied elsewhere cannot be decrypted there. */
export type CipherContext = readonly (string | boolean)[];

const ALGORITHM = "aes-256-gcm";
const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts values with AES-256-GCM and a key that is derived from `TOKEN_SECRET` for one purpose only. */
export class ValueCipher {
  readonly #key: Buffer;

  constructor(tokenSecret: string, purpose: string) {
    this.#key = Buffer.from(hkdfSync("sha256", tokenSecret, "", purpose, 32));
  }

  /** Returns base64 of: version, nonce, ciphertext, tag. The result differs for each call. */
  seal(value: string, context: CipherContext): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.#key, nonce).setAAD(additionalData(context));
    const encrypted = [cipher.update(value, "utf8"), cipher.final()];
    return Buffer.concat([Buffer.of(VERSION), nonce, ...encrypted, cipher.getAuthTag()]).toString("base64");
  }

  /** Returns `null` for a value that was encrypted with another key or for another context, or that is damaged. */
  open(sealed: string, context: CipherContext): string | null {
    const bytes = Buffer.from(sealed, "base64");
    if (bytes[0] !== VERSION || bytes.length < 1 + NONCE_BYTES + TAG_BYTES) return null;
    const nonce = bytes.subarray(1, 1 + NONCE_BYTES);
    const decipher = createDecipheriv(ALGORITHM, this.#key, nonce, { authTagLength: TAG_BYTES })
      .setAAD(additionalData(context))
      .setAuthTag(bytes.subarray(-TAG_BYTES));
    const decrypted = decipher.update(bytes.subarray(1 + NONCE_BYTES, -TAG_BYTES));
    try {
      return Buffer.concat([decrypted, decipher.final()]).toString("utf8");
    } catch {
      return null;
    }
  }
}

function additionalData(context: CipherContext): Buffer {
  return Buffer.from(JSON.stringify(context));
}

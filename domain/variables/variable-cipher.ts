import { ValueCipher } from "../shared/value-cipher.ts";

/** What a value is encrypted for. A value that was copied to another row cannot be decrypted there. */
export interface ValueContext {
  appId: string;
  name: string;
  isSecret: boolean;
}

/** Encrypts the values of variables with a key of their own. */
export class VariableCipher {
  readonly #cipher: ValueCipher;

  constructor(tokenSecret: string) {
    this.#cipher = new ValueCipher(tokenSecret, "app-variables");
  }

  /** The result differs for each call. */
  seal(value: string, { appId, name, isSecret }: ValueContext): string {
    return this.#cipher.seal(value, [appId, name, isSecret]);
  }

  /** Returns `null` for a value that was encrypted with another key or for another context, or that is damaged. */
  open(sealed: string, { appId, name, isSecret }: ValueContext): string | null {
    return this.#cipher.open(sealed, [appId, name, isSecret]);
  }
}

import type { AppVariables } from "../ports/app-variables.ts";

/** The texts that the log and the errors of a deployment must not contain. */
export class LogMasks {
  /** The list grows, so that it contains secrets that were set while the deployment runs. */
  readonly texts: string[];
  readonly #variables: AppVariables;
  readonly #appId: string;

  constructor(texts: readonly string[], variables: AppVariables, appId: string) {
    this.texts = [...texts];
    this.#variables = variables;
    this.#appId = appId;
  }

  /**
   * Adds the secrets that the app has now.
   *
   * @throws {UnreadableVariable}
   */
  async refresh(): Promise<void> {
    const { masks } = await this.#variables.read(this.#appId);
    const added = masks.filter((text) => !this.texts.includes(text));
    // The longest first, because a secret can contain another one.
    this.texts.push(...added);
    this.texts.sort((a, b) => b.length - a.length);
  }
}

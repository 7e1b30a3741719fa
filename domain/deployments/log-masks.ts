import type { AppVariables } from "../ports/app-variables.ts";

/** The texts that the log and the errors of a deployment must not contain. */
export class LogMasks {
  /** The list grows, so that it contains secrets that were set while the deployment runs. */
  readonly texts: string[];
  readonly #variables: AppVariables;
  readonly #appIds: string[];

  constructor(texts: readonly string[], variables: AppVariables, appId: string) {
    this.texts = [...texts];
    this.#variables = variables;
    this.#appIds = [appId];
  }

  /**
   * Adds the secrets of another app, whose builds can have written them into the deployed code.
   *
   * @throws {UnreadableVariable}
   */
  async include(appId: string): Promise<void> {
    this.#appIds.push(appId);
    await this.refresh();
  }

  /**
   * Adds the secrets that the app has now.
   *
   * @throws {UnreadableVariable}
   */
  async refresh(): Promise<void> {
    const sets = await Promise.all(this.#appIds.map((appId) => this.#variables.read(appId)));
    const added = [...new Set(sets.flatMap(({ masks }) => masks))].filter((text) => !this.texts.includes(text));
    // The longest first, because a secret can contain another one.
    this.texts.push(...added);
    this.texts.sort((a, b) => b.length - a.length);
  }
}

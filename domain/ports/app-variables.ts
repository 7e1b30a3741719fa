import type { BuildRegistry } from "./bundler.ts";

/** The variables with which the script of an app runs. */
export interface VariableSet {
  /** Grows with every change of the app's variables. */
  version: number;
  values: Readonly<Record<string, string>>;
  /** The texts that a log of the app must not contain: its secret values, also in the encodings that programs print. */
  masks: readonly string[];
}

/** Reads the variables of apps. An edge platform reads them whenever it starts a script, so that it stores none. */
export interface AppVariables {
  /**
   * Returns the newest variables of an app; none for an unknown app.
   *
   * @throws {UnreadableVariable} when a value cannot be decrypted
   */
  read(appId: string): Promise<VariableSet>;
}

/** Reads the variables that builds get. */
export interface BuildVariables {
  /** @throws {UnreadableVariable} */
  readForBuild(appId: string): Promise<Record<string, string>>;

  /**
   * Returns the private registry whose packages the builds of an app get; `null` if it has none.
   *
   * @throws {UnreadableVariable}
   * @throws {BuildFailure} `user` when the variables of the registry are not valid
   */
  readRegistry(appId: string): Promise<BuildRegistry | null>;
}

/** A stored value cannot be decrypted: it was stored with another `TOKEN_SECRET`, or changed in the database. */
export class UnreadableVariable extends Error {
  override readonly name = "UnreadableVariable";
  readonly variable: string;

  constructor(variable: string) {
    super(`The variable "${variable}" cannot be decrypted. Set its value again.`);
    this.variable = variable;
  }
}

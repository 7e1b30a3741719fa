import type { AppVariables, VariableSet } from "../../../domain/ports/app-variables.ts";
import { secretMasks } from "../../../domain/shared/secret-masks.ts";

/** The variables of apps in memory, for tests of an edge platform without a database. */
export class TestVariables implements AppVariables {
  readonly #apps = new Map<string, VariableSet>();

  /** Replaces all variables of an app, which are secrets. */
  set(appId: string, values: Record<string, string>): void {
    this.#apps.set(appId, {
      version: (this.#apps.get(appId)?.version ?? 0) + 1,
      values,
      masks: secretMasks(Object.values(values)),
    });
  }

  async read(appId: string): Promise<VariableSet> {
    return this.#apps.get(appId) ?? { version: 0, values: {}, masks: [] };
  }
}

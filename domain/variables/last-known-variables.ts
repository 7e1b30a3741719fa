import { LRUCache } from "lru-cache";
import type { AppVariables, VariableSet } from "../ports/app-variables.ts";
import { translateDatabaseOutage } from "../shared/database-outage.ts";
import { ServiceError } from "../shared/errors.ts";

const MAX_BYTES = 32 * 1024 * 1024;

/**
 * Reads variables, and keeps those of recently started apps in memory, so that these apps start while the database is
 * down. They are never older than the database, which cannot change then.
 */
export class LastKnownVariables implements AppVariables {
  readonly #variables: AppVariables;
  readonly #lastKnown = new LRUCache<string, VariableSet>({ maxSize: MAX_BYTES, sizeCalculation: sizeOf });

  constructor(variables: AppVariables) {
    this.#variables = variables;
  }

  async read(appId: string): Promise<VariableSet> {
    try {
      const newest = await this.#variables.read(appId);
      this.#lastKnown.set(appId, newest);
      return newest;
    } catch (error) {
      const isOutage = translateDatabaseOutage(error) instanceof ServiceError;
      const known = isOutage ? this.#lastKnown.get(appId) : undefined;
      if (known === undefined) throw error;
      return known;
    }
  }
}

function sizeOf({ values, masks }: VariableSet): number {
  const texts = [...Object.entries(values).flat(), ...masks];
  return 100 + texts.reduce((total, text) => total + text.length, 0);
}

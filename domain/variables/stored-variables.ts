import type { Db } from "../database-types.ts";
import {
  type AppVariables,
  type BuildVariables,
  UnreadableVariable,
  type VariableSet,
} from "../ports/app-variables.ts";
import type { BuildRegistry } from "../ports/bundler.ts";
import { secretMasks } from "../shared/secret-masks.ts";
import { readBuildRegistry, REGISTRY_VARIABLES } from "./build-registry.ts";
import type { VariableCipher } from "./variable-cipher.ts";

interface StoredVariable {
  name: string;
  value: string;
  isSecret: boolean;
  isForBuild: boolean;
}

/** The variables of apps in the service's database. */
export class StoredVariables implements AppVariables, BuildVariables {
  readonly #db: Db;
  readonly #cipher: VariableCipher;

  constructor(db: Db, cipher: VariableCipher) {
    this.#db = db;
    this.#cipher = cipher;
  }

  async read(appId: string): Promise<VariableSet> {
    const { version, variables } = await this.#readAll(appId);
    const secrets = variables.filter(({ isSecret }) => isSecret).map(({ value }) => value);
    return { version, values: valuesOf(variables.filter(isForApp)), masks: secretMasks(secrets) };
  }

  async readForBuild(appId: string): Promise<Record<string, string>> {
    const { variables } = await this.#readAll(appId);
    return valuesOf(variables.filter((each) => each.isForBuild && isForApp(each)));
  }

  async readRegistry(appId: string): Promise<BuildRegistry | null> {
    return readBuildRegistry((await this.#readAll(appId)).variables);
  }

  /** One query, so the version belongs to the values. */
  async #readAll(appId: string): Promise<{ version: number; variables: StoredVariable[] }> {
    const rows = await this.#db
      .selectFrom("apps")
      .leftJoin("app_variables as variable", "variable.app_id", "apps.id")
      .select([
        "apps.variables_version as version",
        "variable.name",
        "variable.sealed_value as sealedValue",
        "variable.is_secret as isSecret",
        "variable.is_for_build as isForBuild",
      ])
      .where("apps.id", "=", appId)
      .orderBy("variable.name")
      .execute();
    const variables = rows.flatMap(({ name, sealedValue, isSecret, isForBuild }) => {
      if (name === null || sealedValue === null) return [];
      const context = { appId, name, isSecret: isSecret === true };
      const value = this.#cipher.open(sealedValue, context);
      if (value === null) throw new UnreadableVariable(name);
      return [{ name, value, isSecret: isSecret === true, isForBuild: isForBuild === true }];
    });
    return { version: rows[0]?.version ?? 0, variables };
  }
}

/** The variables of the private registry are for installs only. */
function isForApp({ name }: StoredVariable): boolean {
  return name !== REGISTRY_VARIABLES.url && name !== REGISTRY_VARIABLES.token;
}

function valuesOf(variables: readonly StoredVariable[]): Record<string, string> {
  return Object.fromEntries(variables.map(({ name, value }) => [name, value]));
}

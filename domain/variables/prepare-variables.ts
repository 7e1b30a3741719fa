import type { NewVariable, StoreVariables } from "../apps/deploy-app.ts";
import { ServiceError } from "../shared/errors.ts";
import { AppVariable } from "./app-variable.entity.ts";
import { sealVariable } from "./seal-variable.ts";
import type { VariableCipher } from "./variable-cipher.ts";
import { checkName, checkTotal, checkValue, VARIABLE_LIMITS, variableSizeBytes } from "./variable-rules.ts";

/**
 * Checks the variables of an app that is about to be created. Returns a function that stores them, encrypted, in the
 * transaction that creates the app.
 *
 * @throws {ServiceError} `invalid` for a name or value that is not allowed, a name that occurs twice, or too many variables.
 *   The error contains no value.
 */
export function prepareVariables(cipher: VariableCipher, variables: readonly NewVariable[]): StoreVariables {
  checkVariables(variables);
  return (em, appId) => {
    for (const { name, value, secret: isSecret = false, build: isForBuild = false } of variables)
      em.create(AppVariable, sealVariable(cipher, { appId, name, value, isSecret, isForBuild }));
  };
}

function checkVariables(variables: readonly NewVariable[]): void {
  const { count } = VARIABLE_LIMITS;
  if (variables.length > count)
    throw new ServiceError(
      "invalid",
      `variables: contains ${variables.length}, but an app can have at most ${count} variables.`,
    );
  const names = new Set<string>();
  for (const [at, { name, value }] of variables.entries()) {
    checkName(name, `variables.${at}.name`);
    checkValue(value, `variables.${at}.value`);
    if (names.has(name))
      throw new ServiceError("invalid", `variables.${at}.name: an earlier variable has the same name. Set each once.`);
    names.add(name);
  }
  checkTotal(variables.map(variableSizeBytes));
}

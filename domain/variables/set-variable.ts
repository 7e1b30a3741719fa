import type { EntityManager } from "@mikro-orm/core";
import type { NewVariable } from "../apps/deploy-app.ts";
import type { Caller } from "../shared/caller.ts";
import { AppVariable } from "./app-variable.entity.ts";
import type { ApplyStatus } from "./apply-status.ts";
import { type ChangeDeps, changeVariables } from "./change-variables.ts";
import type { VariableCipher } from "./variable-cipher.ts";
import { sealVariable } from "./seal-variable.ts";
import { checkName, checkTotal, checkValue } from "./variable-rules.ts";
import type { VariableView } from "./variable-view.ts";

export interface SetVariableDeps extends ChangeDeps {
  variableCipher: VariableCipher;
}

export interface SetVariable extends NewVariable {
  /** The app's id. */
  id: string;
}

export type ChangedVariable = VariableView & ApplyStatus;

/**
 * Creates a variable of an app or replaces its value. A running app restarts with it. The same request again changes
 * nothing and restarts nothing.
 *
 * @throws {ServiceError} `invalid` for a name or value that is not allowed, or when the app has too many variables;
 *   `not_found` when the organization has no such app; `conflict` while it is being deleted
 */
export async function setVariable(
  deps: SetVariableDeps,
  { orgId }: Caller,
  request: SetVariable,
): Promise<ChangedVariable> {
  checkName(request.name);
  checkValue(request.value);
  let stored: AppVariable | undefined;
  const state = await changeVariables(deps, { id: request.id, orgId }, async (em) => {
    const variables = await em.find(AppVariable, { appId: request.id });
    const result = store(em, deps.variableCipher, variables, request);
    stored = result.variable;
    return result.isChanged;
  });
  if (stored === undefined) throw new Error("the transaction has committed without a variable");
  return { ...toView(stored, request.value), ...state };
}

function store(
  em: EntityManager,
  cipher: VariableCipher,
  variables: readonly AppVariable[],
  { id: appId, name, value, secret, build }: SetVariable,
): { variable: AppVariable; isChanged: boolean } {
  const existing = variables.find((variable) => variable.name === name);
  const isSecret = secret ?? existing?.isSecret ?? false;
  const isForBuild = build ?? existing?.isForBuild ?? false;
  if (existing?.isSecret === isSecret && existing.isForBuild === isForBuild)
    if (cipher.open(existing.sealedValue, existing) === value) return { variable: existing, isChanged: false };
  const fields = sealVariable(cipher, { appId, name, value, isSecret, isForBuild });
  const others = variables.filter((variable) => variable !== existing);
  checkTotal([...others, fields].map(({ sizeBytes }) => sizeBytes));
  const now = new Date();
  const variable = existing
    ? em.assign(existing, { ...fields, updatedAt: now })
    : em.create(AppVariable, { ...fields, createdAt: now, updatedAt: now });
  return { variable, isChanged: true };
}

function toView({ name, isSecret, isForBuild, createdAt, updatedAt }: AppVariable, value: string): VariableView {
  return {
    name,
    value: isSecret ? null : value,
    secret: isSecret,
    build: isForBuild,
    created_at: createdAt.toISOString(),
    updated_at: updatedAt.toISOString(),
  };
}

import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { App } from "../../../domain/apps/app.entity.ts";
import { UnreadableVariable, type VariableSet } from "../../../domain/ports/app-variables.ts";
import { NO_CONNECTION } from "../../../domain/shared/database-outage.ts";
import { AppVariable } from "../../../domain/variables/app-variable.entity.ts";
import { LastKnownVariables } from "../../../domain/variables/last-known-variables.ts";
import { StoredVariables } from "../../../domain/variables/stored-variables.ts";
import { VariableCipher } from "../../../domain/variables/variable-cipher.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
const em = () => service().service.parts.orm.em.fork();
const cipher = new VariableCipher("x".repeat(32));
const stored = () => new StoredVariables(service().service.parts.db, cipher);

async function givenApp(version: number): Promise<string> {
  const { id } = await service().givenApp(await service().tenant());
  await em().nativeUpdate(App, { id }, { variablesVersion: version });
  return id;
}

interface GivenVariable {
  name: string;
  value: string;
  isSecret?: boolean;
  isForBuild?: boolean;
}

async function givenVariable(appId: string, { name, value, isSecret = false, isForBuild = false }: GivenVariable) {
  const sealedValue = cipher.seal(value, { appId, name, isSecret });
  const now = new Date();
  await em().insert(AppVariable, {
    createdAt: now,
    updatedAt: now,
    appId,
    name,
    sealedValue,
    sizeBytes: 1,
    isSecret,
    isForBuild,
  });
}

test("an app has its own variables, of which the secrets are masked, and builds have those for builds", async () => {
  const [appId, other] = [await givenApp(7), await givenApp(1)];
  await givenVariable(appId, { name: "PLAIN", value: "shown-in-logs", isForBuild: true });
  await givenVariable(appId, { name: "API_KEY", value: "hidden-in-logs", isSecret: true });
  await givenVariable(other, { name: "OTHER", value: "another-app" });
  const { version, values, masks } = await stored().read(appId);
  expect([version, values]).toEqual([7, { API_KEY: "hidden-in-logs", PLAIN: "shown-in-logs" }]);
  expect(masks).toContain("hidden-in-logs");
  expect(masks).not.toContain("shown-in-logs");
  expect(await stored().readForBuild(appId)).toEqual({ PLAIN: "shown-in-logs" });
});

test("an app without variables has its version, and an unknown app has version 0", async () => {
  expect(await stored().read(await givenApp(3))).toStrictEqual({ version: 3, values: {}, masks: [] });
  expect(await stored().read(randomUUID())).toStrictEqual({ version: 0, values: {}, masks: [] });
});

test("a variable that cannot be decrypted is named, and none of the variables is returned", async () => {
  const appId = await givenApp(1);
  await givenVariable(appId, { name: "A", value: "readable" });
  await givenVariable(appId, { name: "B", value: "readable" });
  await em().nativeUpdate(AppVariable, { appId, name: "B" }, { isSecret: true });
  for (const read of [() => stored().read(appId), () => stored().readForBuild(appId)]) {
    const error: unknown = await read().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UnreadableVariable);
    expect(error).toMatchObject({ variable: "B" });
  }
});

const OUTAGE = Object.assign(new Error("no connection"), { code: NO_CONNECTION });

/** Variables that are read from a list of results, one after the other. */
function lastKnown(results: (VariableSet | Error)[]): LastKnownVariables {
  return new LastKnownVariables({
    read: async () => {
      const result = results.shift()!;
      if (result instanceof Error) throw result;
      return result;
    },
  });
}

const set = (version: number, value = "x"): VariableSet => ({ version, values: { A: value }, masks: [value] });

test("while the database is down, an app has the variables that were read last", async () => {
  const variables = lastKnown([set(1), set(2), OUTAGE, OUTAGE, set(3)]);
  const versions: number[] = [];
  for (let n = 0; n < 5; n++) versions.push((await variables.read("app")).version);
  expect(versions).toEqual([1, 2, 2, 2, 3]);
});

test("while the database is down, an app that was not read before has no variables, but an error", async () => {
  const variables = lastKnown([set(1), OUTAGE]);
  await variables.read("one");
  await expect(variables.read("another")).rejects.toBe(OUTAGE);
});

test("an error that is not an outage of the database is not hidden by earlier variables", async () => {
  const unreadable = new UnreadableVariable("A");
  const variables = lastKnown([set(1), unreadable]);
  await variables.read("app");
  await expect(variables.read("app")).rejects.toBe(unreadable);
});

test("up to 32 MiB of variables are kept, and those that were read least recently are dropped", async () => {
  // The value counts twice: as a value and as a mask.
  const large = set(1, "x".repeat(5 * 1024 * 1024));
  const variables = lastKnown([large, large, large, large, OUTAGE, OUTAGE]);
  for (const app of ["a", "b", "c", "d"]) await variables.read(app);
  expect((await variables.read("b")).version).toBe(1);
  await expect(variables.read("a")).rejects.toBe(OUTAGE);
});

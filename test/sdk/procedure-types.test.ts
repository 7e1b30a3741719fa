import type { inferRouterInputs, inferRouterOutputs } from "@trpc/server";
import { expect, test } from "vitest";
import { PROCEDURE_KINDS, REJECTION_CODES } from "../../clients/sdk/src/generated/procedures.ts";
import type { Input, Output } from "../../clients/sdk/src/procedure-types.ts";
import type { Procedures } from "../../clients/sdk/src/generated/procedures.ts";
import { ERROR_CODES } from "../../domain/shared/errors.ts";
import { type AppRouter, appRouter } from "../../routers/index.ts";
import type { Meta } from "../../routers/core/trpc.ts";

type Inputs = inferRouterInputs<AppRouter>;
type Outputs = inferRouterOutputs<AppRouter>;
type IsEqual<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;

/** A procedure without input accepts an empty object in the SDK. */
type RouterInput<T, S> = [T] extends [void] ? { [key: string]: never } : Known<Exclude<T, void | undefined>, S>;
/** The router accepts a number in a path as any value, which it converts. The SDK knows that it is a number. */
type Known<T, S> = { [K in keyof T]: unknown extends T[K] ? (K extends keyof S ? S[K] : never) : T[K] };

/** The procedures whose types in the SDK differ from those of the router. */
type Different = {
  [N in keyof Procedures]: DifferentIn<N, keyof Procedures[N] & keyof Inputs[N] & keyof Outputs[N]>;
}[keyof Procedures];
type DifferentIn<N extends keyof Procedures, P extends keyof Procedures[N] & keyof Inputs[N] & keyof Outputs[N]> = {
  [K in P]:
    | (IsEqual<Input<N, K>, RouterInput<Inputs[N][K], Input<N, K>>> extends true
        ? never
        : `input of ${N}.${K & string}`)
    | (IsEqual<Output<N, K>, Outputs[N][K]> extends true ? never : `output of ${N}.${K & string}`);
}[P];

/** Their outputs contain a value of an app. For tRPC, a property that can be `undefined` is optional. */
type OptionalInTrpc = `output of procedures.${"callById" | "invoke" | "list"}`;

interface RouterProcedure {
  _def: { type: "query" | "mutation"; meta?: Meta };
}

test("the types of the SDK are equal to those of the router", () => {
  // The compiler checks it: another type than `never` does not accept the value.
  const different: never[] = [] as Exclude<Different, OptionalInTrpc>[];
  expect(different).toEqual([]);
});

test("the SDK has every procedure of the router that takes JSON, of the same kind", () => {
  const routed = Object.entries(appRouter._def.procedures as unknown as Record<string, RouterProcedure>)
    .filter(
      ([
        ,
        {
          _def: { meta },
        },
      ]) => meta?.openapi?.streamedBody === undefined && meta?.openapi?.download === undefined,
    )
    .map(([path, { _def }]) => [path, _def.meta?.isRepeatable === true ? "repeatable" : _def.type]);
  const called = Object.entries(PROCEDURE_KINDS).flatMap(([namespace, kinds]) =>
    Object.entries(kinds).map(([name, kind]) => [`${namespace}.${name}`, kind]),
  );
  expect(Object.fromEntries(called)).toEqual(Object.fromEntries(routed));
  expect(REJECTION_CODES).toEqual(ERROR_CODES);
});

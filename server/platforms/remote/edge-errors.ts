import { UnreadableVariable } from "../../../domain/ports/app-variables.ts";
import {
  MissingVariables,
  NoHandler,
  NothingListens,
  ServerError,
  ServerMigrationFailed,
  StaleGeneration,
  UnhealthyScript,
  UnsupportedScript,
} from "../../../domain/ports/edge-platform.ts";
import { MigrationFailed } from "../../../domain/ports/sql-databases.ts";
import { type ErrorCode, ServiceError } from "../../../domain/shared/errors.ts";

/** An error of a port, as JSON. */
export interface EncodedError {
  name: string;
  message: string;
  code?: ErrorCode;
  printed?: readonly string[];
  variables?: readonly string[];
}

/** The edge failed in a way that its ports do not describe. Its log has the details. */
class EdgeFailure extends Error {
  override readonly name = "EdgeFailure";
}

const UNHEALTHY = [UnhealthyScript, ServerError, NothingListens, ServerMigrationFailed, UnsupportedScript, NoHandler];

/** @returns `null` for an error that no port describes */
export function encodeError(error: unknown): EncodedError | null {
  if (error instanceof MissingVariables) return { ...common(error), variables: error.variables };
  if (error instanceof UnreadableVariable) return { ...common(error), variables: [error.variable] };
  if (error instanceof UnhealthyScript) return { ...common(error), printed: error.printed };
  if (error instanceof ServiceError) return { ...common(error), code: error.code };
  const isDescribed = [StaleGeneration, MigrationFailed, TypeError].some((kind) => error instanceof kind);
  return isDescribed ? common(error as Error) : null;
}

function common({ name, message }: Error): EncodedError {
  return { name, message };
}

export function decodeError({ name, message, code, printed = [], variables = [] }: EncodedError): Error {
  if (code !== undefined) return new ServiceError(code, message);
  if (name === "MissingVariables") return new MissingVariables(variables);
  if (name === "UnreadableVariable") return new UnreadableVariable(variables[0] ?? "");
  if (name === "StaleGeneration") return new StaleGeneration(message);
  if (name === "MigrationFailed") return new MigrationFailed(message);
  // The ports throw it for arguments that no caller should send.
  if (name === "TypeError") return new TypeError(message);
  const Unhealthy = UNHEALTHY.find((kind) => kind.name === name);
  return Unhealthy === undefined ? new EdgeFailure(message) : new Unhealthy(message, { printed });
}

import type { EntryStore } from "../../../domain/ports/app-entries.ts";
import { ServiceError } from "../../../domain/shared/errors.ts";

/**
 * Finds a store among those of an app.
 *
 * @throws {ServiceError} `not_found` with the names of the stores of its kind
 */
export function findStore<Store extends EntryStore>(stores: readonly Store[], { kind, name }: EntryStore): Store {
  const found = stores.find((each) => each.kind === kind && each.name === name);
  if (found !== undefined) return found;
  const names = stores.filter((each) => each.kind === kind).map((each) => JSON.stringify(each.name));
  const known = names.length === 0 ? "It has none." : `It has ${names.join(", ")}.`;
  const noun = kind === "objects" ? "bucket" : "key-value namespace";
  throw new ServiceError("not_found", `store: the app has no such ${noun}. ${known}`);
}

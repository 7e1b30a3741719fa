import { afterAll, beforeAll } from "vitest";
import { openDatabase } from "../../../server/database/open-database.ts";
import type { Orm } from "../../../server/database/orm.ts";
import { createLogger } from "../../../server/telemetry/logger.ts";
import { createTestDatabase } from "../service/test-databases.ts";

/** Opens one database with all migrations, without a service, for all tests of a file. */
export function sharedDatabase(): () => Orm {
  const stack = new AsyncDisposableStack();
  let orm: Orm | undefined;
  beforeAll(async () => {
    const { databaseUrl } = stack.use(await createTestDatabase());
    ({ orm } = stack.use(await openDatabase({ databaseUrl, dataDirectory: "" }, createLogger("silent"))));
  });
  afterAll(() => stack.disposeAsync());
  return () => {
    if (orm === undefined) throw new Error("the database of this file has not been opened");
    return orm;
  };
}

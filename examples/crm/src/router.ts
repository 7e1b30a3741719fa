import { companies } from "./companies.ts";
import { contacts } from "./contacts.ts";
import { deals } from "./deals.ts";
import { router } from "./trpc.ts";

/** The procedures have the names `companies.list`, `deals.move` and so on. */
export const appRouter = router({ companies, contacts, deals });

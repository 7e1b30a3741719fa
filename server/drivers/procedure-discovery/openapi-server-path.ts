import type { z } from "zod";
import { serversSchema } from "./openapi-document.ts";

type Server = z.output<typeof serversSchema>[number];

/** Stands for a variable that has no value. It is not a part of any real URL. */
const UNDEFINED_VARIABLE = "service-undefined-variable";

/**
 * The path prefix of an operation: that of the first server of the first list that has one. Its host is ignored: requests
 * always go to the app itself.
 *
 * @param lists - of the operation, of its path, of the document
 * @returns `null` when the path depends on a variable without a default
 */
export function getServerPath(lists: readonly unknown[]): string | null {
  for (const list of lists) {
    const servers = serversSchema.safeParse(list).data;
    if (servers?.[0] !== undefined) return toPath(servers[0]);
  }
  return "";
}

function toPath({ url, variables = {} }: Server): string | null {
  const filled = url.replaceAll(/\{([^{}]*)\}/g, (_, name: string) => {
    const variable = Object.hasOwn(variables, name) ? variables[name] : undefined;
    return variable?.default ?? variable?.enum?.[0] ?? UNDEFINED_VARIABLE;
  });
  const afterHost = filled.replace(/^([a-z][a-z\d+.-]*:)?\/\/[^/?#]*/i, "");
  const { pathname } = new URL(`http://app.localhost/${afterHost.replace(/^\//, "")}`);
  if (pathname.includes(UNDEFINED_VARIABLE)) return null;
  return pathname.replace(/(?<!\/)\/+$/, "");
}

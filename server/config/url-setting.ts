import { z } from "zod";

/** The schema of a variable that is a URL, and of its error. */
export const url = (protocols: string[], example: string) =>
  z.string().refine((value) => protocols.includes(URL.parse(value)?.protocol ?? ""), {
    error: `must be a URL that starts with ${protocols.map((p) => `${p}//`).join(" or ")}, such as ${example}`,
  });

import { z } from "zod";

const RULE = "must be a whole number of seconds from 60 to 99999, such as 300";

/** The time between two looks for new commits of a repository. */
export const pollSeconds = z
  .string()
  .regex(/^\d{2,5}$/, RULE)
  .transform(Number)
  .refine((value) => value >= 60, RULE)
  .default(300);

import { defineEntity, p } from "@mikro-orm/core";

/** The sliding window of one rate limit, for a counter in the database. */
const RateLimitWindowSchema = defineEntity({
  name: "RateLimitWindow",
  tableName: "rate_limit_windows",
  properties: {
    key: p.string().primary(),
    /** When the counted events happened, oldest first, by the database's clock. */
    taken: p.array().columnType("timestamptz[]").$type<string[]>(),
    /** Whether the latest attempt was allowed. */
    allowed: p.boolean(),
    expiresAt: p.datetime(3),
  },
  indexes: [{ properties: ["expiresAt"] }],
});

export class RateLimitWindow extends RateLimitWindowSchema.class {}
RateLimitWindowSchema.setClass(RateLimitWindow);

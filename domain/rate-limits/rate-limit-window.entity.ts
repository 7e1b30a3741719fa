import { defineEntity, p } from "@mikro-orm/core";

const RateLimitWindowSchema = defineEntity({
  name: "RateLimitWindow",
  tableName: "rate_limit_windows",
  properties: {
    key: p.string().primary(),
    /** When the counted events happened, oldest first, by the database's clock. */
    taken: p.array().columnType("timestamptz[]").$type<string[]>(),
    /** Whether the latest attempt was let through. */
    allowed: p.boolean(),
    expiresAt: p.datetime(3),
  },
  indexes: [{ properties: ["expiresAt"] }],
});

export class RateLimitWindow extends RateLimitWindowSchema.class {}
RateLimitWindowSchema.setClass(RateLimitWindow);

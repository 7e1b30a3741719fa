import { expect, test } from "vitest";
import { validateTimeRange } from "../../../domain/audit/time-range.ts";

test("a time range is in UTC, in the years 1 to 9999, and not empty", () => {
  expect(validateTimeRange({})).toEqual({ from: undefined, to: undefined });
  expect(validateTimeRange({ from: "2026-01-01T01:00:00+01:00", to: "9999-12-31T23:59:59Z" })).toEqual({
    from: "2026-01-01T00:00:00.000Z",
    to: "9999-12-31T23:59:59.000Z",
  });
  expect(validateTimeRange({ from: "0001-01-01T00:00:00Z" }).from).toBe("0001-01-01T00:00:00.000Z");
  for (const time of ["0000-12-31T23:59:59Z", "+010000-01-01T00:00:00Z", "9999-12-31T23:59:59-01:00", "yesterday"])
    for (const name of ["from", "to"])
      expect(() => validateTimeRange({ [name]: time })).toThrow(
        expect.objectContaining({ code: "invalid", message: expect.stringMatching(`^${name}: `) }),
      );
  const moment = "2026-01-01T00:00:00Z";
  for (const from of [moment, "2026-01-01T00:00:01Z"])
    expect(() => validateTimeRange({ from, to: moment })).toThrow(expect.objectContaining({ code: "invalid" }));
});

import { expect, test } from "vitest";
import { askForName, findNearestNames } from "../../../domain/shared/nearest-names.ts";

const NAMES = [
  "service_list_apps",
  "service_list_agents",
  "service_get_app_logs",
  "service_rollback_app",
  "memory_recall",
];

test.each([
  ["list_apps", "service_list_apps"],
  ["service_list_app", "service_list_apps"],
  ["ListApps", "service_list_apps"],
  ["get_logs", "service_get_app_logs"],
  ["app_logs_get", "service_get_app_logs"],
  ["roll_back_app", "service_rollback_app"],
  ["memory.recal", "memory_recall"],
])("%s is most similar to %s", (name, nearest) => {
  expect(findNearestNames(name, NAMES)[0]).toBe(nearest);
});

test.each(["", "sing", "_", "service_", "%%%", "x".repeat(1_000_000)])("nothing is similar to %s", (name) => {
  expect(findNearestNames(name, [...NAMES, "", "日本"])).toEqual([]);
});

test("at most three names are returned, most similar first, of many and long ones", () => {
  const names = Array.from({ length: 5000 }, (_, at) => `shop-${at}_orders_list`);
  expect(findNearestNames("shop-7_order_list", names)).toHaveLength(3);
  expect(findNearestNames("shop-7_order_list", ["orders", "shop-7_orders_list"])[0]).toBe("shop-7_orders_list");
  expect(findNearestNames("配送一覧", ["配送の一覧", "請求"])).toEqual(["配送の一覧"]);
});

test("the question quotes the names", () => {
  expect(askForName([])).toBe("");
  expect(askForName(["a", 'b"'])).toBe(' Did you mean "a" or "b\\""?');
  expect(askForName(["x".repeat(1000)]).length).toBeLessThan(130);
});

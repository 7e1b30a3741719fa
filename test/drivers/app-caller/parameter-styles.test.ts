import { expect, test } from "vitest";
import type { ParameterStyle, RequestParameter } from "../../../domain/ports/procedure-discovery.ts";
import {
  writeCookieParameter,
  writeFormField,
  writeHeaderParameter,
  writePathParameter,
  writeQueryParameter,
} from "../../../server/drivers/app-caller/parameter-styles.ts";

const ARRAY = ["blue", "black", "brown"];
const OBJECT = { R: 100, G: 200, B: 150 };

/** The table "Style Examples" of OpenAPI 3.1.1. `null` marks what the table calls not applicable. */
type Row = [style: ParameterStyle, explode: boolean, empty: string, text: string, array: string, object: string];

const parameter = (
  location: RequestParameter["in"],
  style: ParameterStyle,
  explode: boolean,
  more: Partial<RequestParameter> = {},
): RequestParameter => ({ name: "color", in: location, property: "color", style, explode, ...more });

test.each<Row>([
  ["matrix", false, ";color", ";color=blue", ";color=blue,black,brown", ";color=R,100,G,200,B,150"],
  ["matrix", true, ";color", ";color=blue", ";color=blue;color=black;color=brown", ";R=100;G=200;B=150"],
  ["label", false, ".", ".blue", ".blue,black,brown", ".R,100,G,200,B,150"],
  ["label", true, ".", ".blue", ".blue.black.brown", ".R=100.G=200.B=150"],
  ["simple", false, "", "blue", "blue,black,brown", "R,100,G,200,B,150"],
  ["simple", true, "", "blue", "blue,black,brown", "R=100,G=200,B=150"],
])("a path parameter in style %s with explode %s is written as in OpenAPI", (style, explode, _empty, ...expected) => {
  const write = (value: unknown) => writePathParameter(parameter("path", style, explode), value);
  expect([write("blue"), write(ARRAY), write(OBJECT)]).toEqual(expected);
  // A value without content would leave the segment empty, so a caller gets no text instead of the one of the table.
  expect([write(""), write([]), write({})]).toEqual(["", "", ""]);
});

test.each<Row>([
  ["form", false, "color=", "color=blue", "color=blue,black,brown", "color=R,100,G,200,B,150"],
  ["form", true, "color=", "color=blue", "color=blue&color=black&color=brown", "R=100&G=200&B=150"],
  ["spaceDelimited", false, "color=", "color=blue", "color=blue%20black%20brown", "color=R%20100%20G%20200%20B%20150"],
  ["spaceDelimited", true, "color=", "color=blue", "color=blue&color=black&color=brown", "R=100&G=200&B=150"],
  ["pipeDelimited", false, "color=", "color=blue", "color=blue%7Cblack%7Cbrown", "color=R%7C100%7CG%7C200%7CB%7C150"],
  ["pipeDelimited", true, "color=", "color=blue", "color=blue&color=black&color=brown", "R=100&G=200&B=150"],
  [
    "deepObject",
    true,
    "color=",
    "color=blue",
    "color%5B%5D=blue&color%5B%5D=black&color%5B%5D=brown",
    "color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150",
  ],
])("a query parameter in style %s with explode %s is written as in OpenAPI", (style, explode, ...expected) => {
  const write = (value: unknown) => writeQueryParameter(parameter("query", style, explode), value).join("&");
  expect(["", "blue", ARRAY, OBJECT].map(write)).toEqual(expected);
  expect([write([]), write({})]).toEqual(["", ""]);
});

test.each([
  [false, "blue,black,brown", "R,100,G,200,B,150"],
  [true, "blue,black,brown", "R=100,G=200,B=150"],
])(
  "a header parameter with explode %s is written as in OpenAPI, without percent-encoding",
  (explode, array, object) => {
    const write = (value: unknown) => writeHeaderParameter(parameter("header", "simple", explode), value);
    expect(["blue", "a b/c", ARRAY, OBJECT].map(write)).toEqual(["blue", "a b/c", array, object]);
  },
);

test.each([
  [false, "color=blue,black,brown", "color=R,100,G,200,B,150"],
  [true, "color=blue; color=black; color=brown", "R=100; G=200; B=150"],
])("a cookie parameter with explode %s is written as pairs of the Cookie header", (explode, array, object) => {
  const write = (value: unknown) => writeCookieParameter(parameter("cookie", "form", explode), value).join("; ");
  expect(["a b;c", ARRAY, OBJECT].map(write)).toEqual(["color=a%20b%3Bc", array, object]);
});

test("the standard's style and explode apply to a parameter that was stored without a style", () => {
  const stored = (location: RequestParameter["in"], explode: boolean): RequestParameter => ({
    name: "color",
    in: location,
    property: "color",
    explode,
  });
  expect(writePathParameter(stored("path", false), ARRAY)).toBe("blue,black,brown");
  expect(writeQueryParameter(stored("query", true), ARRAY)).toEqual(["color=blue", "color=black", "color=brown"]);
});

test.each(["simple", "label", "matrix"] as const)("a path parameter in style %s is one encoded segment", (style) => {
  const write = (value: unknown) => writePathParameter(parameter("path", style, true), value);
  const texts = ["a/b?c#d", "%2e%2e", "a\\b", "é☕"];
  expect(texts.map((text) => decodeURIComponent(write(text)).replace(/^(\.|;color=)/, ""))).toEqual(texts);
  for (const value of [...texts, [".", "/"], { "a/b": "c;d" }]) expect(write(value)).toMatch(/^[\w.~%=,;-]+$/);
  expect(() => write("\ud800")).toThrow(URIError);
});

test("a query decodes to exactly the names and values of the input", () => {
  const written = writeQueryParameter(parameter("query", "form", true), { "a&b=": "x y+z&1=%", "ü[]": "#/?" });
  expect([...new URLSearchParams(written.join("&"))]).toEqual([
    ["a&b=", "x y+z&1=%"],
    ["ü[]", "#/?"],
  ]);
});

test("allowReserved keeps reserved characters, except those that would end the value", () => {
  const write = (value: unknown) =>
    writeQueryParameter(parameter("query", "form", false, { allowReserved: true }), value).join("&");
  expect(write("http://a/b?c=d;e,f")).toBe("color=http://a/b?c=d;e,f");
  const written = write("a&b#c+d%2Fe[f] g");
  expect(written).toBe("color=a%26b%23c%2Bd%252Fe%5Bf%5D%20g");
  expect(new URLSearchParams(written).get("color")).toBe("a&b#c+d%2Fe[f] g");
});

test("members without a value are left out, and nested values of a style without nesting are JSON", () => {
  const write = (style: ParameterStyle, value: unknown) =>
    decodeURIComponent(writeQueryParameter(parameter("query", style, true), value).join("&"));
  expect(write("form", [1, null, { a: 1 }])).toBe('color=1&color={"a":1}');
  expect(write("form", { a: null, b: [1] })).toBe("b=[1]");
  expect(write("deepObject", { a: { b: 1 }, c: [1, 2], d: [{ e: true }], f: null })).toBe(
    "color[a][b]=1&color[c][]=1&color[c][]=2&color[d][0][e]=true",
  );
});

test("a parameter with JSON content is JSON, which is ASCII in a header", () => {
  const value = { a: [1, "é☕\n"] };
  const json = { isJson: true };
  const [query = ""] = writeQueryParameter(parameter("query", "form", true, json), value);
  expect(new URLSearchParams(query).get("color")).toBe(JSON.stringify(value));
  const header = writeHeaderParameter(parameter("header", "simple", false, json), value);
  expect([header, JSON.parse(header)]).toEqual([expect.stringMatching(/^[\x20-\x7e]+$/), value]);
  expect(decodeURIComponent(writePathParameter(parameter("path", "simple", false, json), value))).toBe(
    JSON.stringify(value),
  );
});

test("a field of a form repeats its items by default, is JSON when it is an object, and follows its encoding", () => {
  const write = (field: Omit<Parameters<typeof writeFormField>[0], "name">, value: unknown) =>
    decodeURIComponent(writeFormField({ name: "f", ...field }, value).join("&"));
  expect(write({}, ["a", "b"])).toBe("f=a&f=b");
  expect(write({}, { a: 1 })).toBe('f={"a":1}');
  expect(write({}, [{ a: 1 }, { a: 2 }])).toBe('f={"a":1}&f={"a":2}');
  expect(write({ contentType: "application/json" }, ["a"])).toBe('f=["a"]');
  expect(write({ explode: false }, ["a", "b"])).toBe("f=a,b");
  expect(write({ style: "pipeDelimited" }, ["a", "b"])).toBe("f=a|b");
  expect(write({ style: "form" }, { a: 1 })).toBe("a=1");
  expect(write({ style: "deepObject" }, { a: 1 })).toBe("f[a]=1");
  expect(writeFormField({ name: "f", allowReserved: true }, "a/b c")).toEqual(["f=a/b%20c"]);
});

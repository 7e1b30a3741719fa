import { expect, test } from "vitest";
import { nameFile } from "../../../domain/knowledge-sources/read-url.ts";

test("the document of a URL is named after its host and path, and ends in the type that the host states", () => {
  const cases: [url: string, mediaType: string | null, name: string][] = [
    ["https://example.com/", "text/html", "example.com.html"],
    ["https://example.com/pricing/", "text/html", "example.com/pricing.html"],
    ["https://example.com/pricing.html", "text/html", "example.com/pricing.html"],
    ["https://example.com/list.pdf", "application/pdf", "example.com/list.pdf"],
    ["https://example.com/list.pdf", "text/html", "example.com/list.pdf.html"],
    ["https://example.com/README.md", "text/plain", "example.com/README.md"],
    ["https://example.com/README.md", "application/octet-stream", "example.com/README.md"],
    ["https://example.com/README.md", null, "example.com/README.md"],
    ["https://example.com/notes", "text/plain", "example.com/notes.txt"],
    ["https://example.com/a?id=1", "text/csv", "example.com/a?id=1.csv"],
    ["https://example.com/%C3%9Cber%20uns", "text/html", "example.com/Über uns.html"],
    ["https://example.com/a%0Ab", "text/html", "example.com/a%0Ab.html"],
    ["https://example.com/%ff", "text/html", "example.com/%ff.html"],
  ];
  for (const [url, mediaType, name] of cases) expect([url, nameFile(url, mediaType)]).toEqual([url, name]);
  const long = nameFile(`https://example.com/${"a".repeat(900)}`, "text/html");
  expect([long.length, long.endsWith("aaa.html")]).toEqual([255, true]);
});

test("a type that is not read is refused with its name", () => {
  expect(() => nameFile("https://example.com/a.png", "image/png")).toThrow(
    "states the type image/png, which is not read",
  );
  expect(() => nameFile("https://example.com/a", null)).toThrow("states no type");
  expect(() => nameFile("https://example.com/a.zip", "application/octet-stream")).toThrow("application/octet-stream");
});

import { readFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { docxFile, wordParagraph } from "../../support/documents/docx-file.ts";
import { pdfFile } from "../../../bench/support/pdf-file.ts";
import { pdfWithForm } from "../../support/documents/pdf-form.ts";
import { sharedReader } from "../../support/documents/test-reader.ts";

const reader = sharedReader();

function sample(name: string): Promise<Buffer> {
  return readFile(path.join(import.meta.dirname, "samples", name));
}

async function readSample(name: string) {
  return reader().read({ name, content: await sample(name) }, { orgId: "org-1" });
}

test("a PDF file of cairo becomes headings, paragraphs, lists and rows, without the lines of every page", async () => {
  const { title, text, mediaType } = await readSample("price-list.pdf");
  expect([title, mediaType]).toEqual(["Price list 2026", "application/pdf"]);
  expect(text.split("\n").filter((line) => line !== "")).toEqual([
    "# Price list 2026",
    "This list applies to all contracts that are signed between January and December 2026. All prices are in euros and exclude value added tax.",
    "## Subscriptions",
    "The Team plan costs 49 euros per user and month. It includes ten projects and support by email. The Business plan costs 89 euros per user and month and includes unlimited projects.",
    "| Plan | Monthly | Yearly |",
    "| Team | 49 EUR | 490 EUR |",
    "| Business | 89 EUR | 890 EUR |",
    "## Discounts",
    "Customers who pay for a year receive two months free of charge. Non-profit organizations receive a discount of 30 percent on every plan.",
    "- Discounts cannot be combined.",
    "- A sales manager approves discounts above 30 percent.",
    "## Cancellation",
    "A customer can cancel a monthly plan until the last day of the month. A yearly plan is refunded only within the first 14 days.",
  ]);
});

test("a PDF file of pdfTeX becomes headings and paragraphs", async () => {
  const { title, text } = await readSample("crazyones-pdfa.pdf");
  expect(title).toBe("The Crazy Ones");
  expect(text).toMatch(/^# The Crazy Ones\n\n## October 14, 1998\n\nHeres to the crazy ones\. The misfits\./);
});

test.each(["(anonymous)", "untitled", "Microsoft Word - offer.doc", "offer.pdf", ""])(
  "a PDF file with the generated title %j is called as its largest heading on the first page",
  async (generated) => {
    const lines = [
      { text: "Offer number 7", top: 70, size: 14 },
      { text: "Northwind Hosting", top: 110, size: 24 },
      { text: "This offer is valid for thirty days after it was sent.", top: 150 },
    ];
    const content = pdfFile([lines, [{ text: "Terms", top: 70, size: 40 }]], generated);
    expect((await reader().read({ name: "offer.pdf", content }, { orgId: "org-1" })).title).toBe("Northwind Hosting");
  },
);

test("a PDF file is called as its information says", async () => {
  const content = pdfFile([[{ text: "Offer", top: 70, size: 24 }]], "Offer 2026 (final)");
  expect((await reader().read({ name: "offer.pdf", content }, { orgId: "org-1" })).title).toBe("Offer 2026 (final)");
});

test("a Word document becomes paragraphs and the rows of its table", async () => {
  const { title, text, mediaType } = await readSample("tables.docx");
  expect([title, mediaType]).toEqual([null, expect.stringContaining("wordprocessingml.document")]);
  expect(text).toBe("Above\n\n| Top left | Top right |\n| Bottom left | Bottom right |\n\nBelow");
});

test("the first heading of a Word document is its title", async () => {
  const body = wordParagraph("Travel policy", "Heading1") + wordParagraph("Book trains &amp; hotels early.");
  expect(await reader().read({ name: "Travel.docx", content: docxFile(body) }, { orgId: "org-1" })).toMatchObject({
    text: expect.stringContaining("Book trains & hotels early."),
  });
});

test("the type of a file is found from its content, whatever its name is", async () => {
  const content = pdfFile([[{ text: "Refunds take five days.", top: 100 }]]);
  expect(await reader().read({ name: "refunds.txt", content }, { orgId: "org-1" })).toMatchObject({
    mediaType: "application/pdf",
    text: "Refunds take five days.",
  });
});

test("HTML becomes Markdown, without scripts, styles and what the page hides", async () => {
  const html = `<!doctype html><html><head><title>Refund &amp; returns</title><style>p{color:red}</style>
    <script>document.write("script")</script></head><body onload="alert(1)"><nav>Menu</nav>
    <h1>Refunds</h1><p>Refunds take <b>five</b> days.<br>Weekends do not count.</p>
    <ul><li>By card<ul><li>Visa</li></ul></li><li>By transfer</li></ul><ol><li>Ask</li><li>Wait</li></ol>
    <dl><dt>Visa</dt><dd>A card.</dd></dl><table><tr><th>Plan</th><th>Price</th></tr><tr><td>Team</td><td>49</td></tr></table>
    <pre>if (a) {\n  b\n}</pre><p hidden>hidden one</p><div style="display: none">hidden two</div>
    <p style="font-size:0">hidden three</p><template><p>hidden four</p></template><noscript>hidden five</noscript>
    <!-- hidden six --><iframe srcdoc="hidden seven"></iframe><svg><text>hidden eight</text></svg>
    <textarea>hidden nine</textarea><p>soft&shy;ware</p></body></html>`;
  expect(await reader().read({ name: "page.html", content: Buffer.from(html) }, { orgId: "org-1" })).toEqual({
    mediaType: "text/html",
    title: "Refund & returns",
    text: [
      "# Refunds",
      "",
      "Refunds take five days. Weekends do not count.",
      "",
      "- By card",
      "  - Visa",
      "- By transfer",
      "",
      "1. Ask",
      "2. Wait",
      "",
      "Visa",
      "",
      ": A card.",
      "",
      "| Plan | Price |",
      "| Team | 49 |",
      "",
      "```",
      "if (a) {",
      "  b",
      "}",
      "```",
      "",
      "software",
    ].join("\n"),
  });
});

test("of a page that marks its main content, only that is read", async () => {
  const html = `<!doctype html><html><head><title>Refunds | Example Ltd</title></head><body>
    <div class="cookies">We use cookies.</div>
    <header><a href="/">Example Ltd</a><nav><ul><li>Products</li><li>Prices</li></ul></nav></header>
    <div role="search">Search the site</div>
    <main id="content"><header><h1>Refunds</h1></header><nav aria-label="Breadcrumb">Home / Help</nav>
      <article><p>Refunds take five days.</p><aside>Bank holidays do not count.</aside>
      <footer>Valid since May.</footer></article><div role="navigation">Previous / Next</div></main>
    <aside>Related: Shipping</aside><footer>© Example Ltd. Terms. Privacy.</footer></body></html>`;
  const withRole = html.replace("<main id", '<div role=" Main" id').replace("</main>", "</div>");
  for (const page of [html, withRole])
    expect(await reader().read({ name: "refunds.html", content: Buffer.from(page) }, { orgId: "org-1" })).toMatchObject(
      {
        title: "Refunds | Example Ltd",
        text: "# Refunds\n\nRefunds take five days.\n\nBank holidays do not count.\n\nValid since May.",
      },
    );
});

test("a page without marked main content is read without its menus, and an empty main element hides nothing", async () => {
  const page = (main: string) =>
    `<body><div role="banner">Example Ltd</div>${main}<p>Refunds take five days.</p><div role="contentinfo">Terms</div></body>`;
  for (const main of ["", "<main> </main>", '<main hidden="">Old</main>']) {
    const content = Buffer.from(page(main));
    expect((await reader().read({ name: "page.html", content }, { orgId: "org-1" })).text).toBe(
      "Refunds take five days.",
    );
  }
});

test.each([
  ["UTF-8", Buffer.from("Größe: 5 €")],
  ["UTF-8 with a byte order mark", Buffer.from("\ufeffGröße: 5 €")],
  ["UTF-16, little endian", Buffer.from("\ufeffGröße: 5 €", "utf16le")],
  ["UTF-16, big endian", Buffer.from("\ufeffGröße: 5 €", "utf16le").swap16()],
  ["UTF-16 without a byte order mark", Buffer.from("Größe: 5 €", "utf16le")],
  ["Windows-1252", Buffer.from([0x47, 0x72, 0xf6, 0xdf, 0x65, 0x3a, 0x20, 0x35, 0x20, 0x80])],
])("a text in %s is decoded", async (_, content) => {
  expect((await reader().read({ name: "size.txt", content }, { orgId: "org-1" })).text).toBe("Größe: 5 €");
});

test("a page in the encoding that it declares is decoded", async () => {
  const content = Buffer.concat([Buffer.from('<meta charset="shift_jis"><p>'), Buffer.from([0x93, 0xfa, 0x96, 0x7b])]);
  expect((await reader().read({ name: "page.html", content }, { orgId: "org-1" })).text).toBe("日本");
});

test("the values of a form in a PDF file are on the lines of their fields", async () => {
  const widget = "/Type/Annot/Subtype/Widget/F 4/DA(/F1 10 Tf)";
  const content = pdfWithForm([
    `<<${widget}/FT/Tx/T(name)/V(Ada Lovelace)/Rect[200 700 400 715]>>`,
    `<<${widget}/FT/Btn/T(paid)/V/Yes/AS/Yes/MK<<>>/AP<</N<</Yes null/Off null>>>>/Rect[200 650 215 665]>>`,
    `<<${widget}/FT/Tx/T(pin)/Ff 8192/V(1234)/Rect[200 600 400 615]>>`,
  ]);
  const { text } = await reader().read({ name: "form.pdf", content }, { orgId: "org-1" });
  expect(text).toBe("Name of the customer Ada Lovelace\n\nPaid ☒\n\nPIN");
});

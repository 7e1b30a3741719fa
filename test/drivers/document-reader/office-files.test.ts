import { expect, test } from "vitest";
import { docxFile, wordParagraph } from "../../support/documents/docx-file.ts";
import { sharedReader } from "../../support/documents/test-reader.ts";
import { zipArchive } from "../../support/service/zip-archive.ts";

const reader = sharedReader();

async function read(name: string, content: Uint8Array) {
  return reader().read({ name, content }, { orgId: "org-1" });
}

async function readBody(body: string, parts: Readonly<Record<string, string>> = {}): Promise<string> {
  const extra = Object.entries(parts).map(([name, content]) => ({ name: `word/${name}.xml`, content }));
  return (await read("a.docx", docxFile(body, { extra }))).text;
}

const run = (inner: string) => `<w:r>${inner}</w:r>`;
const text = (words: string) => run(`<w:t xml:space="preserve">${words}</w:t>`);
const paragraph = (...inner: string[]) => `<w:p>${inner.join("")}</w:p>`;
const box = (inner: string) => `<w:txbxContent>${inner}</w:txbxContent>`;

test.each([
  [
    "a text box of DrawingML",
    paragraph(run(`<w:drawing><x>${box(wordParagraph("42 euros"))}</x></w:drawing>`)),
    "42 euros",
  ],
  [
    "a text box with a fallback for older programs",
    paragraph(
      run(
        `<mc:AlternateContent xmlns:mc="mc"><mc:Choice><w:drawing>${box(wordParagraph("new"))}</w:drawing></mc:Choice><mc:Fallback><w:pict>${box(wordParagraph("old"))}</w:pict></mc:Fallback></mc:AlternateContent>`,
      ),
    ),
    "new",
  ],
  [
    "a simple field",
    paragraph(text("Until "), `<w:fldSimple w:instr="DATE">${text("May")}</w:fldSimple>`),
    "Until May",
  ],
  [
    "the result of a field, not its instruction",
    paragraph(run('<w:fldChar w:fldCharType="begin"/>'), run("<w:instrText>PAGE</w:instrText>"), text("7")),
    "7",
  ],
  [
    "a ticked box",
    paragraph(run("<w:fldChar><w:ffData><w:checkBox><w:checked/></w:checkBox></w:ffData></w:fldChar>"), text("Paid")),
    "☒ Paid",
  ],
  [
    "a field that is not filled in",
    paragraph(text("Name"), `<w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr>${text(" Click")}</w:sdt>`),
    "Name",
  ],
  [
    "a reference to a note that is missing",
    paragraph(run('<w:footnoteReference w:id="5"/>'), text("keep me")),
    "keep me",
  ],
  [
    "a deleted and an inserted word",
    paragraph(`<w:del>${run("<w:delText>old</w:delText>")}</w:del>`, `<w:ins>${text("new")}</w:ins>`),
    "new",
  ],
  ["hidden text", paragraph(text("a"), run("<w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t>"), text("b")), "ab"],
  [
    "words with their pronunciation",
    paragraph(
      run("<w:ruby><w:rt><w:r><w:t>kan</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>漢</w:t></w:r></w:rubyBase></w:ruby>"),
    ),
    "漢",
  ],
  [
    "an equation",
    paragraph(
      '<m:oMath xmlns:m="m"><m:f><m:num><m:r><m:t>a+b</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f></m:oMath>',
    ),
    "(a+b)/2",
  ],
  [
    "a table of one cell",
    `<w:tbl><w:tr><w:tc>${wordParagraph("Title", "Heading2")}${wordParagraph("Text")}</w:tc></w:tr></w:tbl>`,
    "## Title\n\nText",
  ],
])("a Word document with %s is read", async (_, body, expected) => {
  expect(await readBody(body)).toBe(expected);
});

test("notes of a Word document follow the paragraph that refers to them, and comments are left out", async () => {
  const body = paragraph(
    text("Refunds"),
    run('<w:footnoteReference w:id="2"/>'),
    run('<w:commentReference w:id="1"/>'),
  );
  const footnotes = `<w:footnotes xmlns:w="w"><w:footnote w:type="separator" w:id="1">${wordParagraph("-")}</w:footnote><w:footnote w:id="2">${wordParagraph("Five days.")}</w:footnote></w:footnotes>`;
  const comments = `<w:comments xmlns:w="w"><w:comment w:id="1">${wordParagraph("Is it so?")}</w:comment></w:comments>`;
  expect(await readBody(body + wordParagraph("End."), { footnotes, comments })).toBe(
    "Refunds[1]\n\n[1] Five days.\n\nEnd.",
  );
});

test("lists and headings of a Word document have the levels of its styles, and merged cells their text", async () => {
  const styles = `<w:styles xmlns:w="w"><w:style w:styleId="berschrift2"><w:name w:val="heading 2"/></w:style><w:style w:styleId="T"><w:name w:val="Title"/></w:style></w:styles>`;
  const numbering = `<w:numbering xmlns:w="w"><w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/></w:lvl><w:lvl w:ilvl="1"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum><w:num w:numId="4"><w:abstractNumId w:val="0"/></w:num></w:numbering>`;
  const item = (level: number, words: string) =>
    paragraph(`<w:pPr><w:numPr><w:ilvl w:val="${level}"/><w:numId w:val="4"/></w:numPr></w:pPr>`, text(words));
  const cell = (words: string, properties = "") => `<w:tc><w:tcPr>${properties}</w:tcPr>${wordParagraph(words)}</w:tc>`;
  const table = `<w:tbl><w:tr><w:trPr><w:tblHeader/></w:trPr>${cell("Plan")}${cell("Per")}</w:tr><w:tr>${cell("Team", '<w:vMerge w:val="restart"/>')}${cell("month")}</w:tr><w:tr>${cell("", "<w:vMerge/>")}${cell("year")}</w:tr></w:tbl>`;
  const body =
    wordParagraph("Prices", "T") +
    wordParagraph("Steps", "berschrift2") +
    item(0, "Ask") +
    item(1, "politely") +
    item(0, "Wait") +
    table;
  const extra = [
    { name: "word/styles.xml", content: styles },
    { name: "word/numbering.xml", content: numbering },
  ];
  expect(await read("a.docx", docxFile(body, { extra }))).toMatchObject({
    title: "Prices",
    text: "# Prices\n\n## Steps\n\n1. Ask\n  - politely\n2. Wait\n\n| Plan | Per |\n| --- | --- |\n| Team | month |\n| Team | year |",
  });
});

const relations = (targets: Readonly<Record<string, string>>) =>
  `<Relationships>${Object.entries(targets)
    .map(([type, target], index) => `<Relationship Id="r${index}" Type="x/${type}" Target="${target}"/>`)
    .join("")}</Relationships>`;
const contentTypes = (type: string) => ({
  name: "[Content_Types].xml",
  content: `<Types><Override ContentType="application/vnd.openxmlformats-officedocument.${type}.main+xml"/></Types>`,
});
const core = (title: string) => ({
  name: "docProps/core.xml",
  content: `<coreProperties xmlns:dc="dc"><dc:title>${title}</dc:title></coreProperties>`,
});

test("each slide of a presentation is a section, with its table and the notes of the speaker", async () => {
  const shape = (type: string, ...lines: string[]) =>
    `<p:sp><p:nvSpPr><p:nvPr><p:ph type="${type}"/></p:nvPr></p:nvSpPr><p:txBody>${lines.map((line) => `<a:p><a:r><a:t>${line}</a:t></a:r></a:p>`).join("")}</p:txBody></p:sp>`;
  const cell = (words: string) => `<a:tc><a:txBody><a:p><a:r><a:t>${words}</a:t></a:r></a:p></a:txBody></a:tc>`;
  const table = `<p:graphicFrame><a:tbl><a:tblPr firstRow="1"/><a:tr>${cell("Plan")}${cell("Price")}</a:tr><a:tr>${cell("Team")}${cell("49")}</a:tr></a:tbl></p:graphicFrame>`;
  const slide = (inner: string, attributes = "") =>
    `<p:sld xmlns:p="p" xmlns:a="a" ${attributes}><p:cSld><p:spTree>${inner}</p:spTree></p:cSld></p:sld>`;
  const content = zipArchive([
    contentTypes("presentationml.presentation"),
    core("Prices of 2026"),
    {
      name: "ppt/presentation.xml",
      content: `<p:presentation xmlns:p="p" xmlns:r="r"><p:sldIdLst><p:sldId id="256" r:id="r0"/><p:sldId id="257" r:id="r1"/></p:sldIdLst></p:presentation>`,
    },
    {
      name: "ppt/_rels/presentation.xml.rels",
      content: relations({ slide: "slides/slide1.xml", slide2: "slides/slide2.xml" }),
    },
    {
      name: "ppt/slides/slide1.xml",
      content: slide(shape("title", "Plans") + shape("body", "One", "Two") + table + shape("sldNum", "1")),
    },
    { name: "ppt/slides/_rels/slide1.xml.rels", content: relations({ notesSlide: "../notesSlides/notes1.xml" }) },
    { name: "ppt/slides/slide2.xml", content: slide(shape("title", "Hidden"), 'show="0"') },
    {
      name: "ppt/notesSlides/notes1.xml",
      content: `<p:notes xmlns:p="p" xmlns:a="a"><p:cSld><p:spTree>${shape("body", "Say hello.")}</p:spTree></p:cSld></p:notes>`,
    },
  ]);
  expect(await read("prices.pptx", content)).toEqual({
    mediaType: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    title: "Prices of 2026",
    text: "## Plans\n\n- One\n- Two\n\n| Plan | Price |\n| --- | --- |\n| Team | 49 |\n\nSay hello.",
  });
});

/** A workbook with a sheet, the text `Plan` as shared string 0, and formats for dates and percentages. */
function workbook(rows: string, columns = ""): Buffer {
  return zipArchive([
    contentTypes("spreadsheetml.sheet"),
    core("Book1"),
    {
      name: "xl/workbook.xml",
      content: `<workbook xmlns:r="r"><sheets><sheet name="Prices" sheetId="1" r:id="r0"/><sheet name="Old" sheetId="2" state="hidden" r:id="r0"/></sheets></workbook>`,
    },
    {
      name: "xl/_rels/workbook.xml.rels",
      content: relations({
        worksheet: "worksheets/sheet1.xml",
        sharedStrings: "sharedStrings.xml",
        styles: "styles.xml",
      }),
    },
    {
      name: "xl/sharedStrings.xml",
      content: `<sst><si><r><t>Pl</t></r><r><t>an</t></r><rPh><t>reading</t></rPh></si></sst>`,
    },
    {
      name: "xl/styles.xml",
      content: `<styleSheet><numFmts><numFmt numFmtId="170" formatCode="yyyy-mm-dd"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="170"/><xf numFmtId="9"/></cellXfs></styleSheet>`,
    },
    { name: "xl/worksheets/sheet1.xml", content: `<worksheet>${columns}<sheetData>${rows}</sheetData></worksheet>` },
  ]);
}
const inline = (cell: string, words: string) => `<c r="${cell}" t="inlineStr"><is><t>${words}</t></is></c>`;

test("the sheets of a workbook become tables with the values that the program shows", async () => {
  const rows = [
    `<row r="1">${inline("A1", "Price list")}</row>`,
    `<row r="3"><c r="A3" t="s"><v>0</v></c>${inline("B3", "From")}${inline("C3", "Off")}${inline("D3", "Secret")}</row>`,
    `<row r="4">${inline("A4", "Team")}<c r="B4" s="1"><v>46023</v></c><c r="C4" s="2"><v>0.25</v></c><c r="D4"><v>1</v></c></row>`,
    `<row r="5" hidden="1">${inline("A5", "Hidden")}${inline("B5", "x")}</row>`,
  ].join("");
  expect(await read("prices.xlsx", workbook(rows, '<cols><col min="4" max="4" hidden="1"/></cols>'))).toMatchObject({
    title: null,
    text: "## Prices\n\nPrice list\n\n| Plan | From | Off |\n| --- | --- | --- |\n| Team | 2026-01-01 | 25% |",
  });
});

test("a long table names its columns again after about a thousand characters", async () => {
  const rows = Array.from({ length: 100 }, (_, n) => `Product number ${n},${n} euros`).join("\n");
  const { text: found, mediaType } = await read("prices.csv", Buffer.from(`Name,Price\n${rows}\n`));
  expect(mediaType).toBe("text/csv");
  const tables = found.split("\n\n");
  expect(tables.length).toBeGreaterThan(2);
  for (const table of tables) {
    expect(table).toMatch(/^\| Name \| Price \|\n\| --- \| --- \|\n\| Product number/);
    expect(table.length).toBeLessThan(1500);
  }
  expect(found.match(/Product number/g)).toHaveLength(100);
});

test.each([
  ["commas", 'Plan,Price\n"Team, small",49'],
  ["semicolons", 'Plan;Price\n"Team, small";49'],
  ["tabs", "Plan\tPrice\nTeam, small\t49"],
])("values with %s between them become a table", async (_, content) => {
  expect((await read("plans.csv", Buffer.from(content))).text).toBe(
    "| Plan | Price |\n| --- | --- |\n| Team, small | 49 |",
  );
});

function openDocument(type: string, body: string): Buffer {
  const content = `<office:document-content xmlns:office="o" xmlns:text="t" xmlns:table="tb" xmlns:draw="d" xmlns:presentation="p"><office:automatic-styles><style name="P1" parent-style-name="Title"/></office:automatic-styles><office:body><office:${type}>${body}</office:${type}></office:body></office:document-content>`;
  return zipArchive([
    { name: "mimetype", content: `application/vnd.oasis.opendocument.${type}` },
    { name: "content.xml", content },
  ]);
}

test("a text in the OpenDocument format becomes headings, lists, tables and notes", async () => {
  const body = `<text:p text:style-name="P1">Travel</text:p><text:h text:outline-level="2">Trains</text:h><text:p>Book<text:s/>early<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>Seven days.</text:p></text:note-body></text:note>.<office:annotation><text:p>Comment</text:p></office:annotation></text:p><text:list><text:list-item><text:p>One</text:p></text:list-item></text:list><table:table table:name="Table1"><table:table-row><table:table-cell><text:p>Class</text:p></table:table-cell><table:table-cell><text:p>Km</text:p></table:table-cell></table:table-row><table:table-row><table:table-cell table:number-columns-repeated="2"><text:p>2</text:p></table:table-cell></table:table-row></table:table>`;
  expect(await read("travel.odt", openDocument("text", body))).toEqual({
    mediaType: "application/vnd.oasis.opendocument.text",
    title: "Travel",
    text: "# Travel\n\n## Trains\n\nBook early[1].\n\n[1] Seven days.\n\n- One\n\n| Class | Km |\n| --- | --- |\n| 2 | 2 |",
  });
});

test("sheets and slides in the OpenDocument format are read", async () => {
  const sheet = `<table:table table:name="Prices"><table:table-row><table:table-cell><text:p>Plan</text:p></table:table-cell><table:table-cell><text:p>Price</text:p></table:table-cell></table:table-row><table:table-row><table:table-cell><text:p>Team</text:p></table:table-cell><table:table-cell><text:p>49</text:p></table:table-cell></table:table-row><table:table-row table:number-rows-repeated="1048574"><table:table-cell/></table:table-row></table:table>`;
  expect((await read("a.ods", openDocument("spreadsheet", sheet))).text).toBe(
    "## Prices\n\n| Plan | Price |\n| --- | --- |\n| Team | 49 |",
  );
  const slide = `<draw:page><draw:frame presentation:class="title"><draw:text-box><text:p>Hello</text:p></draw:text-box></draw:frame><draw:frame><draw:text-box><text:p>World</text:p></draw:text-box></draw:frame></draw:page>`;
  expect(await read("a.odp", openDocument("presentation", slide))).toMatchObject({
    title: "Hello",
    text: "## Hello\n\nWorld",
  });
});

test("the chapters of a book are read in their order, without its table of contents", async () => {
  const chapter = (words: string) =>
    `<html><head><title>x</title></head><body><h1>${words}</h1><p>Text of ${words}.</p></body></html>`;
  const content = zipArchive([
    { name: "mimetype", content: "application/epub+zip" },
    {
      name: "META-INF/container.xml",
      content: '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>',
    },
    {
      name: "OPS/book.opf",
      content: `<package><metadata><title>Rules</title></metadata><manifest><item id="n" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/><item id="b" href="b.xhtml" media-type="application/xhtml+xml"/><item id="a" href="a%20a.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="n"/><itemref idref="a"/><itemref idref="b"/></spine></package>`,
    },
    { name: "OPS/nav.xhtml", content: chapter("Contents") },
    { name: "OPS/a a.xhtml", content: chapter("First") },
    { name: "OPS/b.xhtml", content: chapter("Second") },
  ]);
  expect(await read("rules.epub", content)).toEqual({
    mediaType: "application/epub+zip",
    title: "Rules",
    text: "# First\n\nText of First.\n\n# Second\n\nText of Second.",
  });
});

test("bytes after the end of an archive do not damage it", async () => {
  const content = Buffer.concat([docxFile(wordParagraph("Text")), Buffer.from("\0\0\0")]);
  expect((await read("a.docx", content)).text).toBe("Text");
});

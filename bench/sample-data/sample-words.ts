/** The vocabulary of the sample apps. */
import type { ProcedureKind } from "../../domain/ports/procedure-discovery.ts";

export interface Action {
  verb: string;
  kind: ProcedureKind;
  /** At the start of a sentence, such as "Lists". */
  does: string;
  /** Within a sentence, such as "list". */
  words: string;
  /** The names of its required fields. */
  fields: readonly string[];
}

export interface Field {
  name: string;
  words: string;
  type: "string" | "integer" | "number" | "boolean";
}

const action = (verb: string, kind: ProcedureKind, does: string, words: string, ...fields: string[]): Action => ({
  verb,
  kind,
  does,
  words,
  fields,
});

export const ACTIONS: readonly Action[] = [
  action("list", "query", "Lists", "list", "limit", "cursor"),
  action("get", "query", "Gets", "read", "id"),
  action("search", "query", "Searches for", "search", "query", "limit"),
  action("count", "query", "Counts", "count"),
  action("export", "query", "Exports as a spreadsheet", "export", "format"),
  action("history", "query", "Shows who changed what and when of", "review", "id", "since"),
  action("summarize", "query", "Adds up by month", "summarize", "from", "until"),
  action("compare", "query", "Compares two versions of", "compare", "id", "version"),
  action("create", "mutation", "Creates", "create", "name"),
  action("update", "mutation", "Changes", "change", "id"),
  action("archive", "mutation", "Archives", "archive", "id"),
  action("restore", "mutation", "Brings back from the archive", "restore", "id"),
  action("remove", "mutation", "Deletes for good", "delete", "id"),
  action("assign", "mutation", "Hands over to another person", "assign", "id", "assignee"),
  action("approve", "mutation", "Approves", "approve", "id", "comment"),
  action("reject", "mutation", "Turns down, with a reason,", "reject", "id", "reason"),
  action("cancel", "mutation", "Cancels", "cancel", "id", "reason"),
  action("schedule", "mutation", "Puts on the calendar", "schedule", "id", "startsAt"),
  action("send", "mutation", "Sends by e-mail", "send", "id", "recipient"),
  action("import", "mutation", "Reads in from a file", "import", "url", "format"),
  action("duplicate", "mutation", "Makes a copy of", "copy", "id", "name"),
  action("merge", "mutation", "Joins with another of its kind", "merge", "id", "otherId"),
  action("tag", "mutation", "Puts a label on", "label", "id", "tag"),
  action("lock", "mutation", "Prevents changes of", "lock", "id"),
];

const field = (name: string, words: string, type: Field["type"] = "string"): Field => ({ name, words, type });

export const FIELDS: readonly Field[] = [
  field("id", "identifier"),
  field("otherId", "identifier of the other one"),
  field("name", "display name"),
  field("limit", "number of results", "integer"),
  field("cursor", "place to read on from"),
  field("query", "words to look for"),
  field("format", "file format"),
  field("url", "address of the file"),
  field("since", "earliest change"),
  field("from", "first day"),
  field("until", "last day"),
  field("version", "revision number", "integer"),
  field("assignee", "responsible person"),
  field("comment", "remark"),
  field("reason", "explanation"),
  field("recipient", "e-mail address"),
  field("startsAt", "start time"),
  field("endsAt", "end time"),
  field("tag", "label"),
  field("color", "color"),
  field("amountCents", "amount in cents", "integer"),
  field("currency", "currency"),
  field("taxRate", "tax rate", "number"),
  field("dueDate", "due date"),
  field("priority", "priority", "integer"),
  field("status", "state"),
  field("quantity", "quantity", "integer"),
  field("weightKg", "weight in kilograms", "number"),
  field("sku", "stock number"),
  field("street", "street"),
  field("city", "city"),
  field("postalCode", "postal code"),
  field("country", "country"),
  field("phone", "telephone number"),
  field("language", "language"),
  field("timeZone", "time zone"),
  field("isPublic", "public flag", "boolean"),
  field("notify", "wish to be notified", "boolean"),
  field("department", "department"),
  field("costCenter", "cost center"),
  field("salaryBand", "salary band"),
  field("latitude", "latitude", "number"),
  field("longitude", "longitude", "number"),
  field("serial", "serial number"),
  field("rating", "rating", "number"),
  field("discount", "discount in percent", "number"),
  field("couponCode", "coupon code"),
];

/** Subjects that all apps have. */
export const SUBJECTS: readonly string[] = [
  "user",
  "team",
  "report",
  "file",
  "comment",
  "webhook",
  "notification",
  "setting",
  "role",
  "template",
];

const trade = (name: string, ...subjects: string[]) => ({ name, subjects });

export const TRADES = [
  trade("Billing", "invoice", "payment", "refund", "subscription", "quote", "credit note", "reminder", "tax report"),
  trade("CRM", "customer", "lead", "deal", "contact", "campaign", "newsletter", "segment", "call", "pipeline"),
  trade("Warehouse", "shipment", "parcel", "shelf", "pallet", "inventory", "supplier", "delivery", "carrier", "return"),
  trade(
    "People",
    "employee",
    "vacation",
    "payslip",
    "contract",
    "applicant",
    "interview",
    "timesheet",
    "expense",
    "absence",
  ),
  trade("Clinic", "patient", "appointment", "prescription", "diagnosis", "referral", "vaccination", "bed", "ward"),
  trade("School", "student", "course", "lesson", "exam", "grade", "teacher", "classroom", "enrolment", "library book"),
  trade("Support", "ticket", "incident", "article", "conversation", "agent", "queue", "escalation", "survey"),
  trade("Fleet", "vehicle", "driver", "trip", "refuelling", "inspection", "tyre", "route", "toll", "accident"),
  trade("Hotel", "room", "guest", "booking", "housekeeping task", "minibar item", "rate plan", "check-in", "breakfast"),
  trade("Shop", "product", "order", "basket", "voucher", "review", "wishlist", "category", "variant", "checkout"),
  trade("Energy", "meter", "reading", "tariff", "outage", "solar panel", "battery", "charging station", "forecast"),
  trade("Legal", "case", "hearing", "clause", "signature", "deadline", "court", "witness", "power of attorney"),
  trade("Events", "venue", "speaker", "attendee", "session", "badge", "sponsor", "seat", "livestream"),
  trade("Farm", "field", "harvest", "animal", "tractor", "irrigation", "seed", "fertilizer", "milk yield"),
] as const;

/** Parts of invented company names. */
export const NAME_PARTS = {
  first: [
    "Nor",
    "Vel",
    "Kom",
    "Bri",
    "Tal",
    "Ost",
    "Fer",
    "Lun",
    "Mar",
    "Quin",
    "Sol",
    "Dre",
    "Hal",
    "Pex",
    "Zor",
    "Ari",
  ],
  last: [
    "vexa",
    "dano",
    "mint",
    "lora",
    "peak",
    "fold",
    "wick",
    "stead",
    "ridge",
    "nova",
    "belt",
    "crest",
    "field",
    "hive",
  ],
  kinds: ["", "book", "desk", "flow", "board", "base", "line", "sync", "vault", "pilot"],
} as const;

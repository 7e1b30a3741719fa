import { Migration } from "@mikro-orm/migrations";

/** The languages of earlier releases, in the order of their bits. */
const LANGUAGES =
  "english simple arabic armenian bulgarian danish dutch finnish french german greek hindi hungarian indonesian irish italian lithuanian nepali norwegian portuguese romanian russian sanskrit serbian spanish swedish tamil turkish ukrainian".split(
    " ",
  );

export class Migration20261127032310_languages extends Migration {
  override name = "Migration20261127032310_languages";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "search_languages" ("postings_id" int not null, "language" varchar(255) not null, "text_count" int not null, "total_length" bigint not null, primary key ("postings_id", "language"));`,
    );
    this.addSql(`alter table "document_passages" add "language" varchar(255) null;`);
    // Until the worker has indexed the texts of a scope again, each of its languages has the statistics of all texts.
    const bits = LANGUAGES.map((language, bit) => `(${bit}, '${language}')`).join(", ");
    this.addSql(
      `insert into "search_languages" ("postings_id", "language", "text_count", "total_length") select case when scope."postings_set" = 0 then scope."id" else -scope."id" end, known."language", scope."text_count", scope."total_length" from "search_scopes" scope cross join (values ${bits}) as known("bit", "language") where scope."text_count" > 0 and (scope."languages" >> known."bit") & 1 = 1;`,
    );
    // A rebuild that an earlier release has begun has no statistics for each language.
    this.addSql(
      `update "search_scopes" set "rebuild" = null, "retired_at" = to_timestamp(0) where "rebuild" is not null;`,
    );
    // Earlier releases stored the default as if it had been stated.
    this.addSql(`update "documents" set "language" = 'auto' where "language" = 'english';`);
    this.addSql(`alter table "search_scopes" drop column "languages";`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "search_scopes" add "languages" int4 not null default 1;`);
    this.addSql(`alter table "search_scopes" alter column "languages" drop default;`);
    this.addSql(`update "documents" set "language" = 'english' where "language" = 'auto';`);
    this.addSql(`alter table "document_passages" drop column "language";`);
    this.addSql(`drop table "search_languages";`);
  }
}

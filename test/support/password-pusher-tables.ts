// The tables of a Password Pusher 2.x, as far as an import reads them: bare ones for SQLite, and as Rails
// makes them in PostgreSQL and MySQL.

/** Minimal columns, as the description lists them, and the index that an import uses. */
const SQLITE = `
  CREATE TABLE schema_migrations (version varchar PRIMARY KEY);
  CREATE TABLE users (id integer PRIMARY KEY, email varchar, encrypted_password varchar, authentication_token varchar,
    admin boolean, otp_required_for_login boolean, otp_secret_ciphertext text, last_otp_timestep integer,
    locked_at datetime, confirmed_at datetime, preferred_language varchar, created_at datetime);
  CREATE TABLE pushes (id integer PRIMARY KEY, kind integer, url_token varchar, payload_ciphertext text,
    passphrase_ciphertext text, note_ciphertext text, name varchar, expire_after_days integer,
    expire_after_views integer, expired boolean, expired_on datetime, deletable_by_viewer boolean,
    retrieval_step boolean, user_id integer, created_at datetime, updated_at datetime);
  CREATE TABLE audit_logs (id integer PRIMARY KEY, push_id integer, user_id integer, ip varchar, user_agent varchar,
    referrer varchar, kind integer, created_at datetime, updated_at datetime);
  CREATE INDEX index_audit_logs_on_push_id ON audit_logs (push_id);
  CREATE TABLE active_storage_blobs (id integer PRIMARY KEY, key varchar, filename varchar, content_type varchar,
    metadata text, byte_size bigint, checksum varchar, service_name varchar, created_at datetime);
  CREATE TABLE active_storage_attachments (id integer PRIMARY KEY, name varchar, record_type varchar,
    record_id integer, blob_id integer, created_at datetime);`

type Types = {
  id: string
  text: string
  long: string
  time: string
  flag: string
  name: (name: string) => string
}

/** Omits columns that are never read, except some whose types could cause problems. */
function railsTables({ id, text, long, time, flag, name }: Types): string {
  const times = `created_at ${time}(6) NOT NULL, updated_at ${time}(6) NOT NULL`
  return `
  CREATE TABLE schema_migrations (version ${text} NOT NULL PRIMARY KEY);
  CREATE TABLE users (id ${id}, email ${text} DEFAULT '' NOT NULL, encrypted_password ${text} DEFAULT '' NOT NULL,
    authentication_token ${text}, admin ${flag} DEFAULT FALSE, otp_required_for_login ${flag},
    otp_secret_ciphertext ${long}, last_otp_timestep integer, locked_at ${time}(6), confirmed_at ${time}(6),
    preferred_language ${text}, created_at ${time}(6));
  CREATE UNIQUE INDEX index_users_on_email ON users (email);
  CREATE TABLE pushes (id ${id}, kind integer NOT NULL, url_token ${text}, payload_ciphertext ${long},
    passphrase_ciphertext ${long}, note_ciphertext ${long}, ${name('name')} ${text}, expire_after_days integer,
    expire_after_views integer, expired ${flag} DEFAULT FALSE, expired_on ${time}(6),
    deletable_by_viewer ${flag} DEFAULT TRUE, retrieval_step ${flag} DEFAULT FALSE, user_id bigint, ${times});
  CREATE UNIQUE INDEX index_pushes_on_url_token ON pushes (url_token);
  CREATE TABLE audit_logs (id ${id}, push_id bigint NOT NULL, user_id bigint, ip ${text}, user_agent ${text},
    referrer ${text}, kind integer NOT NULL, ${times});
  CREATE INDEX index_audit_logs_on_push_id ON audit_logs (push_id);
  CREATE TABLE active_storage_blobs (id ${id}, ${name('key')} ${text} NOT NULL, filename ${text} NOT NULL,
    content_type ${text}, metadata ${long}, service_name ${text} NOT NULL, byte_size bigint NOT NULL,
    checksum ${text}, created_at ${time}(6) NOT NULL);
  CREATE UNIQUE INDEX index_active_storage_blobs_on_key ON active_storage_blobs (${name('key')});
  CREATE TABLE active_storage_attachments (id ${id}, ${name('name')} ${text} NOT NULL, record_type ${text} NOT NULL,
    record_id bigint NOT NULL, blob_id bigint NOT NULL, created_at ${time}(6) NOT NULL)`
}

export const TABLES = {
  sqlite: SQLITE,
  postgres: railsTables({
    id: 'bigserial PRIMARY KEY',
    text: 'character varying',
    long: 'text',
    time: 'timestamp',
    flag: 'boolean',
    name: (name) => `"${name}"`,
  }),
  mariadb: railsTables({
    id: 'bigint NOT NULL AUTO_INCREMENT PRIMARY KEY',
    text: 'varchar(255)',
    long: 'mediumtext',
    time: 'datetime',
    flag: 'tinyint(1)',
    name: (name) => `\`${name}\``,
  }),
} as const

export const NEWEST_VERSION = '20260509010000'

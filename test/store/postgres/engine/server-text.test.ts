// Text of the database server, and of rows that others have written, before it gets to the log or a terminal.

import { expect, test } from 'bun:test'
import { StatementError, serverText } from '../../../../src/store/postgres/engine/failures.ts'
import { storePush } from '../../../support/store.ts'
import { useNodes } from '../../../support/use-nodes.ts'
import { usePostgres } from '../../../support/use-postgres.ts'

const postgres = usePostgres()
const nodes = useNodes(postgres)
const { makeNode, query } = nodes

const FORGED = "E'evil\\n2026-11-22T00:00:00.000Z info FORGED \\x1b[2J\\x07'"
const isOneLine = (text: string) => !/[\p{Cc}\u2028\u2029\u202e]/u.test(text)

test('text of the server becomes one short line', () => {
  expect(serverText('evil\nline \x1b[2J\u2028\u202e')).toBe('evil line \u241b[2J\ufffd\ufffd')
  expect(serverText('Zugriff für „ann“ verweigert')).toBe('Zugriff für „ann“ verweigert')
  expect(serverText('x'.repeat(10_000)).length).toBeLessThan(1000)
})

postgres.describe('a database in which others write', () => {
  const trigger = (words: string) =>
    query(`CREATE OR REPLACE FUNCTION evil() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN ${words} END $f$;
      CREATE OR REPLACE TRIGGER evil BEFORE INSERT ON pushes FOR EACH ROW EXECUTE FUNCTION evil()`)
  const refusal = (work: Promise<unknown>) =>
    work.then(
      () => null,
      (cause: unknown) => cause,
    )

  test('cannot quote rows in a trigger’s message, nor forge a line', async () => {
    const node = makeNode()
    const store = await node.open()
    await trigger("RAISE EXCEPTION 'row %', NEW;")
    const said = await refusal(storePush({ store, clock: nodes.clock }))
    expect(said).toBeInstanceOf(StatementError)
    expect(String(said)).toBe(
      'StatementError: PostgreSQL: a function or trigger in the database refuses this; the log of PostgreSQL has its words (P0001)',
    )
    for (const state of ['42704', 'XX001']) {
      await trigger(`RAISE EXCEPTION USING ERRCODE = '${state}', MESSAGE = ${FORGED};`)
      const cause = await refusal(storePush({ store, clock: nodes.clock }))
      expect(String(cause)).toContain('evil 2026')
      expect(isOneLine(String(cause))).toBe(true)
    }
    await store.close()
  })

  test('cannot put a line break into the names of nodes', async () => {
    const node = makeNode()
    const store = await node.open()
    await query(
      `INSERT INTO nodes (id, name, version, mark, started_at, seen_at) VALUES ('\\x01', ${FORGED}, ${FORGED}, '', 1,
         (extract(epoch FROM clock_timestamp()) * 1000)::bigint + 40000)`,
    )
    const listed = (await store.database?.listNodes()) ?? []
    expect(listed).toHaveLength(2)
    for (const { name, version } of listed) expect(isOneLine(name + version)).toBe(true)
    await store.close()
  })
})

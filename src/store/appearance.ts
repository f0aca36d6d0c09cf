// What administrators have set of how the server introduces itself: one row.

import type { Appearance } from '../domain/appearance.ts'
import { select, statement } from './statements.ts'
import { first, run, type Steps } from './steps.ts'
import { appearance } from './tables.ts'

const FIND = select(appearance, '')
const KEEP = statement(
  `INSERT INTO appearance (id, name, contact, notice) VALUES (1, $1, $2, $3)
  ON CONFLICT (id) DO UPDATE SET name = excluded.name, contact = excluded.contact, notice = excluded.notice`,
)

export function createAppearance({ read, write }: Steps) {
  async function find(): Promise<Appearance | null> {
    const found = await read(() => first(FIND))
    return found && { name: found.name, contact: found.contact, notice: found.notice }
  }

  return {
    find,
    keep: ({ name, contact, notice }: Appearance) =>
      write(() => run(KEEP, name, contact, notice), { grows: true }),
  }
}

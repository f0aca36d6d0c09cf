// Accounts as administrators see them: address, last sign-in and used space. No content of their pushes.

import { type ListedAccount, PEOPLE_PAGE_SIZE } from '../domain/account.ts'
import { MINUTE, type Now } from '../domain/time.ts'
import type { Usage } from '../store/accounts-face.ts'
import type { Store } from '../store/face.ts'

export type Person = ListedAccount & Usage

export type People = ReturnType<typeof createPeople>

/** The number of accounts whose last measurement is remembered. */
const MAX_MEASURED = 1_000

/** Measuring walks all live pushes of an account, so it is done at most once a minute for each. */
export function createPeople({ store, now }: { store: Pick<Store, 'people'>; now: Now }) {
  const measured = new Map<number, { at: number; usage: Usage }>()

  async function usageOf(id: number): Promise<Usage> {
    const known = measured.get(id)
    if (known !== undefined && now() - known.at < MINUTE) return known.usage
    const usage = await store.people.measureUsage(id)
    if (measured.size >= MAX_MEASURED) measured.clear()
    measured.set(id, { at: now(), usage })
    return usage
  }

  /** `total` and `pages` count everybody whose address contains `search`. A page past the end is empty. */
  async function listPeople(asked: { search: string; pageNumber: number }) {
    const { people, total } = await store.people.listPeople(asked)
    const listed: Person[] = []
    for (const person of people) listed.push({ ...person, ...(await usageOf(person.id)) })
    return { people: listed, total, pages: Math.max(1, Math.ceil(total / PEOPLE_PAGE_SIZE)) }
  }

  return { listPeople }
}

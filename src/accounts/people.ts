// Accounts as administrators see them: address, last sign-in and used space, but nothing of their pushes.

import { type ListedAccount, PEOPLE_PAGE_SIZE } from '../domain/account.ts'
import type { Usage } from '../store/accounts-contract.ts'
import type { Store } from '../store/contract.ts'

export type Person = ListedAccount & Usage

export type People = ReturnType<typeof createPeople>

export function createPeople(store: Pick<Store, 'people'>) {
  const { listPeople, measureUsage, countUnprotectedAdmins } = store.people

  return {
    /**
     * `total` and `pages` count all accounts whose address contains `search`. A page past the end is empty.
     */
    listPeople: async (asked: { search: string; pageNumber: number }) => {
      const { people, total } = await listPeople(asked)
      const listed: Person[] = []
      for (const person of people) listed.push({ ...person, ...(await measureUsage(person.id)) })
      return { people: listed, total, pages: Math.max(1, Math.ceil(total / PEOPLE_PAGE_SIZE)) }
    },
    countUnprotectedAdmins,
  }
}

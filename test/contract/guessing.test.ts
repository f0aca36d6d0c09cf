// Guessing on the pages: passwords, which addresses have an account, one-time links.

import { expect, test } from 'bun:test'
import { type Api, startApi } from '../support/api.ts'
import { createPeople, type PageAnswer } from '../support/people.ts'

async function withApi(flags: Record<string, string>, work: (api: Api) => Promise<void>): Promise<void> {
  const api = await startApi({ flags })
  try {
    await work(api)
  } finally {
    await api.close()
  }
}

const statuses = (answers: PageAnswer[]) => {
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

test('sixty wrong tries for one account lock out no other account, even from the same address', () =>
  withApi({}, async (api) => {
    for (const email of ['a@example.org', 'b@example.org']) await api.addAccount(email)
    const people = createPeople(api)
    const wrong = { email: 'a@example.org', password: 'wrong password' }
    const tries = await Promise.all(Array.from({ length: 60 }, () => people.post('/sign-in', wrong)))
    expect(statuses(tries)).toEqual({ 422: 10, 429: 50 })
    await people.signIn('b@example.org')
  }))

test('sign-up stops revealing which addresses have an account, and keeps what was typed', () =>
  withApi({ signups: 'true' }, async (api) => {
    const people = createPeople(api)
    for (let n = 0; n < 3; n += 1) await api.addAccount(`a${n}@example.org`)
    const ask = (n: number) =>
      people.post('/sign-up', { email: `a${n % 3}@example.org`, password: people.password })
    const asked = []
    for (let n = 0; n < 40; n += 1) asked.push(await ask(n))
    expect(statuses(asked)).toEqual({ 422: 10, 429: 30 })
    const last = asked.at(-1)
    expect(last?.text).toContain('value="a0@example.org"')
    expect(last?.text).toContain('Too many tries')
    expect(last?.text).not.toContain('already')
    expect(Number(last?.headers.get('retry-after'))).toBeWithin(1, 61)
    // An invalid form is not counted as a try, and neither is a created account.
    const elsewhere = { from: '192.0.2.77' }
    const short = { email: 'new@example.org', password: 'short' }
    for (let n = 0; n < 20; n += 1) expect((await people.post('/sign-up', short, elsewhere)).status).toBe(422)
    const made = await people.post('/sign-up', { ...short, password: people.password }, elsewhere)
    expect(made.status).toBe(303)
  }))

test('guessed links are refused after too many tries; a valid one still opens', () =>
  withApi({}, async (api) => {
    const people = createPeople(api)
    const guess = (n: number) => `/welcome/${String(n).padStart(32, 'x')}`
    const guessed = []
    for (let n = 0; n < 40; n += 1) {
      const path = guess(n)
      const fields = { email: 'x@example.org', password: people.password }
      guessed.push(await (n % 2 === 0 ? people.get(path) : people.post(path, fields)))
    }
    expect(statuses(guessed)).toEqual({ 404: 30, 429: 10 })
    const right = await people.get(api.setupPath() ?? '')
    expect(right.status).toBe(200)
  }))

test('a new password that is too short is not counted as a try of the current one', () =>
  withApi({}, async (api) => {
    await api.addAccount('a@example.org')
    const people = createPeople(api)
    const ann = await people.signIn('a@example.org')
    const change = (current: string, password: string) => ann.post('/account/password', { current, password })
    for (let n = 0; n < 12; n += 1) expect((await change('wrong', 'short')).status).toBe(422)
    expect((await change(people.password, 'another long one')).status).toBe(303)
  }))

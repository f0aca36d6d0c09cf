// Revoking API tokens on the page, by their id.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { type Api, startApi } from '../support/api.ts'
import { createPeople, type Person } from '../support/people.ts'

const ANN = 'ann@example.org'
const BOB = 'bob@example.org'

let api: Api
let ann: Person
beforeEach(async () => {
  api = await startApi()
  for (const email of [ANN, BOB]) {
    await api.addAccount(email)
    await api.apiTokens().createApiToken({ email, name: 'laptop' })
  }
  ann = await createPeople(api).signIn(ANN)
})
afterEach(() => api.close())

const tokensOf = (email: string) => api.apiTokens().listApiTokens(email)
const namesOf = async (email: string) => (await tokensOf(email)).map(({ name }) => name)
const revoke = (id: unknown) => ann.post('/users/token/revoke', { id: String(id) })

test('an owner revokes the chosen token, and no other', async () => {
  const [first, second] = await tokensOf(ANN)
  expect([first?.name, second?.name]).toEqual(['token-1', 'laptop'])
  expect((await revoke(second?.id)).status).toBe(303)
  expect([await namesOf(ANN), await namesOf(BOB)]).toEqual([['token-1'], ['token-1', 'laptop']])
  await revoke(first?.id)
  expect([await namesOf(ANN), await namesOf(BOB)]).toEqual([[], ['token-1', 'laptop']])
})

test('an account cannot revoke the token of another account, and an unknown id revokes nothing', async () => {
  for (const id of [...(await tokensOf(BOB)).map((token) => token.id), 4711, '', 'x', '1 OR 1=1'])
    expect((await revoke(id)).status).toBe(303)
  expect([await namesOf(ANN), await namesOf(BOB)]).toEqual([
    ['token-1', 'laptop'],
    ['token-1', 'laptop'],
  ])
})

import { beforeEach, describe, expect, test } from 'bun:test'
import { createSignInLimit, type SignInLimit } from '../../src/accounts/sign-in-limit.ts'
import { networkOf } from '../../src/domain/client.ts'
import { DomainError } from '../../src/domain/errors.ts'
import { DAY, MINUTE } from '../../src/domain/time.ts'
import { openSharedState } from '../support/shared-state.ts'

const OFFICE = '192.0.2.1'

let time: number
let known: Record<string, string[]>
let limit: SignInLimit
beforeEach(() => {
  time = 0
  known = {}
  limit = createSignInLimit({
    budgets: openSharedState(() => time).budgets,
    now: () => time,
    clientOf: networkOf,
    knownAddresses: async (email) => known[email] ?? [],
  })
})

type Told = 'right' | 'wrong' | 'too_many'

async function told(tried: Promise<boolean>): Promise<Told> {
  try {
    return (await tried) ? 'right' : 'wrong'
  } catch (cause) {
    if (cause instanceof DomainError && cause.code === 'too_many') return 'too_many'
    throw cause
  }
}

const sign = (email: string, isRight: boolean, address = OFFICE) =>
  told(limit.tryPassword({ email, address }, { work: async () => isRight, isRight: Boolean }))

const times = async (n: number, work: (index: number) => Promise<Told>) => {
  const all = await Promise.all(Array.from({ length: n }, (_, index) => work(index)))
  return Object.fromEntries(
    (['right', 'wrong', 'too_many'] as const).map((kind) => [kind, all.filter((one) => one === kind).length]),
  )
}

test('after a fast clock is corrected, its wrong tries lock no account, and the limits apply again', async () => {
  time = 100 * DAY
  expect(await times(11, () => sign('a@x', false))).toMatchObject({ wrong: 10, too_many: 1 })
  time = 0
  expect(await sign('a@x', true)).toBe('right')
  for (let n = 0; n < 3; n += 1) {
    expect(await times(11, () => sign('b@x', false, '192.0.2.2'))).toMatchObject({ wrong: 10 })
    time += 15 * MINUTE
  }
})

test('giving back a budget restores exactly what its attempt took', async () => {
  const { budgets } = openSharedState(() => time)
  const mails = { name: 'mails', tries: 10, window: DAY, cost: 4 }
  const spent = async () =>
    (await budgets.take({ counts: [], looks: [mails], refuse: () => null })).states[0]?.spent
  const { states } = await budgets.take({ counts: [mails], refuse: () => null })
  await budgets.take({ counts: [{ ...mails, cost: 3 }], refuse: () => null })
  expect(await spent()).toBe(7)
  await budgets.giveBack(states)
  expect(await spent()).toBe(3)
  await budgets.giveBack(states)
  expect(await spent()).toBe(0)
})

describe('passwords', () => {
  test('allow ten wrong tries for one account from one address, even concurrent ones; right ones are not counted', async () => {
    for (let n = 0; n < 30; n += 1) expect(await sign('a@x', true)).toBe('right')
    expect(await times(60, () => sign('a@x', false))).toMatchObject({ wrong: 10, too_many: 50 })
    expect(await sign('a@x', true)).toBe('too_many')
    expect(await sign('a@x', true, '192.0.2.2')).toBe('right')
    time += 15 * MINUTE
    expect(await sign('a@x', true)).toBe('right')
  })

  test.each([1, 6, 60])(
    'after 60 wrong tries for %d accounts, another client can still sign in',
    async (n) => {
      await times(60, (index) => sign(`a${index % n}@x`, false))
      expect(await sign('b@x', true)).toBe('right')
      expect(await sign('b@x', true)).toBe('right')
    },
  )

  test('an address with many wrong tries is refused, at first for wrong passwords and later for all', async () => {
    await times(50, (index) => sign(`a${index}@x`, false))
    expect(await times(100, (index) => sign(`c${index}@x`, false))).toEqual({
      right: 0,
      wrong: 0,
      too_many: 100,
    })
    expect(await sign('b@x', true)).toBe('right')
    await times(1000, (index) => sign(`d${index}@x`, false))
    expect(await sign('b@x', true)).toBe('too_many')
    expect(await sign('b@x', true, '192.0.2.2')).toBe('right')
  })

  test('above that limit each account still allows three tries from the address', async () => {
    await times(50, (index) => sign(`a${index}@x`, false))
    await times(3, () => sign('b@x', false))
    expect(await sign('b@x', true)).toBe('too_many')
    expect(await sign('c@x', true)).toBe('right')
  })

  test('an address with a session of the account has its own limit, by IPv6 network too', async () => {
    known['b@x'] = ['2001:db8:1:2::7']
    const here = '2001:db8:1:2:aaaa::1'
    await times(1000, (index) => sign(`d${index}@x`, false, here))
    expect(await sign('c@x', true, here)).toBe('too_many')
    expect(await sign('b@x', true, here)).toBe('right')
    // A wrong password gets the same answer as an unknown account.
    expect(await sign('b@x', false, here)).toBe('too_many')
    await times(30, (index) => sign('b@x', false, `2001:db8:2:${index}::1`))
    await times(100, (index) => sign('b@x', false, `2001:db8:3:${index}::1`))
    expect(await sign('b@x', true, '2001:db8:4::1')).toBe('too_many')
    expect(await sign('b@x', true, here)).toBe('right')
  })

  test('loopback is limited only by account', async () => {
    expect(await times(400, (index) => sign(`a${index}@x`, false, '127.0.0.1'))).toMatchObject({ wrong: 400 })
    expect(await times(20, () => sign('b@x', false, '::1'))).toMatchObject({ wrong: 10, too_many: 10 })
  })

  test('a try that an overloaded server refused is not counted; a failed one is', async () => {
    const fail = (code: 'overloaded' | 'invalid') =>
      limit
        .tryPassword(
          { email: 'a@x', address: OFFICE },
          { work: () => Promise.reject(new DomainError(code, '')), isRight: Boolean },
        )
        .catch(() => undefined)
    for (let n = 0; n < 20; n += 1) await fail('overloaded')
    expect(await sign('a@x', true)).toBe('right')
    for (let n = 0; n < 20; n += 1) await fail('invalid')
    expect(await sign('a@x', true)).toBe('too_many')
  })
})

describe('signing up', () => {
  const taken = () => Promise.reject(new DomainError('conflict', ''))
  const signUp = (address: string, work: () => Promise<boolean>) =>
    told(
      limit.trySignUp(address, work).catch((cause) => {
        if (cause instanceof DomainError && cause.code === 'conflict') return false
        throw cause
      }),
    )

  test.each([OFFICE, '127.0.0.1', '2001:db8::1'])('%s may try ten taken e-mail addresses', async (from) => {
    expect(await times(40, () => signUp(from, taken))).toEqual({ right: 0, wrong: 10, too_many: 30 })
    time += 15 * MINUTE
    expect(await signUp(from, taken)).toBe('wrong')
  })

  test('one address may create fifty accounts', async () => {
    const make = () => signUp(OFFICE, async () => true)
    for (let n = 0; n < 50; n += 1) expect(await make()).toBe('right')
    expect(await make()).toBe('too_many')
  })
})

test('wrong links are limited, a valid one never is', async () => {
  for (let n = 0; n < 30; n += 1) expect(await limit.tryLink(OFFICE, null)).toBeNull()
  await expect(limit.tryLink(OFFICE, null)).rejects.toThrow('Too many tries')
  expect(await limit.tryLink(OFFICE, 'the link')).toBe('the link')
  expect(await limit.tryLink('192.0.2.2', null)).toBeNull()
})

test('below the floor of free space tries are counted in memory, and later in the store again', async () => {
  let hasRoom = false
  const { budgets, countRows } = openSharedState(() => time, { hasRoom: () => hasRoom })
  const options = { now: () => time, clientOf: networkOf, knownAddresses: async () => [] }
  limit = createSignInLimit({ budgets, ...options })
  for (let n = 0; n < 12; n += 1) expect(await sign('b@x', true, '192.0.2.2')).toBe('right')
  expect(await times(30, () => sign('a@x', false))).toMatchObject({ wrong: 10, too_many: 20 })
  expect(countRows()).toBe(0)
  hasRoom = true
  expect(await sign('a@x', true)).toBe('too_many')
  expect(await sign('a@x', true, '192.0.2.3')).toBe('right')
  time += 15 * MINUTE
  expect(await times(30, () => sign('a@x', false))).toMatchObject({ wrong: 10, too_many: 20 })
})

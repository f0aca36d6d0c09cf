import { describe, expect, test } from 'bun:test'
import { createTrial, type Trial } from './trial.ts'

const PASSWORD = 'correct horse battery'

async function withAnn(given: Parameters<typeof createTrial>[0] = {}): Promise<Trial> {
  const trial = createTrial({ input: `${PASSWORD}\n`, ...given })
  await trial.run('user', 'add', 'Ann@Example.org', '--admin', '--password-stdin')
  trial.out.length = 0
  trial.err.length = 0
  return trial
}

describe('user add', () => {
  test('reads the password from standard input, without the newline', async () => {
    const trial = createTrial({ input: `${PASSWORD}\r\n` })
    expect(await trial.run('user', 'add', 'ann@x', '--password-stdin', '--data-dir', '/box')).toBe(0)
    expect(trial.state.accounts).toMatchObject([{ email: 'ann@x', password: PASSWORD, isAdmin: false }])
    expect(trial.out).toEqual(['ann@x is added'])
    expect(trial.err[0]).toBe('Data folder: /box')
    expect(trial.state.closed).toBe(1)
  })

  test('asks for the password twice on a terminal', async () => {
    const trial = createTrial({ answers: [PASSWORD, PASSWORD] })
    expect(await trial.run('user', 'add', 'ann@x', '--admin')).toBe(0)
    expect(trial.state.accounts).toMatchObject([{ password: PASSWORD, isAdmin: true }])
    expect(trial.err).toContain('Password')
    expect(trial.err).toContain('Again')
  })

  test.each<[string, Parameters<typeof createTrial>[0], string]>([
    ['two passwords differ', { answers: [PASSWORD, `${PASSWORD}!`] }, 'The two passwords differ.'],
    ['the password is short', { answers: ['short'] }, 'The password must have at least 12 characters.'],
    [
      'there is no terminal',
      {},
      'There is no terminal to ask for the password: pipe it in with --password-stdin.',
    ],
  ])('adds no account when %s', async (_, given, message) => {
    const trial = createTrial(given)
    expect(await trial.run('user', 'add', 'ann@x')).toBe(1)
    expect(trial.err.at(-1)).toBe(`oncebox: ${message}`)
    expect(trial.state.accounts).toEqual([])
    expect(trial.state.closed).toBe(1)
  })

  test('does not ask for a password if the account exists', async () => {
    const trial = await withAnn({ answers: [] })
    expect(await trial.run('user', 'add', 'ann@example.org')).toBe(1)
    expect(trial.err.at(-1)).toStartWith('oncebox: ann@example.org already has an account')
    expect(trial.err).not.toContain('Password')
  })
})

test('user list is an aligned table with a header', async () => {
  const trial = await withAnn()
  await trial.run('user', 'list')
  expect(trial.out).toEqual([
    'EMAIL            ROLE   STATE   CREATED',
    'ann@example.org  admin  active  1970-01-01T00:00:00.000Z',
  ])
})

test('an empty list says so on standard error', async () => {
  const trial = createTrial()
  expect(await trial.run('user', 'list')).toBe(0)
  expect(trial.out).toEqual([])
  expect(trial.err.at(-1)).toContain('There are no accounts yet')
})

test('user password asks only when the account exists', async () => {
  const trial = await withAnn({ answers: ['another good one', 'another good one'] })
  expect(await trial.run('user', 'password', 'bob@x')).toBe(1)
  expect(trial.err.at(-1)).toBe('oncebox: There is no account for bob@x.')
  expect(await trial.run('user', 'password', 'ann@example.org')).toBe(0)
  expect(trial.state.accounts).toMatchObject([{ password: 'another good one' }])
})

describe('user password and the tokens, links and webhooks of the account', () => {
  const NEXT = 'another good one'
  const MADE = '1 token, 2 invitations and password links, 1 webhook'

  async function withMade(given: Parameters<typeof createTrial>[0] = {}): Promise<Trial> {
    const trial = await withAnn(given)
    await trial.run('token', 'create', 'ann@example.org')
    trial.state.made = { links: 2, webhooks: 1 }
    trial.out.length = 0
    trial.err.length = 0
    return trial
  }

  test.each<[string, string | undefined, string[], number]>([
    ['an empty answer revokes it', '', [], 0],
    ['a yes revokes it', 'y', [], 0],
    ['a no keeps it', 'N', [], 1],
    ['--keep-tokens does not ask', undefined, ['--keep-tokens'], 1],
    ['--revoke-tokens does not ask', undefined, ['--revoke-tokens'], 0],
  ])('%s', async (_name, answer, flags, left) => {
    const trial = await withMade({ answers: [NEXT, NEXT, ...(answer === undefined ? [] : [answer])] })
    expect(await trial.run('user', 'password', 'ann@example.org', ...flags)).toBe(0)
    expect([trial.state.apiTokens.length, trial.state.made.webhooks]).toEqual([left, left])
    expect(trial.err.includes(`Also revoke its ${MADE}? [Y/n] `)).toBe(answer !== undefined)
    const [told] = trial.out
    expect(told).toBe(
      `The password of ann@example.org is set, and its sessions have ended${left === 0 ? `. Revoked: ${MADE}` : ''}`,
    )
    expect(trial.err.some((line) => line.startsWith(`Not revoked: ${MADE} of ann`))).toBe(left === 1)
    expect(trial.err.at(-1)).toMatch(/^Not changed: its pushes, requests .*webhooks for all accounts/)
  })

  test('asks about an account that has links only', async () => {
    const trial = await withAnn({ answers: [NEXT, NEXT, ''] })
    trial.state.made = { links: 1, webhooks: 0 }
    expect(await trial.run('user', 'password', 'ann@example.org')).toBe(0)
    expect(trial.err).toContain('Also revoke its 1 invitation or password link? [Y/n] ')
    expect(trial.state.made.links).toBe(0)
  })

  test.each([
    [[], 0],
    [['--keep-tokens'], 1],
  ])('in a script, revokes unless a flag keeps: %p', async (flags, left) => {
    const trial = await withMade({ input: NEXT })
    expect(await trial.run('user', 'password', 'ann@example.org', '--password-stdin', ...flags)).toBe(0)
    expect([trial.state.apiTokens.length, trial.state.made.webhooks]).toEqual([left, left])
    expect(trial.text().includes('repeat with --revoke-tokens')).toBe(left === 1)
  })

  test('--revoke-tokens and --keep-tokens together are refused', async () => {
    const trial = await withMade()
    const both = ['--revoke-tokens', '--keep-tokens']
    expect(await trial.run('user', 'password', 'ann@example.org', ...both)).toBe(2)
    expect(trial.text()).toContain('give only one of them')
  })
})

test('user two-factor-off turns off the second factor', async () => {
  const trial = await withAnn()
  for (const account of trial.state.accounts) account.hasTwoFactor = true
  await trial.run('user', 'two-factor-off', 'ann@example.org')
  expect(trial.state.accounts).toMatchObject([{ hasTwoFactor: false }])
  expect(trial.out).toEqual(['ann@example.org signs in with the password alone now'])
})

describe('user admin and no-admin', () => {
  const roles = (trial: Trial) => trial.state.accounts.map(({ isAdmin }) => isAdmin)

  test('make an account an administrator and an ordinary account again', async () => {
    const trial = await withAnn()
    await trial.run('user', 'add', 'bob@x', '--password-stdin')
    trial.out.length = 0
    expect(await trial.run('user', 'admin', 'Bob@x')).toBe(0)
    expect(await trial.run('user', 'admin', 'bob@x')).toBe(0)
    expect(await trial.run('user', 'no-admin', 'ann@example.org')).toBe(0)
    expect(await trial.run('user', 'no-admin', 'ann@example.org')).toBe(0)
    expect(roles(trial)).toEqual([false, true])
    expect(trial.out).toEqual([
      'bob@x is now an administrator',
      'bob@x is already an administrator',
      'ann@example.org is no longer an administrator',
      'ann@example.org is not an administrator',
    ])
  })

  test('refuse to remove the last administrator, and say what to do', async () => {
    const trial = await withAnn()
    expect(await trial.run('user', 'no-admin', 'ann@example.org')).toBe(1)
    expect(trial.err.at(-1)).toContain('last administrator, and nothing was changed')
    expect(trial.err.at(-1)).toContain('"oncebox user admin EMAIL"')
    expect(roles(trial)).toEqual([true])
  })

  test('say that a disabled account is disabled', async () => {
    const trial = await withAnn()
    await trial.run('user', 'add', 'bob@x', '--password-stdin')
    await trial.run('user', 'disable', 'bob@x')
    expect(await trial.run('user', 'admin', 'bob@x')).toBe(0)
    expect(trial.err.at(-1)).toContain('"oncebox user enable bob@x"')
  })

  test('report an unknown account in one line', async () => {
    const trial = await withAnn()
    for (const name of ['admin', 'no-admin']) {
      expect(await trial.run('user', name, 'bob@x')).toBe(1)
      expect(trial.err.at(-1)).toBe('oncebox: There is no account for bob@x.')
      expect(await trial.run('user', name)).toBe(2)
    }
  })
})

test('user disable and enable stop and restore an account', async () => {
  const trial = await withAnn()
  await trial.run('user', 'disable', 'ann@example.org')
  expect(trial.state.accounts).toMatchObject([{ disabledAt: 1 }])
  await trial.run('user', 'enable', 'ann@example.org')
  expect(trial.state.accounts).toMatchObject([{ disabledAt: null }])
  expect(trial.out).toEqual(['ann@example.org is disabled', 'ann@example.org is enabled'])
})

describe('user remove', () => {
  test.each<[string, string[] | undefined, string[], number]>([
    ['removes after a yes', ['y'], [], 0],
    ['stops after any other answer', [''], [], 1],
    ['needs --yes without a terminal', undefined, [], 1],
    ['does not ask with --yes', undefined, ['--yes'], 0],
  ])('%s', async (_, answers, flags, exitCode) => {
    const trial = await withAnn(answers === undefined ? {} : { answers })
    expect(await trial.run('user', 'remove', 'ann@example.org', ...flags)).toBe(exitCode)
    expect(trial.state.accounts).toHaveLength(exitCode)
    if (exitCode === 0) {
      expect(trial.out).toEqual(['ann@example.org is removed, with its tokens and 2 pushes'])
    }
  })
})

describe('token', () => {
  test('create prints only the token on standard output', async () => {
    const trial = await withAnn()
    expect(await trial.run('token', 'create', 'ann@example.org', '--name', 'laptop')).toBe(0)
    expect(trial.out).toEqual(['obx_abcdefgh'])
    expect(trial.err.join('\n')).not.toContain('obx_abcdefgh')
    expect(trial.err.join('\n')).toContain('laptop')
  })

  test('list shows names and first characters', async () => {
    const trial = await withAnn()
    await trial.run('token', 'list', 'ann@example.org')
    expect(trial.out).toEqual([])
    expect(trial.err.at(-1)).toContain('ann@example.org has no tokens')
    await trial.run('token', 'create', 'ann@example.org')
    trial.out.length = 0
    await trial.run('token', 'list', 'ann@example.org')
    expect(trial.out).toEqual([
      'NAME     PREFIX    CREATED                   LAST USED',
      'token-1  obx_abcd  1970-01-01T00:00:00.000Z  never',
    ])
  })

  test('revoke names the revoked token', async () => {
    const trial = await withAnn()
    await trial.run('token', 'create', 'ann@example.org', '--name', 'laptop')
    trial.out.length = 0
    expect(await trial.run('token', 'revoke', 'ann@example.org', 'laptop')).toBe(0)
    expect(trial.out).toEqual(['The token laptop (obx_abcd…) of ann@example.org is revoked'])
    expect(await trial.run('token', 'revoke', 'ann@example.org', 'laptop')).toBe(1)
  })
})

test('the environment can set the data folder, and a missing folder is reported in one line', async () => {
  const trial = createTrial({ env: { ONCEBOX_DATA_DIR: '/missing' } })
  expect(await trial.run('user', 'list')).toBe(1)
  expect(trial.err).toEqual(['oncebox: There is no data folder at /missing.'])
})

test('account commands ignore other settings in the environment', async () => {
  const trial = createTrial({ env: { ONCEBOX_PORT: 'tcp://10.0.0.1:1', ONCEBOX_NEW: '1' } })
  expect(await trial.run('user', 'list')).toBe(0)
  expect(trial.err.join('\n')).not.toContain('ONCEBOX_')
})

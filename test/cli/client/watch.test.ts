// `oncebox watch`: prints events as lines or JSON, runs a command for each, and survives outages of the
// server.

import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { waitUntil } from '../../support/waiting.ts'
import { useClients } from './clients.ts'

const { path, place, push, tryOut, signedIn, fake } = useClients()

const EVENT = {
  ...{ id: 7, type: 'push.opened', timestamp: '2026-11-20T10:00:00.000Z' },
  data: { push: 'abc', kind: 'text', views_remaining: 2, expired: false },
}

/** Sends the given answers one after another, and then that the token was revoked, which ends a watch. */
function serve(...answers: [status: number, body: object][]) {
  const asked: string[] = []
  const url = fake(async (request) => {
    const { pathname, search } = new URL(request.url)
    asked.push(`${pathname}${search}`)
    const [status, body] = answers.shift() ?? [401, { error: 'The API token is not valid.' }]
    return Response.json(body, { status })
  })
  return { asked, trial: signedIn({ env: { ONCEBOX_SERVER: url } }) }
}

const page = (next: number, ...events: object[]): [number, object] => [200, { events, next }]

test('begins with the next event, and continues after the last printed one', async () => {
  const { trial, asked } = serve(
    ...[page(6, EVENT), page(6), page(7, EVENT), page(7), page(9, { ...EVENT, id: 9, type: 'push.used_up' })],
  )
  expect(await trial.run('watch')).toBe(4)
  expect(asked).toEqual(
    [
      ...['?wait=0', '?wait=0&after=6', '?wait=20&after=6', '?wait=20&after=7', '?wait=20&after=7'],
      '?wait=20&after=9',
    ].map((query) => `/api/oncebox/events${query}`),
  )
  expect(trial.out).toHaveLength(2)
  expect(trial.out[0]).toMatch(
    /^2026-11-20 \d\d:00 {2}push\.opened {2}push=abc {2}kind=text {2}views_remaining=2/,
  )
  expect(trial.out[1]).toContain('push.used_up')
})

test('prints the received JSON, one line for each event, without control characters', async () => {
  const hostile = { ...EVENT, type: 'push.\u001b[31mopened\n', more: { a: 1 } }
  const { trial } = serve(page(8, EVENT, hostile))
  await trial.run('watch', '--json', '--after', '6')
  expect(trial.out).toHaveLength(2)
  expect(trial.out.map((line) => JSON.parse(line))).toEqual([EVENT, hostile])
  expect(trial.out.join()).not.toContain('\u001b')
})

test('runs a command for each event in order, with the event in variables that are safe in a shell', async () => {
  const data = {
    push: '$(touch x)`;\n"\'',
    kind: 'text',
    views_remaining: 1,
    expired: true,
    'PATH=': 'x',
    path: 'y',
  }
  const { trial } = serve(page(8, EVENT, { ...EVENT, id: 8, data: { ...data, type: 'other' } }))
  const log = path('log')
  const command = `sleep 0.$((8 - ONCEBOX_EVENT_ID)); env | grep ^ONCEBOX_EVENT_ | sort >> '${log}'; [ $ONCEBOX_EVENT_ID = 8 ]`
  expect(await trial.run('watch', '--after', '6', '--exec', command)).toBe(4)
  const lines = readFileSync(log, 'utf8').trim().split('\n')
  expect(lines.map((line) => line.replace('ONCEBOX_EVENT_', ''))).toEqual([
    ...['EXPIRED=false', 'ID=7', 'KIND=text', 'PUSH=abc', 'TIMESTAMP=2026-11-20T10:00:00.000Z'],
    ...['TYPE=push.opened', 'VIEWS_REMAINING=2'],
    ...['EXPIRED=true', 'ID=8', 'KIND=text', 'PATH=y', 'PUSH=touchx', 'TIMESTAMP=2026-11-20T10:00:00.000Z'],
    ...['TYPE=push.opened', 'VIEWS_REMAINING=1'],
  ])
  expect(trial.err.join('\n')).toContain('the command for event 7 (push.opened) ended with 1.')
  expect(trial.err.join('\n')).not.toContain('event 8')
})

test('retries while the server is down, and reports once that it is down and once that it is back', async () => {
  const down: [number, object] = [502, { error: 'bad gateway' }]
  const { trial, asked } = serve(down, down, page(7, EVENT))
  await trial.run('watch', '--after', '6')
  expect(asked.slice(0, 3)).toEqual(Array(3).fill('/api/oncebox/events?wait=20&after=6'))
  expect(trial.out).toHaveLength(1)
  expect(trial.err.filter((line) => line.includes('Trying again'))).toHaveLength(1)
  expect(trial.err).toContain('The server answers again.')
})

test('reports events that the server has discarded, and continues with the others', async () => {
  const { trial, asked } = serve([410, { error: 'gone' }], page(7, EVENT))
  await trial.run('watch', '--after', '2')
  expect(asked.slice(0, 2)).toEqual(['/api/oncebox/events?wait=20&after=2', '/api/oncebox/events?wait=20'])
  expect(trial.out).toHaveLength(1)
  expect(trial.err.join()).toContain('so they are missing')
})

test('distinguishes a server without events from a refused login', async () => {
  const { trial } = serve([404, { error: 'not-found' }])
  expect(await trial.run('watch', '--after', '2')).toBe(1)
  expect(trial.err.join()).toContain('neither requests nor events')
  expect(await tryOut().run('watch')).toBe(4)
  for (const flags of [
    ['--after', 'x'],
    ['--after', '-1'],
    ['--exec', ''],
  ])
    expect([flags, await signedIn().run('watch', ...flags)]).toEqual([flags, 2])
})

test('watches a real server', async () => {
  const trial = signedIn()
  const link = await push(trial, 'sesame', '--views', '1')
  const { out } = trial
  const watching = trial.run('watch', '--json')
  await waitUntil(() => trial.err.some((line) => line.startsWith('Watching')))
  expect(await signedIn().run('get', link)).toBe(0)
  await waitUntil(() => out.length >= 3)
  expect(out.slice(1).map((line) => JSON.parse(line).type)).toEqual(['push.opened', 'push.used_up'])
  await place.server.apiTokens().revokeApiToken({ email: 'ann@example.org', nameOrPrefix: 'token-1' })
  expect(await watching).toBe(4)
})

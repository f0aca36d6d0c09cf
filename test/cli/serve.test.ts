import { expect, test } from 'bun:test'
import { createTrial } from './trial.ts'

test('oncebox without arguments serves, prints one line on standard output, and stops on a signal', async () => {
  const trial = createTrial()
  const ended = trial.run()
  await Bun.sleep(0)
  expect(trial.out).toEqual([
    'Oncebox 3.0.0 is ready on http://localhost:5100 (data in /home/ann/.local/share/oncebox)',
  ])
  expect(trial.err).toEqual(['a line of the log'])
  expect(trial.state.stopped).toBe(0)
  trial.signal()
  expect(await ended).toBe(0)
  expect(trial.state.stopped).toBe(1)
})

test('the ready line shows the start of links', async () => {
  const trial = createTrial({ env: { ONCEBOX_BASE_URL: 'https://once.example/' } })
  const ended = trial.run('serve', '--data-dir', 'box')
  await Bun.sleep(0)
  expect(trial.out).toEqual([
    'Oncebox 3.0.0 is ready on http://localhost:5100 (data in /srv/box), links start with https://once.example',
  ])
  trial.signal()
  expect(await ended).toBe(0)
})

const LINK = 'https://once.example/welcome/abc'

test.each([
  [true, '\n', `this makes one, once: ${LINK}`],
  [false, '. ', 'the link that makes one, once, is in /srv/box/setup-link'],
])(
  'without an administrator, a terminal shows the link for creating one, and a file holds it elsewhere (on a terminal: %p)',
  async (isOutputTerminal, glue, way) => {
    const trial = createTrial({ isOutputTerminal, env: { ONCEBOX_BASE_URL: 'https://once.example/' } })
    trial.state.setupPath = '/welcome/abc'
    const ended = trial.run('serve', '--data-dir', 'box')
    await Bun.sleep(0)
    expect(trial.out).toHaveLength(1)
    expect(trial.out[0]?.split(glue)).toEqual([
      'Oncebox 3.0.0 is ready on http://localhost:5100 (data in /srv/box), links start with https://once.example',
      `There is no administrator yet; ${way}`,
    ])
    expect(trial.state.keptLink).toBe(isOutputTerminal ? null : LINK)
    trial.signal()
    expect(await ended).toBe(0)
  },
)

test('a wish to reload reloads, also one from during the start, and does not stop the server', async () => {
  const trial = createTrial()
  const ended = trial.run()
  trial.signal('reload')
  await Bun.sleep(0)
  trial.signal('reload')
  trial.signal('reload')
  expect(trial.state).toMatchObject({ reloaded: 3, stopped: 0 })
  trial.signal()
  expect(await ended).toBe(0)
})

test('with --log-format json every line is JSON: warnings, readiness, failures, wrong flags', async () => {
  const trial = createTrial({ env: { ONCEBOX_NONSENSE: '1' } })
  const ended = trial.run('serve', '--log-format', 'json')
  await Bun.sleep(0)
  trial.state.fail(new Error('The disk could not be trusted any more.'))
  expect(await ended).toBe(1)
  expect(await trial.run('serve', '--log-format=json', '--port', '99999', '--host', '/')).toBe(2)
  const lines = [...trial.out, ...trial.err.filter((line) => line !== 'a line of the log')].map((line) =>
    JSON.parse(line),
  )
  const time = '1970-01-01T00:00:00.000Z'
  expect(lines).toEqual([
    { level: 'info', time, msg: expect.stringContaining('is ready on http://localhost:5100') },
    { level: 'warn', time, msg: expect.stringContaining('ONCEBOX_NONSENSE is not a setting') },
    { level: 'fatal', time, msg: 'The disk could not be trusted any more.' },
    { level: 'warn', time, msg: expect.stringContaining('ONCEBOX_NONSENSE is not a setting') },
    { level: 'fatal', time, msg: expect.stringContaining('--port "99999"') },
  ])
})

test('a second signal ends the process at once', async () => {
  const trial = createTrial()
  const ended = trial.run()
  await Bun.sleep(0)
  trial.signal()
  trial.signal()
  expect(trial.exits).toEqual([130])
  await ended
})

test('a signal during the start stops the server as soon as it has started', async () => {
  const trial = createTrial()
  const ended = trial.run()
  trial.signal()
  expect(await ended).toBe(0)
  expect(trial.state.stopped).toBe(1)
})

test('a store that fails for good ends the server with its reason', async () => {
  const trial = createTrial()
  const ended = trial.run()
  await Bun.sleep(0)
  trial.state.fail(new Error('The disk could not be trusted any more.'))
  expect(await ended).toBe(1)
  expect(trial.err.at(-1)).toBe('oncebox: The disk could not be trusted any more.')
})

test.each([
  ['EADDRINUSE', 'Port 5100 on ::1 is in use: stop what uses it, or choose another --port.'],
  ['EACCES', 'Listening on port 5100 of ::1 is not permitted: choose a --port from 1024 on.'],
  ['EADDRNOTAVAIL', '::1 is not an address of this machine: choose another --host.'],
  ['EAFNOSUPPORT', expect.stringContaining('--host 127.0.0.1')],
])('%s while listening is explained', async (code, message) => {
  const trial = createTrial()
  trial.app.startServer = async () => {
    throw Object.assign(new Error('Is port 5100 in use?'), { code, syscall: 'listen', address: '::1' })
  }
  expect(await trial.run()).toBe(1)
  expect(trial.err.map((line) => line.replace('oncebox: ', ''))).toEqual([message])
})

test('an unexpected error is reported as a bug, with its stack', async () => {
  const trial = createTrial()
  trial.app.startServer = async () => {
    throw new TypeError('undefined is not a function')
  }
  expect(await trial.run()).toBe(1)
  expect(trial.err[0]).toBe('oncebox: this is a bug in Oncebox')
  expect(trial.err[1]).toContain('undefined is not a function')
})

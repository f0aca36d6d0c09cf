import { describe, expect, test } from 'bun:test'
import { createTrial, type Trial } from './trial.ts'

/** Runs `serve` until it has printed its addresses, and stops it. */
async function start(trial: Trial, ...flags: string[]): Promise<string[]> {
  const ended = trial.run('serve', '--data-dir', 'box', ...flags)
  await trial.isReady()
  trial.signal()
  expect(await ended).toBe(0)
  expect(trial.out).toHaveLength(1)
  return trial.out[0]?.split('\n') ?? []
}

test('oncebox without arguments serves, prints where, and stops on a signal', async () => {
  const trial = createTrial()
  const ended = trial.run()
  await trial.isReady()
  expect(trial.out.join('\n').split('\n')).toEqual([
    'Open:                   http://localhost:5100',
    'From other computers:   not yet; "oncebox serve --host 0.0.0.0" serves the whole network',
    'Data:                   /home/ann/.local/share/oncebox',
  ])
  expect(trial.err).toEqual(['a line of the log'])
  expect(trial.state.stopped).toBe(0)
  trial.signal()
  expect(await ended).toBe(0)
  expect(trial.state.stopped).toBe(1)
})

test('without an administrator, a fourth line has the link for creating one', async () => {
  const trial = createTrial({ isOutputTerminal: true })
  trial.state.setupPath = '/welcome/abc'
  trial.state.elsewhere = ['http://192.168.1.20:5100', 'http://10.0.0.2:5100']
  expect(await start(trial)).toEqual([
    'Open:                   http://localhost:5100',
    'From other computers:   http://192.168.1.20:5100 or http://10.0.0.2:5100',
    'Make the administrator: http://localhost:5100/welcome/abc (works once)',
    'Data:                   /srv/box',
  ])
})

test('without a terminal, a file contains the link, for every address of this computer', async () => {
  const trial = createTrial()
  trial.state.setupPath = '/welcome/abc'
  trial.state.elsewhere = ['http://192.168.1.20:5100']
  expect((await start(trial))[2]).toBe(
    'Make the administrator: the link is in /srv/box/setup-link (works once)',
  )
  expect(trial.state.keptLink).toBe('http://localhost:5100/welcome/abc\nhttp://192.168.1.20:5100/welcome/abc')
})

test('with a base URL, other computers use that, and the first address is still the bound one', async () => {
  const trial = createTrial({ isOutputTerminal: true, env: { ONCEBOX_BASE_URL: 'https://once.example/' } })
  trial.state.setupPath = '/welcome/abc'
  expect(await start(trial)).toEqual([
    'Open:                   http://localhost:5100, links start with https://once.example',
    'From other computers:   https://once.example',
    'Make the administrator: https://once.example/welcome/abc (works once)',
    'Data:                   /srv/box',
  ])
})

test('with --log-format json, standard output is one line of JSON', async () => {
  const trial = createTrial({ isOutputTerminal: true })
  trial.state.setupPath = '/welcome/abc'
  const [line = ''] = await start(trial, '--log-format', 'json')
  expect(JSON.parse(line)).toEqual({
    level: 'info',
    time: '1970-01-01T00:00:00.000Z',
    version: '3.0.0',
    url: 'http://localhost:5100',
    here: 'http://localhost:5100',
    elsewhere: [],
    baseUrl: null,
    setup: { link: 'http://localhost:5100/welcome/abc' },
    trust: null,
    dataDir: '/srv/box',
    msg: 'Oncebox 3.0.0 is ready on http://localhost:5100',
  })
  expect(/https?:\/\/[^"/]+/.exec(line)?.[0]).toBe('http://localhost:5100')
})

describe('the browser', () => {
  async function opened({
    isTerminal = true,
    setupPath = '/welcome/abc' as string | null,
    flags = [''],
  } = {}) {
    const trial = createTrial({ isOutputTerminal: isTerminal })
    trial.state.setupPath = setupPath
    const ended = trial.run('serve', ...flags.filter(Boolean))
    await trial.isReady()
    const links = trial.opened.map(({ link }) => link)
    trial.signal()
    expect(await ended).toBe(0)
    // The file for the browser is removed with the server.
    expect(trial.opened).toEqual([])
    return links
  }

  test('opens at the setup link', async () => {
    expect(await opened()).toEqual(['http://localhost:5100/welcome/abc'])
  })
  test('stays closed when standard output is not a terminal', async () => {
    expect(await opened({ isTerminal: false })).toEqual([])
  })
  test('stays closed once there is an administrator', async () => {
    expect(await opened({ setupPath: null })).toEqual([])
  })
  test('stays closed with --no-open', async () => {
    expect(await opened({ flags: ['--no-open'] })).toEqual([])
  })
})

test('SIGHUP reloads without stopping the server, even if it arrived during the start', async () => {
  const trial = createTrial()
  const start = trial.app.startServer
  trial.app.startServer = (...given) => {
    trial.signal('reload')
    return start(...given)
  }
  const ended = trial.run()
  await trial.isReady()
  trial.signal('reload')
  trial.signal('reload')
  expect(trial.state).toMatchObject({ reloaded: 3, stopped: 0 })
  trial.signal()
  expect(await ended).toBe(0)
})

test('with --log-format json every line is JSON: warnings, readiness, failures, wrong flags', async () => {
  const trial = createTrial({ env: { ONCEBOX_NONSENSE: '1' } })
  const ended = trial.run('serve', '--log-format', 'json')
  await trial.isReady()
  trial.state.fail(new Error('The disk could not be trusted any more.'))
  expect(await ended).toBe(1)
  expect(await trial.run('serve', '--log-format=json', '--port', '99999', '--host', '/')).toBe(2)
  const lines = [...trial.out, ...trial.err.filter((line) => line !== 'a line of the log')].map((line) =>
    JSON.parse(line),
  )
  const time = '1970-01-01T00:00:00.000Z'
  expect(lines).toEqual([
    expect.objectContaining({ level: 'info', time, url: 'http://localhost:5100' }),
    { level: 'warn', time, msg: expect.stringContaining('ONCEBOX_NONSENSE is not a setting') },
    { level: 'fatal', time, msg: 'The disk could not be trusted any more.' },
    { level: 'warn', time, msg: expect.stringContaining('ONCEBOX_NONSENSE is not a setting') },
    { level: 'fatal', time, msg: expect.stringContaining('--port "99999"') },
  ])
})

test('a second signal ends the process at once', async () => {
  const trial = createTrial()
  const ended = trial.run()
  await trial.isReady()
  trial.signal()
  trial.signal()
  expect(trial.exits).toEqual([130])
  await ended
})

test('a signal during the start stops the server as soon as it has started', async () => {
  const trial = createTrial()
  const start = trial.app.startServer
  trial.app.startServer = (...given) => {
    trial.signal()
    return start(...given)
  }
  expect(await trial.run()).toBe(0)
  expect(trial.state.stopped).toBe(1)
})

test('a permanent failure of the store ends the server, with the reason', async () => {
  const trial = createTrial()
  const ended = trial.run()
  await trial.isReady()
  trial.state.fail(new Error('The disk could not be trusted any more.'))
  expect(await ended).toBe(1)
  expect(trial.err.at(-1)).toBe('oncebox: The disk could not be trusted any more.')
})

test.each([
  ['EADDRINUSE', 'Port 5100 on ::1 is in use: stop what uses it, or choose another --port.'],
  ['EACCES', 'Listening on port 5100 of ::1 is not permitted: choose a --port from 1024 on.'],
  ['EADDRNOTAVAIL', '::1 is not an address of this machine: choose another --host.'],
  ['EAFNOSUPPORT', expect.stringContaining('--host 127.0.0.1')],
])('explains %s while listening', async (code, message) => {
  const trial = createTrial()
  trial.app.startServer = async () => {
    throw Object.assign(new Error('Is port 5100 in use?'), { code, syscall: 'listen', address: '::1' })
  }
  expect(await trial.run()).toBe(1)
  expect(trial.err.map((line) => line.replace('oncebox: ', ''))).toEqual([message])
})

test('explains a refused port below 1024 with each remedy', async () => {
  const trial = createTrial()
  trial.app.startServer = async () => {
    throw Object.assign(new Error('no'), { code: 'EACCES', syscall: 'listen', address: '0.0.0.0' })
  }
  expect(await trial.run('serve', '--port', '443')).toBe(1)
  for (const word of [
    ...['port 443', 'AmbientCapabilities=CAP_NET_BIND_SERVICE', 'setcap cap_net_bind_service=+ep oncebox'],
    ...['sysctl net.ipv4.ip_unprivileged_port_start=443', '--port from 1024 on'],
  ])
    expect(trial.err.join('\n')).toContain(word)
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

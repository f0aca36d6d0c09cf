import { describe, expect, test } from 'bun:test'
import type { LocalServer } from '../../src/app/serving.ts'
import { createTrial, type Trial } from './trial.ts'

const RUNNING: LocalServer = {
  pid: 4711,
  url: 'http://localhost:5200',
  socket: null,
  settings: [],
  setupLink: null,
  isUp: async () => true,
}

async function serve(trial: Trial, ...argv: string[]): Promise<void> {
  const ended = trial.run(...argv)
  await trial.isReady()
  trial.signal()
  expect(await ended).toBe(0)
}

describe('oncebox open', () => {
  test('starts the server of this user and shows it in the browser', async () => {
    const trial = createTrial()
    await serve(trial, 'open')
    expect(trial.state.config?.port).toBe(5100)
    expect(trial.pages).toEqual(['http://localhost:5100'])
  })

  test('opens the setup link, also without a terminal, and keeps it in the file', async () => {
    const trial = createTrial()
    trial.state.setupPath = '/welcome/abc'
    const ended = trial.run('open')
    await trial.isReady()
    expect(trial.opened.map(({ link }) => link)).toEqual(['http://localhost:5100/welcome/abc'])
    expect(trial.state.keptLink).toBe('http://localhost:5100/welcome/abc')
    expect(trial.text()).not.toContain('/welcome/abc')
    trial.signal()
    expect(await ended).toBe(0)
  })

  test('shows a running server and starts no other', async () => {
    const trial = createTrial()
    trial.state.serving = RUNNING
    expect(await trial.run('open')).toBe(0)
    expect(trial.pages).toEqual([RUNNING.url])
    expect(trial.out).toEqual([`Open: ${RUNNING.url}`])
    expect(trial.state.config).toBeUndefined()
  })

  test('shows a service of the machine on the same port', async () => {
    const trial = createTrial()
    trial.state.serverOnPort = 'https://localhost:5100'
    expect(await trial.run('open')).toBe(0)
    expect(trial.pages).toEqual(['https://localhost:5100'])
    expect(trial.state.config).toBeUndefined()
  })

  test('opens nothing with --no-open', async () => {
    const trial = createTrial()
    await serve(trial, 'open', '--no-open')
    trial.state.serving = RUNNING
    expect(await trial.run('open', '--no-open')).toBe(0)
    expect(trial.pages).toEqual([])
  })

  test('names the socket, which no browser can open', async () => {
    const trial = createTrial()
    trial.state.serving = { ...RUNNING, socket: '/run/oncebox/http.sock' }
    expect(await trial.run('open')).toBe(1)
    expect(trial.err[0]).toContain('listens on /run/oncebox/http.sock')
  })

  test('--stop stops a running server, and says if there is none', async () => {
    const trial = createTrial()
    trial.state.serving = RUNNING
    expect(await trial.run('open', '--stop')).toBe(0)
    expect(trial.stoppedProcesses).toEqual([4711])
    trial.state.serving = null
    expect(await trial.run('open', '--stop')).toBe(1)
    expect(trial.err.at(-1)).toBe('oncebox: No server runs on /home/ann/.local/share/oncebox.')
  })
})

describe('oncebox without arguments', () => {
  test.each<NodeJS.Platform>(['win32', 'darwin'])('is a double click on %s', async (platform) => {
    const trial = createTrial({ platform })
    trial.state.serving = RUNNING
    expect(await trial.run()).toBe(0)
    expect(trial.pages).toEqual([RUNNING.url])
  })

  test('serves when run over SSH', async () => {
    const trial = createTrial({ platform: 'darwin', env: { SSH_TTY: '/dev/ttys001' } })
    trial.state.serving = RUNNING
    await serve(trial)
    expect(trial.state.config).toBeDefined()
    expect(trial.pages).toEqual([])
  })

  test('keeps the window open on Windows when it cannot start', async () => {
    const trial = createTrial({ platform: 'win32', env: { ONCEBOX_PORT: 'x' }, answers: [''] })
    expect(await trial.run()).toBe(2)
    expect(trial.err.at(-1)).toBe('Press Enter to close this window. ')
  })
})

describe('oncebox health', () => {
  test.each([
    [RUNNING, 0, 'ok'],
    [
      { ...RUNNING, isUp: async () => false },
      1,
      'oncebox: The server on /home/ann/.local/share/oncebox does not answer.',
    ],
    [null, 1, 'oncebox: No server runs on /home/ann/.local/share/oncebox.'],
  ])('%# reports whether the server is alive', async (serving, code, line) => {
    const trial = createTrial()
    trial.state.serving = serving
    expect(await trial.run('health')).toBe(code)
    expect(trial.text()).toBe(line)
  })
})

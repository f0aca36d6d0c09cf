// The process that works in the folder of backups, in place of which small programs answer, hang, die and refuse to end.

import { afterEach, beforeEach, describe, expect, jest, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createStartTask, type RunningTask } from '../../../src/operating/backup-schedule/process.ts'
import type { BackupTask } from '../../../src/operating/backup-schedule/task.ts'
import { pass } from '../../support/timers.ts'
import { waitUntil } from '../../support/waiting.ts'

const TASK: BackupTask = {
  ...{ folder: '/nowhere', dataDir: '/nowhere', mayMakeFolder: false },
  ...{ known: [], begun: [], make: null },
}
const DONE = {
  state: 'done',
  present: [{ name: 'a', bytes: 1 }],
  removed: [],
  notRemoved: null,
  isSameDisk: true,
}

const folders: string[] = []
const tasks: RunningTask[] = []
afterEach(async () => {
  await Promise.all(tasks.splice(0).map((task) => task.stop()))
  for (const path of folders.splice(0)) rmSync(path, { recursive: true, force: true })
})

/** Runs a program of a few lines, which `say` answers, in place of our own. */
function start(program: string, { stallMs = 60_000, task = TASK } = {}): RunningTask {
  const folder = mkdtempSync(join(tmpdir(), 'oncebox-task-'))
  folders.push(folder)
  const path = join(folder, 'program.ts')
  writeFileSync(path, `const say = (answer: object) => console.log(JSON.stringify(answer))\n${program}\n`)
  const running = createStartTask({ self: [process.execPath, path], env: { SOME: 'thing' }, stallMs })(task)
  tasks.push(running)
  return running
}

test('its last answer counts, whatever else it prints', async () => {
  const task = start(`say({ state: 'working' }); console.log('x{'); say(${JSON.stringify(DONE)})`)
  expect(await task.result).toMatchObject(DONE)
  expect(task.isGone()).toBe(true)
})

test('it gets the task on standard input, the environment that it was given, and nothing else', async () => {
  const task = start(`
    const { value } = await Bun.stdin.stream().getReader().read()
    const { folder } = JSON.parse(new TextDecoder().decode(value))
    say({ state: 'failed', code: 'full', words: folder + Object.keys(process.env).filter((name) => name !== '_') + process.cwd() })
    process.exit()`)
  expect(await task.result).toEqual({ state: 'failed', code: 'full', words: `/nowhereSOME${process.cwd()}` })
})

test.each([
  ['dies', 'process.exit(3)', 'it ended with 3'],
  ['is killed', 'process.kill(process.pid, "SIGKILL")', 'it was ended by SIGKILL'],
  ['throws', 'throw new Error("out of luck")', 'it ended with 1: error: out of luck'],
])('one that %s without an answer has failed', async (_, program, words) => {
  const { state, code, ...said } = { code: '', words: '', ...(await start(program).result) }
  expect([state, code]).toEqual(['failed', 'ended'])
  expect(said.words).toStartWith(words)
})

test('one that dies before it has read a long task has failed, and harms nobody', async () => {
  const known = Array.from({ length: 20_000 }, (_, n) => ({ name: `oncebox-backup-${n}.tar`, bytes: n }))
  for (let round = 0; round < 5; round += 1)
    expect(await start('process.exit(3)', { task: { ...TASK, known } }).result).toMatchObject({
      code: 'ended',
    })
  await Bun.sleep(100)
})

test('one that cannot be started has failed', async () => {
  const task = createStartTask({ self: ['/nowhere/oncebox', 'x'], env: {} })(TASK)
  const { state, ...said } = { words: '', ...(await task.result) }
  expect([state, task.isGone()]).toEqual(['failed', true])
  expect(said.words).toStartWith('no process could be started')
})

test.each(['process.exit(143)', 'process.kill(process.pid, "SIGTERM"); await Bun.sleep(60_000)'])(
  'one that was asked to end has not failed: %s',
  async (program) => {
    expect(await start(program).result).toEqual({ state: 'stopped' })
  },
)

test('one that hangs is ended, and told so', async () => {
  const task = start('await Bun.sleep(600_000)', { stallMs: 2_000 })
  expect(await task.result).toMatchObject({ state: 'failed', code: 'stalled' })
  await waitUntil(task.isGone)
})

test.if(process.platform === 'linux')('one that is stopped in its tracks is ended, too', async () => {
  const task = start('process.kill(process.pid, "SIGSTOP"); await Bun.sleep(600_000)', { stallMs: 2_000 })
  expect(await task.result).toMatchObject({ code: 'stalled' })
  await waitUntil(task.isGone)
})

describe('while time is moved on', () => {
  beforeEach(() => jest.useFakeTimers())
  afterEach(() => jest.useRealTimers())

  /** Lets twice the patience go by, but no more of it at once than while the program gets on. */
  async function passBeside(program: string): Promise<unknown> {
    const folder = mkdtempSync(join(tmpdir(), 'oncebox-steps-'))
    folders.push(folder)
    const [steps, enough] = [join(folder, 'steps'), join(folder, 'enough')]
    writeFileSync(steps, '')
    const ports = `const { appendFileSync, existsSync } = require('node:fs')
      const step = () => appendFileSync('${steps}', '.')
      const isEnough = () => existsSync('${enough}')`
    const { result } = start(`${ports}\n${program}\nsay(${JSON.stringify(DONE)})`, { stallMs: 4_000 })
    for (let round = 0; round < 4; round += 1) {
      const before = statSync(steps).size
      while (statSync(steps).size < before + 3) await stat('.')
      await pass(2_000)
    }
    writeFileSync(enough, '')
    return result
  }

  test.if(process.platform === 'linux')(
    'one that works in silence is left to it',
    async () => {
      const busy = `while (!isEnough()) {
        const from = process.cpuUsage().user
        while (process.cpuUsage().user < from + 100_000) for (let n = 0; n < 1e6; n += 1) Math.sqrt(n)
        step()
      }`
      expect(await passBeside(busy)).toMatchObject({ state: 'done' })
    },
    300_000,
  )

  test('one that gets on slowly is left to it', async () => {
    const slow = `for (; !isEnough(); await Bun.sleep(20)) {
      say({ state: 'working' })
      step()
    }`
    expect(await passBeside(slow)).toMatchObject({ state: 'done' })
  }, 300_000)
})

test('one that does not want to end is ended', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'oncebox-deaf-'))
  folders.push(folder)
  const isDeaf = join(folder, 'is-deaf')
  const task = start(`process.on('SIGTERM', () => undefined)
    require('node:fs').writeFileSync('${isDeaf}', '')
    setInterval(() => undefined, 1000)`)
  await waitUntil(() => existsSync(isDeaf))
  await task.stop()
  expect(await task.result).toEqual({ state: 'stopped' })
  await waitUntil(task.isGone)
})

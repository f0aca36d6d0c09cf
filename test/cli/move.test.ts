// The command line of `oncebox move`: what is wrong with it is told at once, and secrets are not repeated.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openTestStore } from '../support/store.ts'
import { createTrial } from './trial.ts'

let room: string
beforeEach(() => {
  room = mkdtempSync(join(tmpdir(), 'oncebox-move-cli-'))
})
afterEach(() => rmSync(room, { recursive: true, force: true }))

const move = (trial: ReturnType<typeof createTrial>, ...flags: string[]) => trial.run('move', ...flags)

test('all problems are told at once, and no password', async () => {
  const trial = createTrial({ answers: [] })
  const code = await move(
    trial,
    ...[
      '--from',
      'postgres://:secret@db',
      '--to',
      's3://box',
      '--files-url',
      's3://box?endpoint=https://s3.example',
    ],
    ...['--dry-run', '--yes'],
  )
  expect(code).toBe(2)
  expect(trial.text()).toContain('--from: must be such as postgres://')
  expect(trial.text()).toContain('a bucket holds files alone')
  expect(trial.text()).toContain('--files-url needs the access key of the bucket')
  expect(trial.text()).toContain('--dry-run changes nothing')
  expect(trial.text()).not.toContain('secret')
})

test('without a terminal a copy waits for --confirm, and then the source is left', async () => {
  const { store, dataDir } = await openTestStore({ dataDir: join(room, 'from') })
  await store.close()
  const flags = ['--from', dataDir, '--to', join(room, 'to')]
  const first = createTrial()
  expect(await move(first, ...flags)).toBe(0)
  expect(first.text()).toContain('run the same command with --confirm')
  const second = createTrial()
  expect(await move(second, ...flags, '--confirm', '--json')).toBe(0)
  expect(JSON.parse(second.out.join('\n'))).toMatchObject({ state: 'moved', counts: { pushes: 0 } })
})

test('without a terminal a source is destroyed only with --yes, and nothing is done before', async () => {
  const { store, dataDir } = await openTestStore({ dataDir: join(room, 'from') })
  await store.close()
  const flags = ['--from', dataDir, '--to', join(room, 'to'), '--destroy-source']
  for (const more of [[], ['--confirm']]) {
    const refused = createTrial()
    expect(await move(refused, ...flags, ...more)).toBe(2)
    expect(refused.text()).toContain('--destroy-source: without a terminal to ask, --yes is needed')
    expect(existsSync(join(room, 'to'))).toBe(false)
  }
  expect(await move(createTrial(), ...flags, '--dry-run')).toBe(0)
  const agreed = createTrial()
  expect(await move(agreed, ...flags, '--yes')).toBe(0)
  expect(agreed.text()).toContain(`What ${dataDir} held is destroyed.`)
  expect(existsSync(join(dataDir, 'oncebox.db'))).toBe(false)
})

test('at a terminal the destruction of a source is a question of its own, and anything but yes keeps it', async () => {
  const { store, dataDir } = await openTestStore({ dataDir: join(room, 'from') })
  await store.close()
  const flags = ['--from', dataDir, '--to', join(room, 'to'), '--destroy-source']
  const hesitant = createTrial({ answers: ['y', ''] })
  expect(await move(hesitant, ...flags)).toBe(0)
  expect(hesitant.err.filter((line) => line.includes('[y/N]'))).toEqual([
    `Leave ${dataDir} for good? [y/N] `,
    `Destroy what ${dataDir} holds? [y/N] `,
  ])
  expect(hesitant.text()).toContain('but it still opens everything with its key')
  expect(existsSync(join(dataDir, 'oncebox.db'))).toBe(true)
  const sure = createTrial({ answers: ['yes'] })
  expect(await move(sure, ...flags)).toBe(0)
  expect(existsSync(join(dataDir, 'oncebox.db'))).toBe(false)
})

test('the folder of a node whose rows PostgreSQL keeps is told to be one', async () => {
  const dataDir = join(room, 'node')
  mkdirSync(dataDir)
  writeFileSync(join(dataDir, 'serve.witness'), '{}')
  const trial = createTrial()
  expect(await move(trial, '--from', dataDir, '--to', join(room, 'to'))).toBe(1)
  expect(trial.text()).toContain('belongs to a node whose rows PostgreSQL keeps')
  expect(trial.text()).toContain('--from-data-dir')
})

test('the help says what happens before it happens', async () => {
  const trial = createTrial({ answers: [] })
  expect(await move(trial, '--help')).toBe(0)
  for (const word of ['--dry-run', '--confirm', '--destroy-source', 'goes on where it stopped'])
    expect(trial.text().replace(/\s+/g, ' ')).toContain(word)
})

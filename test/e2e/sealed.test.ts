// End-to-end pushes through the compiled binary and the program age: each opens what the other has encrypted,
// and no plaintext of them is on the server, in its log or in a backup.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder, removeFolder, runBinary, type Started, startBinary } from '../support/binary.ts'
import { findNeedles, readTraces, spellingsOf } from '../support/needles.ts'
import { needs } from '../support/needs.ts'

let server: Started
let folder: string
let env: Record<string, string>

beforeAll(async () => {
  folder = makeFolder()
  server = await startBinary()
  const data = ['--data-dir', server.dataDir]
  const options = { input: 'correct horse battery staple' }
  await runBinary(['user', 'add', 'ann@example.org', '--password-stdin', ...data], options)
  const { stdout } = await runBinary(['token', 'create', 'ann@example.org', ...data])
  env = { HOME: folder, TMPDIR: folder, ONCEBOX_SERVER: server.url, ONCEBOX_TOKEN: stdout.trim() }
})
afterAll(async () => {
  await server.end()
  removeFolder(folder)
})

async function run(argv: string[], input = ''): Promise<string> {
  const { stdout, stderr, code } = await runBinary(argv, { env, cwd: folder, input })
  if (code !== 0) throw new Error(`${argv[0]} ended with ${code}: ${stderr}`)
  return stdout
}

/** Runs another program in the folder. */
function other(command: string[], input: Uint8Array = new Uint8Array()): Buffer {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd: folder, stdin: input })
  if (exitCode !== 0) throw new Error(`${command.join(' ')}: ${stderr}`)
  return stdout
}

type Opened = { payload: string; files: { filename: string; url: string }[] }

async function retrieve(link: string): Promise<Opened> {
  const token = /\/p\/(\w+)/.exec(link)?.[1]
  return (await server.ask(`/api/v2/pushes/${token}`)).json() as Promise<Opened>
}

needs('age', 'zip', 'unzip').test(
  'age and oncebox open what the other has sealed',
  async () => {
    writeFileSync(join(folder, 'Vertrag.txt'), 'the contract')
    const link = (await run(['push', 'to age', '--end-to-end', '--file', 'Vertrag.txt'])).trim()
    const identity = await run(['key', '-'], link)
    writeFileSync(join(folder, 'key.txt'), identity)
    const { payload, files } = await retrieve(link)
    expect(other(['age', '-d', '-i', 'key.txt'], Buffer.from(payload)).toString()).toBe('to age')
    const sealed = await (await fetch(files[0]?.url ?? '')).bytes()
    writeFileSync(join(folder, 'one.zip'), other(['age', '-d', '-i', 'key.txt'], sealed))
    expect(other(['unzip', '-p', 'one.zip', 'Vertrag.txt']).toString()).toBe('the contract')
    expect(other(['unzip', '-z', 'one.zip']).toString()).toContain('1/1')

    const recipient = other(['age-keygen', '-y', 'key.txt']).toString().trim()
    const text = other(['age', '-r', recipient, '-a'], Buffer.from('from age')).toString()
    other(['zip', '-q', 'two.zip', 'Vertrag.txt'])
    const data = other(['age', '-r', recipient, 'two.zip']).toString('base64')
    const push = { payload: text, end_to_end: true, files: [{ filename: 'x', data }] }
    const response = await server.create(push, { authorization: `Bearer ${env.ONCEBOX_TOKEN}` })
    const { html_url } = (await response.json()) as { html_url: string }
    mkdirSync(join(folder, 'in'))
    expect(await run(['get', html_url, '--identity', 'key.txt', '--output', 'in/'])).toBe('from age')
    expect(readFileSync(join(folder, 'in/Vertrag.txt'), 'utf8')).toBe('the contract')
  },
  120_000,
)

test('neither content, file name nor key is in the data folder, the log or a backup', async () => {
  const [text, name, content] = ['a very secret sentence', 'Gehaltsliste-2026', 'salaries of everybody']
  writeFileSync(join(folder, `${name}.ods`), content)
  const link = (await run(['push', text, '--end-to-end', '--file', `${name}.ods`])).trim()
  expect(await run(['get', '-', '--output', `${folder}/out/`], link)).toBe(text)
  await run(['backup', join(folder, 'backup.tar'), '--data-dir', server.dataDir])
  const key = link.split('#')[1] ?? ''
  const identity = (await run(['key', '-'], link)).trim()
  const needles = [text, name, content, key, identity].flatMap((needle) =>
    spellingsOf(needle).map((bytes) => ({ name: needle, bytes })),
  )
  const backup = { where: 'backup', bytes: readFileSync(join(folder, 'backup.tar')) }
  expect(findNeedles([...readTraces(server), backup], needles)).toEqual([])
}, 120_000)

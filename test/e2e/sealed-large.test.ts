// A large file end-to-end by command: what memory it takes, and that nothing of it is left behind.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createReadStream, createWriteStream, mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { BINARY, makeFolder, removeFolder, runBinary, type Started, startBinary } from '../support/binary.ts'

const GIB = 1024 ** 3
const MIB = 1024 ** 2

let server: Started
let folder: string
let env: Record<string, string>

beforeAll(async () => {
  folder = makeFolder()
  server = await startBinary()
  const options = { input: 'correct horse battery staple' }
  await runBinary(
    ['user', 'add', 'ann@example.org', '--password-stdin', '--data-dir', server.dataDir],
    options,
  )
  const { stdout } = await runBinary(['token', 'create', 'ann@example.org', '--data-dir', server.dataDir])
  mkdirSync(join(folder, 'tmp'))
  env = {
    HOME: folder,
    TMPDIR: join(folder, 'tmp'),
    ONCEBOX_SERVER: server.url,
    ONCEBOX_TOKEN: stdout.trim(),
  }
})
afterAll(async () => {
  await server.end()
  removeFolder(folder)
})

/** Runs a command. Returns its output, and its largest memory in MiB. */
async function run(...argv: string[]) {
  const child = Bun.spawn([BINARY, ...argv], { cwd: folder, env, stdin: 'ignore', stderr: 'pipe' })
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (code !== 0) throw new Error(`${argv[0]} ended with ${code}: ${err}`)
  return { out: out.trim(), memory: (child.resourceUsage()?.maxRSS ?? 0) / MIB }
}

async function writeFile(name: string, bytes: number): Promise<void> {
  const block = Buffer.from(new Uint8Array(MIB).map((_, at) => (at * 31 + (at >> 8)) & 255))
  async function* blocks() {
    for (let n = 0; n < bytes / MIB; n += 1) {
      block.writeUInt32BE(n)
      yield Buffer.from(block)
    }
  }
  await pipeline(blocks(), createWriteStream(join(folder, name)))
}

async function digestOf(path: string): Promise<string> {
  const digest = new Bun.CryptoHasher('sha256')
  for await (const bytes of createReadStream(join(folder, path), { highWaterMark: MIB })) digest.update(bytes)
  return digest.digest('hex')
}

/** Pushes a file and gets it back. Returns the memory of both commands. */
async function passOn(name: string, ...flags: string[]): Promise<number[]> {
  mkdirSync(join(folder, 'in'), { recursive: true })
  const pushed = await run('push', '--file', name, ...flags)
  const got = await run('get', pushed.out, '--output', `in/${flags.length}.bin`)
  expect(statSync(join(folder, `in/${flags.length}.bin`)).size).toBe(statSync(join(folder, name)).size)
  return [pushed.memory, got.memory]
}

test('1 GiB takes at most 60 MiB more memory than without encryption', async () => {
  await writeFile('one.bin', GIB)
  const plain = await passOn('one.bin')
  const sealed = await passOn('one.bin', '--end-to-end')
  console.log(`MiB of push and get: plain ${plain.map(Math.round)}, end-to-end ${sealed.map(Math.round)}`)
  expect((sealed[0] ?? 0) - (plain[0] ?? 0)).toBeLessThan(60)
  expect((sealed[1] ?? 0) - (plain[1] ?? 0)).toBeLessThan(60)
}, 1_800_000)

test('2 GiB are received unchanged, and nothing is left in the temporary folder', async () => {
  await writeFile('two.bin', 2 * GIB)
  await passOn('two.bin', '--end-to-end', '--views', '1')
  expect(await digestOf('in/3.bin')).toBe(await digestOf('two.bin'))
  expect(readdirSync(join(folder, 'tmp'))).toEqual([])
}, 1_800_000)

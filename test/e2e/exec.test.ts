// `oncebox exec` as a process: signals, commands that fork, die or close their input, and where secrets are
// written.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { BINARY, createStage, makeFolder, type Started } from '../support/binary.ts'
import { needs } from '../support/needs.ts'
import { waitUntil } from '../support/waiting.ts'

const stage = createStage()
let server: Started
let folder: string

beforeAll(async () => {
  server = await stage.start()
  folder = makeFolder()
})
afterAll(stage.clear)

async function createLink(payload: string): Promise<string> {
  return (await (await server.create({ payload, expire_after_views: 1 })).json()).html_url
}

type Given = { flags?: string[]; env?: Record<string, string>; before?: string[]; stdin?: 'pipe' }

function start(command: string[], { flags = [], env = {}, before = [], stdin }: Given = {}) {
  return Bun.spawn([...before, BINARY, 'exec', ...flags, '--', ...command], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', HOME: folder, XDG_RUNTIME_DIR: folder, ...env },
    ...{ stdin: stdin ?? 'ignore', stdout: 'pipe', stderr: 'pipe' },
  })
}

async function run(command: string[], given: Given = {}) {
  const child = start(command, given)
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { out, err, code }
}

needs('sh').describe('a command of a shell', () => {
  test.each([
    ['SIGTERM', 15],
    ['SIGINT', 2],
    ['SIGHUP', 1],
    ['SIGUSR1', 10],
  ] as const)('%s reaches the command, which may handle or ignore it', async (signal, number) => {
    const env = { LINK: await createLink('x') }
    const script = `trap 'echo got it; exit 42' ${number}; touch "$F.ready"; while :; do sleep 0.05; done`
    const child = start(['sh', '-c', script], { env, flags: ['--file', 'F=@env:LINK'] })
    const folders = () => [...new Bun.Glob('oncebox-*/F.ready').scanSync(folder)]
    await waitUntil(() => folders().length > 0)
    child.kill(signal)
    expect([await child.exited, await new Response(child.stdout).text()]).toEqual([42, 'got it\n'])
    expect(folders()).toEqual([])
  })

  test('a command that dies of a signal gives 128 and its number', async () => {
    const env = { LINK: await createLink('x') }
    const child = start(['sh', '-c', 'echo ready; sleep 60 & wait'], { env, flags: ['--env', 'A=@env:LINK'] })
    await child.stdout.getReader().read()
    child.kill('SIGTERM')
    expect(await child.exited).toBe(143)
  })

  test('commands that close their input or leave a child behind end with their own exit code', async () => {
    const env = { LINK: await createLink('x'.repeat(500_000)), OTHER: await createLink('y') }
    const closing = await run(['sh', '-c', 'exec <&-; exit 7'], { env, flags: ['--stdin', '@env:LINK'] })
    expect(closing).toEqual({ out: '', err: '', code: 7 })
    const script = 'sleep 1 >/dev/null 2>&1 & echo "$A"'
    const forking = await run(['sh', '-c', script], { env, flags: ['--env', 'A=@env:OTHER'] })
    expect(forking).toEqual({ out: 'y\n', err: '', code: 0 })
  })

  test('the file is removed even if oncebox is killed', async () => {
    const env = { LINK: await createLink('in memory') }
    const script = 'echo "$F"; cat "$F"; kill -KILL $PPID; sleep 60 >/dev/null 2>&1 & echo'
    const { out } = await run(['sh', '-c', script], { env, flags: ['--file', 'F=@env:LINK'] })
    const [file = '', content] = out.split('\n')
    expect([file.startsWith(folder), content]).toEqual([true, 'in memory'])
    await waitUntil(() => !existsSync(file) && !existsSync(join(file, '..')))
  })

  test('the file is removed even if the whole process group is killed', async () => {
    const env = { LINK: await createLink('in memory') }
    const script = 'echo "$F"; sleep 60'
    const child = start(['sh', '-c', script], { env, flags: ['--file', 'F=@env:LINK'], before: ['setsid'] })
    const { value } = await child.stdout.getReader().read()
    const file = Buffer.from(value ?? [])
      .toString()
      .trim()
    expect(existsSync(file)).toBe(true)
    process.kill(-child.pid, 'SIGKILL')
    await waitUntil(() => !existsSync(join(file, '..')))
  })

  test('a link may be passed through a descriptor, and nothing is printed', async () => {
    const path = join(folder, 'link')
    await Bun.write(path, `${await createLink('through 0')}\n`)
    const script = `"${BINARY}" exec --verbose --env A=@fd:3 -- sh -c 'cat; printf %s "$A"' 3< "${path}"`
    const child = Bun.spawn(['sh', '-c', script], {
      stdin: new Blob(['piped ']),
      stdout: 'pipe',
      stderr: 'pipe',
    })
    expect(await new Response(child.stdout).text()).toBe('piped through 0')
    expect(await new Response(child.stderr).text()).toBe('')
  })
})

needs('strace').test(
  'the secret is written to memory and to the command alone',
  async () => {
    const secret = `needle-${crypto.randomUUID()}`
    const trace = join(folder, 'trace')
    const calls = 'trace=write,writev,pwrite64,pwritev,sendto,sendmsg,sendfile,openat,memfd_create,execve'
    const before = ['strace', '-f', '-qq', '-s', '4096', '-v', '-yy', '-e', calls, '-o', trace]
    for (const flags of [
      ['--env', 'A=@env:LINK'],
      ['--stdin', '@env:LINK'],
      ['--file', 'A=@env:LINK'],
    ]) {
      const env = { LINK: await createLink(secret), XDG_RUNTIME_DIR: '' }
      const { code, err } = await run(['/bin/true'], { flags, env, before })
      expect({ code, err }).toEqual({ code: 0, err: '' })
      const lines = readFileSync(trace, 'utf8')
        .split('\n')
        .filter((line) => line.includes(secret))
      const isExpected = (line: string) =>
        /execve\("[^"]*true"/.test(line) || /write\w*\(\d+<(\/memfd:|\/dev\/shm\/oncebox-)/.test(line)
      expect(lines.filter((line) => !isExpected(line))).toEqual([])
      expect(lines.length).toBeGreaterThan(0)
    }
  },
  60_000,
)

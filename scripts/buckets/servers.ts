// Starts real object stores on loopback, each with a folder of its own, if its program is installed.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { startRadosgw } from './radosgw.ts'

export type BucketServer = {
  endpoint: string
  accessKeyId: string
  secretAccessKey: string
  region: string
  end(): Promise<void>
}

export type Kind = {
  name: string
  /** How to install the program. */
  install: string
  find(): string | null
  /** Throws when it does not start. */
  start(program: string, folder: string): Promise<BucketServer>
}

const KEYS = { accessKeyId: 'oncebox-trial', secretAccessKey: 'oncebox-trial-secret', region: 'us-east-1' }
const START_MS = 60_000

export const KINDS: readonly Kind[] = [
  {
    name: 'versitygw',
    install: 'go install github.com/versity/versitygw/cmd/versitygw@latest',
    find: () => findProgram('versitygw'),
    start: (program, folder) => {
      mkdirSync(join(folder, 'objects'))
      const keys = ['--access', KEYS.accessKeyId, '--secret', KEYS.secretAccessKey]
      return serve(folder, (port) => [
        program,
        '-q',
        '--port',
        `127.0.0.1:${port}`,
        ...keys,
        'posix',
        join(folder, 'objects'),
      ])
    },
  },
  {
    name: 'minio',
    install: 'go install github.com/minio/minio@latest',
    find: () => findProgram('minio'),
    start: (program, folder) =>
      serve(
        folder,
        (port) => [program, 'server', '--quiet', '--address', `127.0.0.1:${port}`, join(folder, 'objects')],
        {
          MINIO_ROOT_USER: KEYS.accessKeyId,
          MINIO_ROOT_PASSWORD: KEYS.secretAccessKey,
          MINIO_BROWSER: 'off',
        },
      ),
  },
  {
    name: 'radosgw',
    install: 'apt-get install radosgw ceph-mon ceph-osd ceph-common',
    find: () => (findProgram('ceph-mon') === null ? null : findProgram('radosgw')),
    start: async (_, folder) => {
      const gateway = freePort()
      const { end } = await startRadosgw({ folder, ports: { monitor: freePort(), gateway }, keys: KEYS })
      const endpoint = `http://127.0.0.1:${gateway}`
      await waitFor(endpoint, () => null)
      return { endpoint, ...KEYS, end }
    },
  },
]

/** Finds a program in the PATH, or where Go installs programs. */
function findProgram(name: string): string | null {
  const { PATH = '', HOME = '', GOPATH = join(HOME, 'go') } = process.env
  return Bun.which(name, { PATH: `${PATH}:${join(GOPATH, 'bin')}` })
}

async function serve(
  folder: string,
  commandAt: (port: number) => string[],
  variables: Record<string, string> = {},
): Promise<BucketServer> {
  const port = freePort()
  const log = Bun.file(join(folder, 'log'))
  const env = { PATH: process.env.PATH ?? '', HOME: folder, ...variables }
  const child = Bun.spawn(commandAt(port), { cwd: folder, env, stdio: ['ignore', log, log] })
  process.on('exit', () => child.kill('SIGKILL'))
  const endpoint = `http://127.0.0.1:${port}`
  await waitFor(endpoint, () => (child.exitCode === null ? null : log.text()))
  const end = async () => {
    child.kill('SIGTERM')
    await child.exited
  }
  return { endpoint, ...KEYS, end }
}

/** Waits for the server. Throws when it has exited, with its output from `findEnd`, or times out. */
async function waitFor(endpoint: string, findEnd: () => Promise<string> | null): Promise<void> {
  const until = performance.now() + START_MS
  for (;;) {
    const answers = await fetch(endpoint).then(
      () => true,
      () => false,
    )
    if (answers) return
    const said = await findEnd()
    if (said !== null || performance.now() > until)
      throw new Error(`it did not start: ${said ?? 'no answer'}`)
    await Bun.sleep(100)
  }
}

/** Returns a free port. Another process could take it first, which hardly ever happens. */
function freePort(): number {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } })
  const { port } = listener
  listener.stop(true)
  return port
}

// Tests a new program before it is installed: it has to migrate and serve a copy of the data, and to pass the self-test.

import { copyFileSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DomainError } from '../../domain/errors.ts'
import { isAlive } from './program-files.ts'

const READY_MS = 60_000
const END_MS = 20_000
/** The minutes in which the self-test kills its server. The rest of it takes half a minute. */
const SELFTEST_MINUTES = '0.05'

export type TrialOptions = {
  /** The new program. */
  program: string
  /** A folder for this trial, on the disk of the data. The trial makes and removes it. */
  folder: string
  /** A copy of the database and the file of its keys; null when there is no data yet. */
  copy: { path: string; keyFile: string } | null
  tell: (step: string) => void
}

const TRIAL = /^upgrade-trial-(\d+)$/

/** The folder of a trial by this process. Removes those of processes that were killed. */
export function trialFolder(parent: string): string {
  for (const name of readdirSync(parent)) {
    const [, pid] = TRIAL.exec(name) ?? []
    if (pid !== undefined && !isAlive(Number(pid)))
      rmSync(join(parent, name), { recursive: true, force: true })
  }
  return join(parent, `upgrade-trial-${process.pid}`)
}

/** Runs as the user who owns the data. Throws `conflict`, with the last output of the new program, when it fails. */
export async function tryProgram(options: TrialOptions): Promise<void> {
  const { folder, tell } = options
  const remove = () => rmSync(folder, { recursive: true, force: true })
  remove()
  mkdirSync(folder, { mode: 0o700 })
  process.once('exit', remove)
  try {
    tell('starting the new program')
    await runToEnd(options, ['--version'])
    if (options.copy !== null) {
      tell('serving a copy of the data with it')
      await serveCopy(options, options.copy)
    }
    tell('testing its promises on this disk; this takes about a minute')
    await runToEnd(options, [
      'selftest',
      '--minutes',
      SELFTEST_MINUTES,
      '--data-dir',
      join(folder, 'selftest', 'data'),
    ])
  } finally {
    process.off('exit', remove)
    remove()
  }
}

function spawn({ program }: TrialOptions, args: readonly string[]) {
  return Bun.spawn([program, ...args], {
    ...{ cwd: '/', stdin: 'ignore', stdout: 'pipe', stderr: 'pipe', env: {} },
  })
}

async function runToEnd(options: TrialOptions, args: readonly string[]): Promise<void> {
  const child = spawn(options, args)
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (code !== 0) throw failed(`"${args[0]}" ended with ${code}`, `${out}${err}`)
}

async function serveCopy(
  options: TrialOptions,
  { path, keyFile }: { path: string; keyFile: string },
): Promise<void> {
  const { folder } = options
  const dataDir = join(folder, 'data')
  const database = join(dataDir, 'oncebox.db')
  mkdirSync(dataDir, { mode: 0o700 })
  copyFileSync(path, database)
  const flags = [
    '--data-dir',
    dataDir,
    '--key-file',
    keyFile,
    '--host',
    '127.0.0.1',
    '--port',
    '0',
    '--min-free-space',
    '0',
  ]
  const child = spawn(options, ['serve', ...flags])
  const errors = new Response(child.stderr).text()
  const timer = setTimeout(() => child.kill('SIGKILL'), READY_MS)
  try {
    const url = await readUrl(child.stdout)
    const { ok } = url === null ? { ok: false } : await fetch(`${url}/up`)
    child.kill(ok ? 'SIGTERM' : 'SIGKILL')
    const code = await Promise.race([child.exited, Bun.sleep(END_MS).then(() => 'no end')])
    if (!ok || code !== 0) throw failed(`a server on a copy of the data ended with ${code}`, await errors)
  } finally {
    clearTimeout(timer)
    child.kill('SIGKILL')
  }
}

/** The address that a server prints when it is ready; null when the server ends before. */
async function readUrl(stdout: ReadableStream<Uint8Array>): Promise<string | null> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const piece of stdout) {
    text += decoder.decode(piece, { stream: true })
    const url = /http:\/\/[\d.]+:\d+/.exec(text)?.[0]
    if (url !== undefined) return url
  }
  return null
}

/** Tells the last that it said, beside the steps that it went through. */
function failed(what: string, said: string): DomainError {
  const lines = said.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('… '))
  const words = lines.slice(-3).join(' ').slice(-600)
  return new DomainError(
    'conflict',
    `The new program failed its test here, and nothing was changed: ${what}. ${words}`.trim(),
  )
}

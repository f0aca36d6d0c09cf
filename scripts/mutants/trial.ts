// Tries one mutation on a copy of the project, and finds the test file that notices it, if any.

import { cpSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makeFastFolder } from '../fast-folder.ts'
import { applyMutation, type Mutation } from './mutations.ts'

const COPIED = [
  'src',
  'test',
  'scripts',
  'docs',
  'README.md',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'bunfig.toml',
]
/** The timeout of a test file. A mutation that makes the tests hang counts as noticed. */
const LIMIT_MS = 5 * 60_000

export type Verdict =
  | { outcome: 'noticed'; by: string }
  /** No test noticed the mutation, but the program does not compile. */
  | { outcome: 'not compiled' }
  | { outcome: 'lives' }

export type Bench = ReturnType<typeof createBench>

/** Copies the project for one worker. Calls `onWarning` for tests that are not reliable. */
export function createBench(options: {
  project: string
  tests: readonly string[]
  onWarning: (warning: string) => void
}) {
  const { project, tests, onWarning } = options
  const folder = makeFastFolder('oncebox-mutants-')
  const copy = join(folder, 'project')
  for (const name of COPIED) cpSync(join(project, name), join(copy, name), { recursive: true })
  symlinkSync(join(project, 'node_modules'), join(copy, 'node_modules'))
  /** Test files that pass without any mutation. */
  const passing = new Set<string>()
  /** How many mutations each test file has noticed. Files with the most run first. */
  const successes = new Map<string, number>()
  let running: Bun.Subprocess | null = null

  async function run(command: string[]): Promise<{ isGood: boolean; printed: string }> {
    const child = Bun.spawn(command, {
      cwd: copy,
      env: { ...process.env, TMPDIR: folder },
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: LIMIT_MS,
      killSignal: 'SIGKILL',
    })
    running = child
    const printed = await new Response(child.stderr).text()
    return { isGood: (await child.exited) === 0, printed }
  }

  /** Resolves to the first file with a failing test; null when all pass. */
  async function firstFailing(files: readonly string[]): Promise<string | null> {
    const paths = files.map((file) => `./${file}`)
    const { isGood, printed } = await run([
      process.execPath,
      'test',
      '--bail',
      '--timeout',
      '60000',
      ...paths,
    ])
    if (isGood) return null
    // Bun prints the name of each file above its tests. The last name is that of the file where it stopped.
    return printed.match(/^\S+\.test\.tsx?(?=:$)/gm)?.at(-1) ?? files[0] ?? null
  }

  async function passesWithoutMutation(file: string): Promise<boolean> {
    if (!passing.has(file) && (await firstFailing([file])) === null) passing.add(file)
    return passing.has(file)
  }

  async function withMutation<T>(mutation: Mutation, work: () => Promise<T>): Promise<T> {
    const path = join(copy, mutation.path)
    const source = readFileSync(path, 'utf8')
    writeFileSync(path, applyMutation(source, mutation))
    try {
      return await work()
    } finally {
      writeFileSync(path, source)
    }
  }

  /**
   * Rules out flaky tests: the test must fail again with the mutation, and pass without it.
   */
  async function isRealFailure(file: string, mutation: Mutation): Promise<boolean> {
    if (!(await passesWithoutMutation(file))) {
      onWarning(`${file} fails without any change`)
      return false
    }
    const failsAgain = (await withMutation(mutation, () => firstFailing([file]))) !== null
    if (!failsAgain) onWarning(`${file} fails now and then`)
    return failsAgain
  }

  async function noticedBy(files: readonly string[], mutation: Mutation): Promise<string | null> {
    const failing = await withMutation(mutation, () => firstFailing(files))
    if (failing === null || (await isRealFailure(failing, mutation))) return failing
    const rest = files.filter((file) => file !== failing)
    return rest.length === 0 ? null : noticedBy(rest, mutation)
  }

  async function judge(mutation: Mutation): Promise<Verdict> {
    for (const files of groupsFor(mutation.path, tests, successes)) {
      const by = await noticedBy(files, mutation)
      if (by === null) continue
      successes.set(by, (successes.get(by) ?? 0) + 1)
      return { outcome: 'noticed', by }
    }
    const compiler = join('node_modules', '.bin', 'tsc')
    const { isGood } = await withMutation(mutation, () => run([compiler, '--noEmit']))
    return { outcome: isGood ? 'lives' : 'not compiled' }
  }

  function remove(): void {
    running?.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }

  return { judge, remove }
}

/**
 * Sorts test files: same folder first, then same room, then all others, so that most mutations are noticed
 * within seconds. Within a group, the files that noticed most so far come first.
 */
export function groupsFor(
  path: string,
  tests: readonly string[],
  successes: ReadonlyMap<string, number>,
): string[][] {
  const folder = dirname(path).replace(/^src\//, 'test/')
  const room = folder.split('/').slice(0, 2).join('/')
  const isIn = (file: string, parent: string) => file.startsWith(`${parent}/`)
  const order = (file: string) => (isIn(file, folder) ? 0 : isIn(file, room) ? 1 : 2)
  const best = tests.toSorted((a, b) => (successes.get(b) ?? 0) - (successes.get(a) ?? 0))
  return [0, 1, 2]
    .map((group) => best.filter((file) => order(file) === group))
    .filter((files) => files.length > 0)
}

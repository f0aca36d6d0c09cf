// The process that works in the folder of backups: started, watched and ended. Nothing here waits for that folder, so a disk
// that hangs holds neither the server nor its stop.

import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { reasonOf } from '../../domain/system-errors.ts'
import { SECOND } from '../../domain/time.ts'
import type { BackupTask, TaskAnswer } from './task.ts'
import { parseAnswer } from './task-lines.ts'

/** How the task ended. */
export type TaskResult = Exclude<TaskAnswer, { state: 'working' }> | { state: 'stopped' }

export type RunningTask = {
  /** Resolves in any case, also when the process cannot be ended. */
  result: Promise<TaskResult>
  /** Ends it within seconds. Does nothing for one that has ended. */
  stop(): Promise<void>
  /** False while the process exists: one that waits for a dead disk may outlive its end. */
  isGone(): boolean
}

export type StartTask = (task: BackupTask) => RunningTask

export type ProcessOptions = {
  /** The command that starts this program again. */
  self: readonly string[]
  /** Variables that the system needs to start a program; none of our settings. */
  env: Readonly<Record<string, string>>
  /** With no sign of work for so long, a task is taken to hang. */
  stallMs?: number
}

/** The hidden command. */
export const TASK_COMMAND = 'backup-task'

const LOOK_MS = SECOND
const STALL_MS = 120 * SECOND
/** For systems that do not tell how a process works. Copying a large database says nothing meanwhile. */
const LONG_STALL_MS = 1_800 * SECOND
/** For a process to clean up after itself, and to be gone once it was killed. */
const GRACE_MS = 2 * SECOND
const KILL_MS = SECOND
/** A process that works takes this much processor time now and then; one that waits takes less. In ticks of 10 ms. */
const WORKING_TICKS = 20

export function createStartTask({ self, env, stallMs }: ProcessOptions): StartTask {
  const patience = stallMs ?? (existsSync('/proc/self/stat') ? STALL_MS : LONG_STALL_MS)
  return (task) => {
    try {
      const child = spawn({ self, env })
      void send(child, task)
      return follow(child, patience)
    } catch (cause) {
      return notStarted(cause)
    }
  }
}

/** Standard input stays open: the process ends by itself when this one is killed. */
async function send(child: Child, task: BackupTask): Promise<void> {
  try {
    await child.stdin.write(`${JSON.stringify(task)}\n`)
    await child.stdin.flush()
  } catch {
    // A process that has ended already is noticed by its end.
  }
}

function notStarted(cause: unknown): RunningTask {
  const words = `no process could be started: ${reasonOf(cause)}`
  const result = Promise.resolve({ state: 'failed', code: 'ended', words } as const)
  return { result, stop: () => Promise.resolve(), isGone: () => true }
}

function spawn({ self, env }: Pick<ProcessOptions, 'self' | 'env'>) {
  const [program = '', ...entry] = self
  return Bun.spawn([ownProgram(program, entry), ...entry, TASK_COMMAND], {
    ...{ argv0: program, env, stdin: 'pipe', stdout: 'pipe', stderr: 'pipe' },
    // The sources need the folder of their project.
    cwd: entry.length === 0 ? '/' : process.cwd(),
  })
}

type Child = ReturnType<typeof spawn>

/** The program that runs, also when its file was replaced meanwhile. */
function ownProgram(program: string, entry: readonly string[]): string {
  const running = '/proc/self/exe'
  return entry.length === 0 && existsSync(running) ? running : program
}

function follow(child: Child, patience: number): RunningTask {
  const { promise: result, resolve } = Promise.withResolvers<TaskResult>()
  let isGone = false
  let ending: Promise<void> | null = null
  let said: TaskResult | null = null
  const watch = watchWork(child.pid, patience, () => {
    resolve({ state: 'failed', code: 'stalled', words: `nothing happened for ${patience / SECOND} seconds` })
    void stop()
  })
  const errors = lastWords(child.stderr).catch(() => '')

  async function read(): Promise<void> {
    for await (const line of linesOf(child.stdout)) {
      watch.sawWork()
      const answer = parseAnswer(line)
      if (answer !== null && answer.state !== 'working') said = answer
    }
  }

  async function awaitEnd(): Promise<void> {
    const reading = read().catch(() => undefined)
    await child.exited
    isGone = true
    watch.stop()
    await Promise.race([reading, Bun.sleep(KILL_MS)])
    resolve(said ?? endedWithout(child, await Promise.race([errors, Bun.sleep(KILL_MS).then(() => '')])))
  }
  void awaitEnd()

  async function end(): Promise<void> {
    child.kill('SIGTERM')
    if (await isOver(child, GRACE_MS)) return
    child.kill('SIGKILL')
    if (!(await isOver(child, KILL_MS))) watch.stop()
    resolve({ state: 'stopped' })
  }

  function stop(): Promise<void> {
    if (isGone) return Promise.resolve()
    ending = ending ?? end()
    return ending
  }

  return { result, stop, isGone: () => isGone }
}

function isOver(child: Child, ms: number): Promise<boolean> {
  return Promise.race([child.exited.then(() => true), Bun.sleep(ms).then(() => false)])
}

/** By SIGTERM, which the service manager sends to every process of this server. */
const STOPPED = 143

function endedWithout({ signalCode, exitCode }: Child, errors: string): TaskResult {
  if (signalCode === 'SIGTERM' || exitCode === STOPPED) return { state: 'stopped' }
  const how = signalCode === null ? `it ended with ${exitCode}` : `it was ended by ${signalCode}`
  return { state: 'failed', code: 'ended', words: errors === '' ? how : `${how}: ${errors}` }
}

/** Calls `onStall` when there was no sign of work for as long as `patience`. */
function watchWork(pid: number, patience: number, onStall: () => void) {
  let workedAt = performance.now()
  let ticks = 0
  const sawWork = () => {
    workedAt = performance.now()
  }

  async function look(): Promise<void> {
    const now = await readTicks(pid)
    if (now - ticks >= WORKING_TICKS) {
      ticks = now
      sawWork()
    }
    if (performance.now() - workedAt < patience) return
    clearInterval(timer)
    onStall()
  }

  const timer = setInterval(look, LOOK_MS)
  return { sawWork, stop: () => clearInterval(timer) }
}

/** Processor time of a process by proc(5), fields 14 and 15; 0 where the system does not tell. */
async function readTicks(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) || 0) + (Number(fields[12]) || 0)
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const piece of stream) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}

/** The error that it told on standard error, or what it said last there. */
async function lastWords(stream: ReadableStream<Uint8Array>): Promise<string> {
  let last = ''
  for await (const line of linesOf(stream)) if (!/^error: /.test(last)) last = line.trim() || last
  return last.slice(0, 500)
}
